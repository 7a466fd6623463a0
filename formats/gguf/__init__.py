"""GGUF, the file format of llama.cpp and Ollama models.

- `layout`: the declaration; `keys`, `value_types`: its words
- `reader`: `GgufFile`, bounds-checked; `kinds`: what a caller expects of a value
- `writer`: `write_gguf`
"""

from formats.gguf.kinds import BOOL, BYTES, INT, INTS, STR, STRINGS, Kind
from formats.gguf.reader import GgufFile
from formats.gguf.tensors import TensorInfo
from formats.gguf.value_types import ValueType
from formats.gguf.values import GgufValue
from formats.gguf.writer import ArrayToWrite, TensorToWrite, write_gguf

__all__ = [
    "BOOL",
    "BYTES",
    "INT",
    "INTS",
    "STR",
    "STRINGS",
    "ArrayToWrite",
    "GgufFile",
    "GgufValue",
    "Kind",
    "TensorInfo",
    "TensorToWrite",
    "ValueType",
    "write_gguf",
]
