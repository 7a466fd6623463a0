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
_LONGEST_CHECKED = 3
"""Bytes of a Chinese character in UTF-8; the glyphs of blank and newline are shorter."""
SAMPLES = ("回答", "你好", "Ġgood", "Ċ")
"""Texts whose entries are counted, in the engine's own spelling."""


def coverage_lines(entries: ByteStrings) -> list[str]:
    """Say which of the common characters are entries of their own, and count entries by content.

    Args:
        entries: the stored texts of a vocab.bin, in id order.

    """
    whole = set(entries.take(np.flatnonzero(entries.lengths <= _LONGEST_CHECKED)))
    missing = [char for char in COMMON_HAN if char.encode() not in whole]
    space, newline = ("yes" if glyph.encode() in whole else "no" for glyph in "ĠĊ")
    hits = ", ".join(f"{text} {count_containing(entries, text.encode())}" for text in SAMPLES)
    han = f"{len(COMMON_HAN) - len(missing)} of {len(COMMON_HAN)}"
    without = f", missing {''.join(missing)}" if missing else ""
    return [
        f"space Ġ: {space}, newline Ċ: {newline}, common Chinese characters: {han}{without}",
        f"entries that contain {hits}",
    ]


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
