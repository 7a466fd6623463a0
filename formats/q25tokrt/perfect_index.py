"""The perfect merge-pair index of profile compact: from a pair of token ids to its merge, in two reads.

A pair is hashed to a bucket, the bucket's multiplier sends it to a slot, and no other pair to that
one. The packer looks for the multipliers: largest buckets first, and for each the lowest that sends
its pairs to slots that are free. That makes the index a function of the merges and the seed alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.errors import FormatError
from formats.q25tokrt.compact_records import COMPACT_ID_BITS, EMPTY_PAIR_ROW, PAIR_CHECK_BITS, PAIR_ROW
from formats.q25tokrt.pair_index import FIRST_SEED, next_seed

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_BUCKET_PAIRS = 5
"""Pairs of a bucket on average, at the most."""
PAIRS_OF_FREE_SLOT = 49
"""One slot more than pairs for each so many: a load of 0.98."""
N_MULTIPLIERS = 1 << 15
"""The odd numbers of 16 bits."""

_MASK = (1 << 64) - 1
_ONE = 1 << COMPACT_ID_BITS
"""Above the left id: two ids 0 would have the hash 0, which no multiplier moves."""
_MAX_SEEDS = 20
_ROW_MASK = (1 << COMPACT_ID_BITS) - 1
_TRIES = 1 << 18
"""Slots that are worked out at once, over all buckets."""
_LEAST_TRIES = 8
"""Multipliers that are tried at once for a bucket, at the least."""


@dataclass(frozen=True)
class PerfectIndex:
    """What is packed of an index.

    Attributes:
        multipliers: shape (n_buckets,), little-endian uint16, odd.
        slots: shape (n_slots,), of `PAIR_ROW`'s dtype.
        seed: the hash multiplier it was made with.

    """

    multipliers: NDArray[np.uint16]
    slots: NDArray[Any]
    seed: int


def bucket_bits(n_merges: int) -> int:
    """Give k of the 2^k buckets, at least 1."""
    bits = 1
    while n_merges > MAX_BUCKET_PAIRS << bits:
        bits += 1
    return bits


def slot_count(n_merges: int) -> int:
    """Give the number of slots."""
    return n_merges + n_merges // PAIRS_OF_FREE_SLOT + 1


def build(left: NDArray[Any], right: NDArray[Any]) -> PerfectIndex:
    """Make the index with the first seed of the fixed sequence that serves.

    Args:
        left, right: token ids below 2^18 of shape (n_merges,), in rank order; no pair occurs twice.

    Raises:
        FormatError: no seed found.

    """
    seed = FIRST_SEED
    for _ in range(_MAX_SEEDS):
        index = arrange(left, right, seed)
        if index is not None:
            return index
        seed = next_seed(seed)
    raise FormatError(
        "a hash seed and multipliers that send each pair to a slot of its own",
        f"none among {_MAX_SEEDS} seeds",
        path="pair_multipliers",
    )


def arrange(left: NDArray[Any], right: NDArray[Any], seed: int) -> PerfectIndex | None:
    """Make the index with a given seed, or None where that does not serve."""
    count = len(left)
    bits, n_slots = bucket_bits(count), slot_count(count)
    with np.errstate(over="ignore"):
        lefts = left.astype(np.uint64) | np.uint64(_ONE)
        hashes = (lefts << np.uint64(COMPACT_ID_BITS) | right.astype(np.uint64)) * np.uint64(seed)
    buckets = (hashes >> np.uint64(64 - bits)).astype(np.int64)
    mixed = (hashes >> np.uint64(32)).astype(np.uint32) ^ hashes.astype(np.uint32)
    rows = np.argsort(buckets, kind="stable")
    sizes = np.bincount(buckets, minlength=1 << bits)
    firsts = np.cumsum(sizes) - sizes
    multipliers = np.ones(1 << bits, dtype="<u2")
    row_of = np.full(n_slots, EMPTY_PAIR_ROW, dtype=np.uint32)
    free = np.ones(n_slots, dtype=bool)
    for size in range(int(sizes.max(initial=0)), 0, -1):
        chosen = np.flatnonzero(sizes == size)
        members = rows[firsts[chosen][:, None] + np.arange(size)]
        numbers = _choose(mixed[members], free)
        if numbers is None:
            return None
        multipliers[chosen] = 2 * numbers + 1
        row_of[_slots(mixed[members], multipliers[chosen][:, None], n_slots)] = members
    checks = np.zeros(n_slots, dtype=np.uint32)
    used = row_of != EMPTY_PAIR_ROW
    checks[used] = hashes[row_of[used]] >> np.uint64(64 - bits - PAIR_CHECK_BITS) & np.uint64(
        (1 << PAIR_CHECK_BITS) - 1
    )
    slots = np.zeros(n_slots, dtype=PAIR_ROW.dtype)
    slots["row_low"] = row_of & 0xFFFF
    slots["row_high_and_check"] = row_of >> 16 | checks << 2
    return PerfectIndex(multipliers, slots, seed)


def _slots(mixed: NDArray[np.uint32], multipliers: Any, n_slots: int) -> NDArray[np.int64]:
    """Give the slots that multipliers send hashes to."""
    with np.errstate(over="ignore"):
        products = mixed * np.asarray(multipliers, dtype=np.uint32)
    return (products.astype(np.uint64) * np.uint64(n_slots) >> np.uint64(32)).astype(np.int64)


def _choose(mixed: NDArray[np.uint32], free: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    """Choose the multipliers of buckets of one size, many at once.

    In rounds: each bucket proposes the lowest multiplier that sends its pairs to free slots. Where two want
    the same slot, the one that comes first gets it, and the other proposes again.

    Args:
        mixed: shape (n_buckets, size), the hashes of each bucket.
        free: shape (n_slots,); what is taken is cleared.

    Returns:
        shape (n_buckets,), numbers of multipliers; None where there is none for a bucket.

    """
    numbers = np.zeros(len(mixed), dtype=np.int64)  # none below serves
    waiting = np.arange(len(mixed))
    claims = np.empty(len(free), dtype=np.int64)
    while len(waiting):
        width = max(_LEAST_TRIES, _TRIES // (len(waiting) * mixed.shape[1]))
        tries = numbers[waiting, None] + np.arange(width)
        slots = _slots(mixed[waiting, None, :], 2 * tries[:, :, None] + 1, len(free))
        serve = free[slots].all(axis=2) & (tries < N_MULTIPLIERS)
        serve[serve] = _are_apart(slots[serve])
        steps = serve.argmax(axis=1)
        found = serve[np.arange(len(waiting)), steps]
        numbers[waiting] += np.where(found, steps, width)
        if (numbers[waiting[~found]] >= N_MULTIPLIERS).any():
            return None
        able = np.flatnonzero(found)
        wanted = slots[able, steps[able]]
        claims[wanted[::-1]] = able[::-1, None]  # of equal indexes the last counts
        gets = (claims[wanted] == able[:, None]).all(axis=1)
        free[wanted[gets]] = False
        waiting = np.delete(waiting, able[gets])
    return numbers


def _are_apart(slots: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell of each last axis whether no slot is in it twice."""
    ordered = np.sort(slots, axis=-1)
    apart: NDArray[np.bool_] = (ordered[..., 1:] != ordered[..., :-1]).all(axis=-1)
    return apart


class Finder:
    """Looks pairs up in an index where it lies.

    Args:
        multipliers, slots: the sections.
        n_merges, seed: the header's.

    """

    def __init__(self, multipliers: Any, slots: Any, n_merges: int, seed: int) -> None:
        self._multipliers = np.frombuffer(multipliers, dtype="<u2").tolist()
        self._slots = slots
        self._n_slots = slot_count(n_merges)
        self._shift = 64 - bucket_bits(n_merges)
        self._seed = seed

    def row_of(self, left: int, right: int) -> int | None:
        """Give the row of the only merge that can be of a pair, or None; the row has to be compared."""
        hashed = (((_ONE | left) << COMPACT_ID_BITS | right) * self._seed) & _MASK
        mixed = hashed >> 32 ^ hashed & 0xFFFFFFFF
        product = mixed * self._multipliers[hashed >> self._shift] & 0xFFFFFFFF
        at = PAIR_ROW.size * (product * self._n_slots >> 32)
        slot = int.from_bytes(self._slots[at : at + PAIR_ROW.size], "little")
        check = hashed >> self._shift - PAIR_CHECK_BITS & (1 << PAIR_CHECK_BITS) - 1
        row = slot & _ROW_MASK
        return row if slot >> COMPACT_ID_BITS == check and row != EMPTY_PAIR_ROW else None
