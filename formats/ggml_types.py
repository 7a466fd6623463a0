"""The element types of GGUF tensors: ids, names and block sizes, as ggml's C sources have them.

A tensor's rows are cut into blocks of `block_elements` numbers that take `block_bytes` bytes
together; scales and minima are inside the block. Plain number types have blocks of one element.

The `gguf` package has the same table, but costs 90 ms to import, states Q8_1 as 40 bytes and does
not know Q2_0; the tests hold this table against it, with these two corrections named.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class GgmlType(IntEnum):
    """An element type: its id in the file, and the size of its block.

    Attributes:
        block_elements: numbers in one block; a row holds whole blocks.
        block_bytes: bytes of one block.

    """

    block_elements: int
    block_bytes: int

    @property
    def label(self) -> str:
        """The type's name, as ggml writes it."""
        return self.name

    def __new__(cls, type_id: int, block_elements: int, block_bytes: int) -> Self:
        """Make a member whose value is the id alone."""
        member = int.__new__(cls, type_id)
        member._value_ = type_id
        member.block_elements = block_elements
        member.block_bytes = block_bytes
        return member

    F32 = 0, 1, 4
    F16 = 1, 1, 2
    Q4_0 = 2, 32, 18
    Q4_1 = 3, 32, 20
    Q5_0 = 6, 32, 22
    Q5_1 = 7, 32, 24
    Q8_0 = 8, 32, 34
    Q8_1 = 9, 32, 36
    Q2_K = 10, 256, 84
    Q3_K = 11, 256, 110
    Q4_K = 12, 256, 144
    Q5_K = 13, 256, 176
    Q6_K = 14, 256, 210
    Q8_K = 15, 256, 292
    IQ2_XXS = 16, 256, 66
    IQ2_XS = 17, 256, 74
    IQ3_XXS = 18, 256, 98
    IQ1_S = 19, 256, 50
    IQ4_NL = 20, 32, 18
    IQ3_S = 21, 256, 110
    IQ2_S = 22, 256, 82
    IQ4_XS = 23, 256, 136
    I8 = 24, 1, 1
    I16 = 25, 1, 2
    I32 = 26, 1, 4
    I64 = 27, 1, 8
    F64 = 28, 1, 8
    IQ1_M = 29, 256, 56
    BF16 = 30, 1, 2
    TQ1_0 = 34, 256, 54
    TQ2_0 = 35, 256, 66
    MXFP4 = 39, 32, 17
    NVFP4 = 40, 64, 36
    Q1_0 = 41, 128, 18
    Q2_0 = 42, 64, 18


_BY_ID = {int(known): known for known in GgmlType}

REMOVED = {
    4: "Q4_2",
    5: "Q4_3",
    31: "Q4_0_4_4",
    32: "Q4_0_4_8",
    33: "Q4_0_8_8",
    36: "IQ4_NL_4_4",
    37: "IQ4_NL_4_8",
    38: "IQ4_NL_8_8",
}
"""Ids that ggml once had and gave up, with their names."""


def known_type(type_id: int) -> GgmlType | None:
    """Return the type of an id, or None for one that is removed or unknown."""
    return _BY_ID.get(type_id)


def type_label(type_id: int) -> str:
    """Name any type id for people.

    >>> type_label(12), type_label(31), type_label(99)
    ('Q4_K', 'removed type 31 (Q4_0_4_4)', 'unknown type 99')
    """
    known = known_type(type_id)
    if known is not None:
        return known.name
    if type_id in REMOVED:
        return f"removed type {type_id} ({REMOVED[type_id]})"
    return f"unknown type {type_id}"
