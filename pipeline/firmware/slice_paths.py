"""Where a slice's path leads: which artifact, and which part of it. Nothing is opened here."""

from __future__ import annotations

import re
from dataclasses import dataclass

TENSORS = "tensors/"
_FILES = {
    "image": "q25_tokenizer.img",
    "ps_bundle.token_index": "token_index.bin",
    "ps_bundle.token_bytes": "token_bytes.bin",
    "ps_bundle.merge_table": "merge_table_u32.bin",
    "vocab_bin": "vocab.bin",
    "token_types": "token_types.bin",
    "model_table": "model_table.bin",
}
_TABLES = {
    "token_index.bin": "token_index",
    "token_bytes.bin": "token_bytes",
    "merge_table_u32.bin": "merge_table",
    "token_types.bin": "token_types",
}
"""Files that are one list: its name in their layout."""

WORDS = (
    "a path that begins with " + ", ".join(_FILES) + ", or tensors/NAME, as in ps_bundle.token_index[0:1024] "
    "or image.sections.merge_pair_index"
)


@dataclass(frozen=True, slots=True)
class SlicePath:
    """A path in two parts.

    Attributes:
        artifact: the file, or None for a tensor of the model.
        inner: the part of that file, as `pipeline dump` takes it; or the tensor, with a range of blocks.

    """

    artifact: str | None
    inner: str


def parse(path: str) -> SlicePath | None:
    """Take a path apart; None where it begins with nothing known."""
    if path.startswith(TENSORS) and len(path) > len(TENSORS):
        return SlicePath(None, path.removeprefix(TENSORS))
    for stem, artifact in _FILES.items():
        rest = path[len(stem) :]
        if path.startswith(stem) and re.match(r"[.\[]|$", rest):
            table = _TABLES.get(artifact)
            return SlicePath(artifact, f"{table}{rest}" if table else rest.removeprefix("."))
    return None
