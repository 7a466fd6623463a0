"""Small files of both engines, sound and broken, and what the Python readers say of them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from engines_driver import GREEDY

from formats import tokenizer_bin, vocab_bin
from formats.byte_level import GLYPHS, INDEX_OF_BYTE
from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ALPHABETS = {
    "documented": bytes(INDEX_OF_BYTE),
    "loader": b"".join(struct.pack("<I", len(glyph.encode())) + glyph.encode() for glyph in GLYPHS),
}


def framed(text: bytes) -> bytes:
    return struct.pack("<I", len(text)) + text


def vocab_file(*texts: bytes, count: int | None = None, ids: Iterable[int] | None = None) -> bytes:
    """Write a vocab.bin, with a count and ids of its own choice."""
    numbered = zip(range(len(texts)) if ids is None else ids, texts, strict=True)
    return struct.pack("<I", len(texts) if count is None else count) + b"".join(
        struct.pack("<IH", token, len(text)) + text for token, text in numbered
    )


def tokenizer_file(
    layout: str,
    texts: Sequence[bytes],
    merges: Iterable[tuple[int, int]] = (),
    special: Iterable[tuple[int, bytes]] = (),
    *,
    counts: Sequence[int] | None = None,
    longest: int | None = None,
    alphabet: bytes | None = None,
) -> bytes:
    """Write a tokenizer.bin, with counts and an end of its own choice."""
    merges, special = list(merges), list(special)
    made = struct.pack("<3I", *(counts or (len(texts), len(merges), len(special))))
    if layout == "loader":
        made += struct.pack("<I", max(map(len, texts), default=0) if longest is None else longest)
    made += b"".join(map(framed, texts))
    made += b"".join(struct.pack("<2I", *pair) for pair in merges)
    made += b"".join(struct.pack("<I", token) + framed(text) for token, text in special)
    return made + (ALPHABETS[layout] if alphabet is None else alphabet)


TEXTS = [glyph.encode() for glyph in "abcs12Ġ'.-Ċ"] + [
    glyph.encode() for glyph in map(GLYPHS.__getitem__, b"\xc3\xa9")
]
MERGES = ["a|b", "ab|c", "Ġ|a", "Ġ|ab", "'|s", ".|.", "..|..", "a|a", "aa|aa", "Ã|©", "Ġ|Ġ"]


def small_tokenizer(layout: str) -> bytes:
    """Write a sound tokenizer.bin with merges, two added tokens and one of padding."""
    texts, merges = list(TEXTS), []
    for merge in MERGES:
        left, right = (part.encode() for part in merge.split("|"))
        if left + right not in texts:
            texts.append(left + right)
        merges.append((texts.index(left), texts.index(right)))
    special = [(len(texts), b"<|im_end|>"), (len(texts) + 1, "<é>".encode())]
    texts += [text for _, text in special] + [b"[PAD]"]
    return tokenizer_file(layout, texts, merges, special)


SMALL_VOCAB = vocab_file(
    b"!", b"a", b"b", b"ab", b"abc", "Ġ".encode(), "Ġa".encode(), "Ġab".encode(), "Ċ".encode(),
    "ĊĊ".encode(), b"<think>", b"c<", b"<", b"", b"ab", "é".encode(), b"\xff",
)  # fmt: skip


def refusal(engine: int, layout: str, data: bytes) -> str | None:
    """Return the Python reader's refusal of a file, without the file's name; None where it is sound."""
    try:
        if engine == GREEDY:
            vocab_bin.read(data, "")
        else:
            tokenizer_bin.read(data, layout, "")
    except FormatError as error:
        return str(error)
    return None
