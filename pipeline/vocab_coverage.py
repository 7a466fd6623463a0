"""Which texts a vocab.bin covers: the check that people run after packing one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from formats.byte_strings import ByteStrings

COMMON_HAN = (
    "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下"
    "得可你年生自会那后能对着事其里所去行过家十用"
)
"""Frequent characters of modern Chinese."""
SAMPLES = ("回答", "你好", "Ġgood", "Ċ")
"""Texts whose entries are counted, in the engine's own spelling."""


def coverage_lines(entries: ByteStrings) -> list[str]:
    """Say which of the common characters are entries of their own, and count entries by content.

    Args:
        entries: the stored texts of a vocab.bin, in id order.

    """
    missing = [
        char for char, whole in zip(COMMON_HAN, are_entries(entries, COMMON_HAN), strict=True) if not whole
    ]
    space, newline = ("yes" if whole else "no" for whole in are_entries(entries, "ĠĊ"))
    hits = ", ".join(f"{text} {count_containing(entries, text.encode())}" for text in SAMPLES)
    han = f"{len(COMMON_HAN) - len(missing)} of {len(COMMON_HAN)}"
    without = f", missing {''.join(missing)}" if missing else ""
    return [
        f"space Ġ: {space}, newline Ċ: {newline}, common Chinese characters: {han}{without}",
        f"entries that contain {hits}",
    ]


def are_entries(entries: ByteStrings, characters: str) -> list[bool]:
    """Tell for each of some characters, all of one length in UTF-8, whether it is an entry of its own."""
    wanted = np.array([character.encode() for character in characters])
    size = wanted.dtype.itemsize
    same_size = entries.take(np.flatnonzero(entries.lengths == size))
    held = np.frombuffer(same_size.joined(), dtype=wanted.dtype)
    return [bool(found) for found in np.isin(wanted, held)]


def count_containing(entries: ByteStrings, text: bytes) -> int:
    """Count the entries whose bytes contain a text."""
    joined = entries.joined()
    starts = []
    at = joined.find(text)
    while at >= 0:
        starts.append(at)
        at = joined.find(text, at + 1)
    found = np.array(starts, dtype=np.int64)
    offsets = entries.offsets()
    rows = np.searchsorted(offsets, found, side="right") - 1
    # A text may also lie across the border of two entries that belong to different tokens.
    inside = found + len(text) <= offsets[rows + 1]
    return len(np.unique(rows[inside]))
