"""The string table of the engine of tokenizer.bin: FNV-1a, and chains in a power of two of buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formats.byte_strings import ByteStrings

OFFSET_BASIS = 2166136261
PRIME = 16777619
_MASK = 0xFFFFFFFF


def fnv1a(data: bytes) -> int:
    """Return the FNV-1a hash of 32 bits.

    >>> hex(fnv1a(b"a"))
    '0xe40c292c'
    """
    value = OFFSET_BASIS
    for byte in data:
        value = (value ^ byte) * PRIME & _MASK
    return value


def fnv1a_all(strings: ByteStrings) -> NDArray[np.uint32]:
    """Hash many strings.

    Returns:
        shape (n,), uint32.

    """
    hashes = np.full(len(strings), OFFSET_BASIS, dtype=np.uint32)
    for column in range(int(strings.lengths.max(initial=0))):
        rows = np.flatnonzero(strings.lengths > column)
        hashes[rows] = (hashes[rows] ^ strings.data[strings.starts[rows] + column]) * np.uint32(PRIME)
    return hashes


class StringTable:
    """Finds strings by their bytes; of equal ones it finds the lowest index.

    Attributes:
        n_buckets: the smallest power of two that is not below the number of strings.
        heads: shape (n_buckets,), int64: the first string of each bucket's chain, or -1.
        following: shape (n,), int64: the next string of a string's chain, a higher index, or -1.

    """

    def __init__(self, strings: ByteStrings) -> None:
        self._strings = list(strings)
        count = len(strings)
        self.n_buckets = 1 << max(count - 1, 0).bit_length()
        buckets = fnv1a_all(strings) & np.uint32(self.n_buckets - 1)
        order = np.argsort(buckets, kind="stable")
        last = np.ones(count, dtype=np.bool_)
        last[:-1] = np.diff(buckets[order].astype(np.int64)) != 0
        first = np.roll(last, 1)
        self.heads = np.full(self.n_buckets, -1, dtype=np.int64)
        self.heads[buckets[order[first]]] = order[first]
        self.following = np.full(count, -1, dtype=np.int64)
        self.following[order[~last]] = order[1:][~last[:-1]]

    def find(self, text: bytes) -> int | None:
        """Return the index of a string, or None."""
        index = int(self.heads[fnv1a(text) & (self.n_buckets - 1)])
        while index >= 0:
            if self._strings[index] == text:
                return index
            index = int(self.following[index])
        return None
