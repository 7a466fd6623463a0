"""Encode in a process of its own: `python peers.py FOLDER ENCODER TASK [CORPUS...]`.

FOLDER is the run's; ENCODER one of `LOADERS`; each CORPUS a file of documents. One JSON object goes to
standard output, with what each TASK is for:

- first: the first id of a short text, then the process's peak of resident memory in KiB
- check: for each corpus, a digest of each document's ids
- time: for each corpus, processor seconds of encoding all documents once, after a pass that warms up
- count: nothing, but calls of `marks.c` around the same pass, one corpus after the other
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import struct
import sys
import time
from array import array
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Encode = Callable[[str], "list[int]"]

SHORT = "Hello"


def load_tokenizers(folder: Path) -> Encode:
    """HuggingFace's, as it is set up by the model's own file; the call that works out no offsets."""
    from tokenizers import Tokenizer

    batch = Tokenizer.from_file(str(folder / "tokenizer.json")).encode_batch_fast
    return lambda text: batch([text], add_special_tokens=False)[0].ids


def load_tiktoken(folder: Path) -> Encode:
    """OpenAI's, with Qwen's ranks and pattern."""
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    facts = json.loads((folder / "tiktoken.json").read_text(encoding="utf-8"))
    encoding = tiktoken.Encoding(
        "qwen",
        pat_str=facts["pattern"],
        mergeable_ranks=load_tiktoken_bpe(str(folder / "ranks.tiktoken")),
        special_tokens=facts["specials"],
    )
    return lambda text: encoding.encode(text, allowed_special="all")


def load_bpe_qwen(folder: Path) -> Encode:
    """From the model's `vocab.json` and `merges.txt`.

    The extension module only: its package would import `transformers` besides, which this does not need.
    """
    from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
    from importlib.metadata import distribution
    from importlib.util import module_from_spec, spec_from_loader

    path = str(distribution("bpe-qwen").locate_file(f"bpe_qwen/bpe_qwen{EXTENSION_SUFFIXES[0]}"))
    loader = ExtensionFileLoader("bpe_qwen", path)
    module = module_from_spec(spec_from_loader("bpe_qwen", loader, origin=path))
    loader.exec_module(module)
    return module.QwenTokenizer(str(folder)).encode


def load_quicktok(folder: Path) -> Encode:  # noqa: ARG001  (it brings Qwen's vocabulary with it)
    """From its own copy of the vocabulary."""
    import quicktok

    encoding = quicktok.get_encoding("qwen3")
    return lambda text: encoding.encode(text, allowed_special="all")


def load_tokie(folder: Path) -> Encode:
    """From the model's own file."""
    from tokie import Tokenizer

    encode = Tokenizer.from_json(str(folder / "tokenizer.json")).encode
    return lambda text: encode(text, add_special_tokens=False).ids


def load_engine_c(folder: Path) -> Encode:
    """Load the C reader, called from Python as `pipeline encode --engine c` calls it."""
    from formats.q25tokrt.image import open_image
    from pipeline.native.engine import NativeEncoder

    return NativeEncoder(open_image((folder / "standard" / "q25_tokenizer.img").read_bytes())).encode


LOADERS = {
    "tokenizers": load_tokenizers,
    "tiktoken": load_tiktoken,
    "bpe-qwen": load_bpe_qwen,
    "quicktok-v1": load_quicktok,
    "tokie": load_tokie,
    "engine c": load_engine_c,
}


def read_documents(path: str) -> list[str]:
    """Read a file of documents."""
    data, at, documents = Path(path).read_bytes(), 0, []
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        documents.append(data[at + 4 : at + 4 + size].decode())
        at += 4 + size
    return documents


def peak_kib() -> int:
    """Return this process's own peak; getrusage counts the process that it was forked from too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


def digest(ids: list[int]) -> str:
    """Return a digest of ids, as the numbers' u32."""
    return hashlib.sha256(array("I", ids).tobytes()).hexdigest()


def once(encode: Encode, documents: list[str]) -> float:
    """Encode all documents; return the processor seconds that took."""
    begin = time.process_time()
    for document in documents:
        encode(document)
    return time.process_time() - begin


def main(folder: Path, name: str, task: str, files: list[str]) -> object:
    """Do the task; return what is to be printed at its end."""
    encode = LOADERS[name](folder)
    if task == "first":
        print(encode(SHORT)[0], flush=True)
        return peak_kib()
    corpora = [read_documents(file) for file in files]
    if task == "check":
        return [[digest(encode(document)) for document in documents] for documents in corpora]
    marks = ctypes.CDLL(str(folder / "marks.so")) if task == "count" else None
    found = []
    for documents in corpora:
        once(encode, documents)
        if marks:
            marks.marks_begin()
        found.append(once(encode, documents))
        if marks:
            marks.marks_end()
    return found


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:])))
