"""The tokens as a text asset, one line each."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipeline.vocabulary.vocabulary import Vocabulary

_LINES = 1 << 14
"""Lines that are made at once: bounds the memory."""


def tokens_jsonl(vocabulary: Vocabulary) -> Iterator[bytes]:
    """Write one JSON object a line, in id order: id, token, type, bytes (hex).

    Everything beyond ASCII is escaped, so that no character in a token can be taken for a line's end.

    Yields:
        whole lines, many at once.

    """
    digits = vocabulary.tokens.joined().hex()
    hexes = [digits[start:end] for start, end in pairwise((2 * vocabulary.tokens.offsets()).tolist())]
    for first in range(0, len(vocabulary), _LINES):
        rows = slice(first, first + _LINES)
        columns = (_quoted(vocabulary.text_list[rows]), vocabulary.types[rows].tolist(), hexes[rows])
        yield "".join(
            [
                f'{{"id": {row}, "token": {token}, "type": {kind}, "bytes": "{data}"}}\n'
                for row, (token, kind, data) in enumerate(zip(*columns, strict=True), first)
            ]
        ).encode("ascii")


def _quoted(texts: list[bytes]) -> list[str]:
    """Write texts as JSON strings, in one call: in JSON a line feed can only be the separator."""
    return json.dumps([text.decode() for text in texts], separators=("\n", ":"))[1:-1].split("\n")
