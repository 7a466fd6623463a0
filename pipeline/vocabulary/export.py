"""The vocabulary as text assets, one line for each token or merge."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from formats.byte_strings import ByteStrings
    from pipeline.vocabulary.vocabulary import Vocabulary


def tokens_jsonl(vocabulary: Vocabulary) -> bytes:
    """Write one JSON object a line, in id order: id, token, type, bytes (hex).

    Everything beyond ASCII is escaped, so that no character in a token can be taken for a line's end.
    """
    quote = json.JSONEncoder().encode
    digits = vocabulary.tokens.joined().hex()
    ends = (2 * vocabulary.tokens.offsets()).tolist()
    lines = [
        f'{{"id": {row}, "token": {quote(text.decode())}, "type": {kind}, '
        f'"bytes": "{digits[ends[row] : ends[row + 1]]}"}}\n'
        for row, (text, kind) in enumerate(zip(vocabulary.texts, vocabulary.types.tolist(), strict=True))
    ]
    return "".join(lines).encode("ascii")


def merges_txt(merges: ByteStrings) -> bytes:
    """Write one merge a line, as the GGUF has it; the rank is the line's number from 0.

    The sides of a merge are byte-level texts, which hold no line feed.
    """
    return b"".join(merge + b"\n" for merge in merges)
