"""Texts that are hard on an encoder: one piece of the whole length, or nothing that is NFC."""

from __future__ import annotations

import random
import string

NOT_NFC = "a combining mark after each letter"
"""The one that has to be normalised."""

HAN = range(0x4E00, 0x9FA6)


def texts(size: int) -> dict[str, bytes]:
    """Make the texts, each of at most `size` bytes and at least `size` - 3; the same ones every time."""
    chance = random.Random(20)
    letters = "".join(chance.choices(string.ascii_lowercase, k=size))
    han = "".join(map(chr, chance.choices(HAN, k=size // 3)))
    return {
        "one letter": b"a" * size,
        "random letters": letters.encode(),
        "random Han": han.encode(),
        "blanks": b" " * size,
        "one sign, `/`": b"/" * size,
        "one sign, `<`": b"<" * size,
        NOT_NFC: ("e\u0301" * (size // 3)).encode(),
    }
