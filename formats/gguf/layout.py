"""The layout of a GGUF file's metadata, declared with construct; little-endian, packed.

A file is the metadata declared here, then padding to the alignment, then the data section: the
tensors' blocks, each tensor padded to the alignment. Offsets of tensors count from the data section.

Versions 2 and 3 share this layout. It follows ggml's description of the format (`docs/gguf.md`) and
what its reader accepts. Files hold hundreds of thousands of strings, so `formats.gguf.reader` goes
through them by itself; the tests hold it to these declarations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.ggml_types import GgmlType
from formats.gguf.keys import ALIGNMENT
from formats.gguf.value_types import ValueType
from formats.layout import (
    Blob,
    Blocks,
    Choice,
    Counted,
    Field,
    FileLayout,
    KeyedNumber,
    Placed,
    Record,
    Rule,
    between,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    magic,
    u8,
    u16,
    u32,
    u64,
)

if TYPE_CHECKING:
    import construct

MAGIC = b"GGUF"
VERSIONS = (2, 3)
DEFAULT_ALIGNMENT = 32
MAX_KEY_BYTES = 0xFFFF
MAX_DIMS = 4


SCALARS: dict[ValueType, construct.FormatField] = {
    ValueType.UINT8: u8,
    ValueType.INT8: i8,
    ValueType.UINT16: u16,
    ValueType.INT16: i16,
    ValueType.UINT32: u32,
    ValueType.INT32: i32,
    ValueType.FLOAT32: f32,
    ValueType.BOOL: u8,
    ValueType.UINT64: u64,
    ValueType.INT64: i64,
    ValueType.FLOAT64: f64,
}
"""Layouts of the types of fixed size. A bool is a byte that is 0 or 1."""

STRING = Record(
    "gguf_string",
    "A text: its length, then its bytes, with no NUL after them.",
    Field("length", u64, "length of the text", unit="bytes"),
    Field("text", Blob("length"), "the text, UTF-8 by rule; token lists may hold other bytes", form="text"),
)

KEY_LENGTHS = between(1, MAX_KEY_BYTES)
ELEMENT_TYPES = Rule(
    "a value type from 0 to 12 other than array (9)",
    lambda found: (found <= max(ValueType)) & (found != ValueType.ARRAY),
)

_BOOL = Field("bool", u8, "0 false, 1 true", rule=between(0, 1))
_SINGLE: dict[ValueType, construct.Construct] = {**SCALARS, ValueType.BOOL: _BOOL, ValueType.STRING: STRING}

ARRAY = Record(
    "gguf_array",
    "Values of one type. Arrays of arrays are not read by any engine.",
    Field("element_type", u32, "type of each element", names=ValueType, rule=ELEMENT_TYPES),
    Field("count", u64, "number of elements", unit="elements"),
    Field("elements", Counted("count", Choice("element_type", _SINGLE)), "the elements, back to back"),
)

KEY = Record(
    "gguf_key",
    "A key: a string that is not empty, used once in a file.",
    Field("length", u64, "length of the key", unit="bytes", rule=KEY_LENGTHS),
    Field("text", Blob("length"), "the key, UTF-8", form="text"),
)

KEY_VALUE = Record(
    "gguf_key_value",
    "A key and its value.",
    Field("key", KEY, "what the value is about"),
    Field("type", u32, "type of the value", names=ValueType),
    Field("value", Choice("type", {**_SINGLE, ValueType.ARRAY: ARRAY}), "the value"),
    label="key",
)

TENSOR_INFO = Record(
    "gguf_tensor_info",
    "An entry of the tensor directory.",
    Field("name", STRING, "the tensor's name, UTF-8, used once in a file"),
    Field("n_dims", u32, "number of dimensions; 0 for a single element", rule=between(0, MAX_DIMS)),
    Field("ne", Counted("n_dims", u64), "elements in each dimension, the fastest first", unit="elements"),
    # A type that the table does not know is listed, not refused.
    Field("type", u32, "element type", names=GgmlType, is_open=True),
    Field("offset", u64, "first byte of the tensor, from the start of the data section", unit="bytes"),
    label="name",
)

HEADER = Record(
    "gguf_header",
    "The first bytes of a GGUF file.",
    magic("magic", MAGIC, "marks a GGUF file"),
    Field("version", u32, "version of the format", rule=between(*VERSIONS)),
    Field("n_tensors", u64, "entries in the tensor directory", unit="tensors"),
    Field("n_kv", u64, "key/value pairs", unit="pairs"),
)

METADATA = Record(
    "gguf_metadata",
    "Everything before the data section.",
    *HEADER.fields,
    Field("key_values", Counted("n_kv", KEY_VALUE), "the model's parameters and vocabulary"),
    Field("tensors", Counted("n_tensors", TENSOR_INFO), "the tensor directory"),
)

GGUF = FileLayout(
    "gguf",
    "A model: its parameters, its vocabulary and its tensors.",
    *METADATA.fields,
    Field(
        "tensor_data",
        Placed(
            "tensors",
            size=Blocks(
                "type", "ne", MAX_DIMS, {kind: (kind.block_elements, kind.block_bytes) for kind in GgmlType}
            ),
            align=KeyedNumber("key_values", ALIGNMENT, DEFAULT_ALIGNMENT),
            from_aligned=True,
        ),
        "each tensor's blocks, at its offset in the data section, aligned",
    ),
    file_name="*.gguf",
    signature=MAGIC,
)

MIN_KEY_VALUE = 8 + 1 + 4 + 1
"""Bytes of the smallest key/value pair: a key of one byte and a value of one byte."""

MIN_TENSOR_INFO = 8 + 4 + 4 + 8
"""Bytes of the smallest directory entry: an empty name and no dimensions."""
