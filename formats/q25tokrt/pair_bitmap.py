"""The merge-pair bitmap of profile fast: most pairs that are not merged, told by a read of one bit.

A pair is hashed to a bit, and those of merged pairs are set: of every other pair, about one in fourteen
of Qwen's comes to a bit that is set, and is looked up in the merge-pair index like those that are merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from formats.q25tokrt.pair_index import home_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEFT_FACTOR = np.uint32(0x9E3779B1)
_RIGHT_FACTOR = np.uint32(0x85EBCA77)
_BYTE_BITS = 3


def build(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.uint8]:
    """Set the bit of each pair.

    Args:
        left: token ids of shape (n_merges,).
        right: the same.

    Returns:
        shape (2^k,) for 2^k home slots of the merge-pair index; bit b is bit b mod 8 of byte b / 8.

    """
    bits = home_bits(len(left)) + _BYTE_BITS
    mixed = left.astype(np.uint32) * _LEFT_FACTOR + right.astype(np.uint32) * _RIGHT_FACTOR
    is_set = np.zeros(1 << bits, dtype=np.uint8)
    is_set[mixed >> np.uint32(32 - bits)] = 1
    return np.packbits(is_set, bitorder="little")
