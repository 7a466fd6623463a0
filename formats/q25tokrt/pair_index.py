"""The merge-pair index: from a pair of token ids to its row in the merge table, in a few reads.

Open addressing with linear probing and no wrap-around: 2^k home slots and a tail. The arrangement
is canonical. Entries are sorted by (home, row) and each takes the first free slot at or after its
home, so its position is `max(home, position of the one before + 1)`: a running maximum. That makes the
table a function of the merges and the seed alone, and a check of it a comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.errors import FormatError
from formats.q25tokrt.layout import MAX_MERGES, MAX_PROBE, ROW_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST_SEED = 0x9E3779B97F4A7C15
_NEXT_FACTOR, _NEXT_TERM = 0x5851F42D4C957F2D, 0x14057B7EF767814F
_MIX = 0xD6E8FEB86659FD93
_MASK = (1 << 64) - 1

_MAX_LOAD_TENTHS = 6
_ROUND_SLOTS = 16
_MAX_SEEDS = 1000


@dataclass(frozen=True)
class PairIndex:
    """An arranged index.

    Attributes:
        slots: shape (n_slots,), little-endian uint32.
        seed: the hash multiplier it was arranged with.
        max_probe: slots a look-up visits at the most.

    """

    slots: NDArray[np.uint32]
    seed: int
    max_probe: int


def home_bits(n_merges: int) -> int:
    """Give k of the 2^k home slots: the smallest that loads them to at most 0.6."""
    bits = 0
    while n_merges * 10 > (_MAX_LOAD_TENTHS << bits):
        bits += 1
    return bits


def pair_hash(left: int, right: int, seed: int) -> int:
    """Hash a pair to 32 bits: the low k give its home, those from bit 18 up its fingerprint."""
    mixed = ((left << 32 | right) * seed) & _MASK
    mixed ^= mixed >> 32
    return ((mixed * _MIX) & _MASK) >> 32


def arrange(left: NDArray[Any], right: NDArray[Any], seed: int) -> PairIndex:
    """Arrange the index for pairs of shape (n_merges,) each, in rank order, with a given seed."""
    count = len(left)
    bits = home_bits(count)
    with np.errstate(over="ignore"):
        mixed = (left.astype(np.uint64) << np.uint64(32) | right.astype(np.uint64)) * np.uint64(seed)
        mixed ^= mixed >> np.uint64(32)
        hashes = (mixed * np.uint64(_MIX)) >> np.uint64(32)
    homes = (hashes & np.uint64((1 << bits) - 1)).astype(np.int64)
    order = np.argsort(homes, kind="stable")
    ahead = np.arange(count)
    positions = np.maximum.accumulate(homes[order] - ahead) + ahead
    used = int(positions[-1]) + 2 if count else 1
    n_slots = max(1 << bits, -(-used // _ROUND_SLOTS) * _ROUND_SLOTS)
    slots = np.zeros(n_slots, dtype="<u4")
    fingerprints = (hashes[order] >> np.uint64(ROW_BITS)).astype(np.uint32)
    slots[positions] = fingerprints << np.uint32(ROW_BITS) | (order + 1).astype(np.uint32)
    probe = int((positions - homes[order]).max(initial=0)) + 1
    return PairIndex(slots, seed, probe)


def build(left: NDArray[Any], right: NDArray[Any]) -> PairIndex:
    """Arrange the index with the first seed of the fixed sequence that keeps look-ups short.

    Args:
        left: token ids of shape (n_merges,), in rank order.
        right: token ids of shape (n_merges,), in rank order.

    Raises:
        FormatError: more merges than a slot can number, or no seed found (pairs that repeat).

    """
    if len(left) > MAX_MERGES:
        raise FormatError(
            f"at most {MAX_MERGES} merges (a slot has {ROW_BITS} bits for the row)",
            str(len(left)),
            path="merge_pair_index",
            hint="the tables of ps_bundle can be made without an image",
        )
    seed = FIRST_SEED
    for _ in range(_MAX_SEEDS):
        index = arrange(left, right, seed)
        if index.max_probe <= MAX_PROBE:
            return index
        seed = next_seed(seed)
    raise FormatError(
        f"a hash seed with look-ups of at most {MAX_PROBE} slots",
        f"none among {_MAX_SEEDS}",
        path="merge_pair_index",
    )


def next_seed(seed: int) -> int:
    """Give the seed that is tried after one that does not serve."""
    return (seed * _NEXT_FACTOR + _NEXT_TERM) & _MASK | 1


def row_of(slots: Any, n_home_bits: int, pair: tuple[int, int], seed: int, max_probe: int) -> list[int]:
    """List the merge rows that a look-up has to compare with a pair, nearest slot first.

    Args:
        slots: the index, as integers.
        n_home_bits: k of the 2^k home slots.
        pair: left and right id.
        seed: the header's hash_seed.
        max_probe: the header's max_probe.

    """
    hashed = pair_hash(*pair, seed)
    home = hashed & ((1 << n_home_bits) - 1)
    fingerprint = hashed >> ROW_BITS
    rows = []
    for slot in slots[home : home + max_probe]:
        if slot == 0:
            break
        if slot >> ROW_BITS == fingerprint:
            rows.append((slot & ((1 << ROW_BITS) - 1)) - 1)
    return rows
