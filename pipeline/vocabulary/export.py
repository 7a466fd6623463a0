"""The vocabulary as text assets, one line for each token or merge."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from formats.byte_strings import ByteStrings
    from pipeline.vocabulary.vocabulary import Vocabulary

_LINES = 1 << 14
"""Lines that are made at once: bounds the memory."""


def tokens_jsonl(vocabulary: Vocabulary) -> Iterator[bytes]:
    """Write one JSON object a line, in id order: id, token, type, bytes (hex).

    Everything beyond ASCII is escaped, so that no character in a token can be taken for a line's end.

    Yields:
        whole lines, many at once.

    """
    texts = list(vocabulary.texts)
    types = vocabulary.types.tolist()
    digits = vocabulary.tokens.joined().hex()
    runs = list(pairwise((2 * vocabulary.tokens.offsets()).tolist()))
    for first in range(0, len(texts), _LINES):
        rows = range(first, min(first + _LINES, len(texts)))
        yield "".join(
            f'{{"id": {row}, "token": {token}, "type": {types[row]}, "bytes": "{digits[slice(*runs[row])]}"}}\n'
            for row, token in zip(rows, _quoted(texts[first : first + _LINES]), strict=True)
        ).encode("ascii")


def _quoted(texts: list[bytes]) -> list[str]:
    """Write texts as JSON strings, in one call: in JSON a line feed can only be the separator."""
    return json.dumps([text.decode() for text in texts], separators=("\n", ":"))[1:-1].split("\n")


def merges_txt(merges: ByteStrings) -> bytes:
    """Write one merge a line, as the GGUF has it; the rank is the line's number from 0.

    The sides of a merge are byte-level texts, which hold no line feed.
    """
    return b"\n".join([*merges, b""])
