"""The tables of profile compact: merges in 4.5 bytes, and the tokens that merges do not make.

Merge number r makes token 256 + r of two lower ids, so of these tokens only the two parts are kept, as
18 bits each. Their bytes come back by taking a token apart, the left part first, down to single bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formats import ps_bundle
from formats.byte_strings import ByteStrings
from formats.layout import Place
from formats.q25tokrt.compact_records import (
    FIRST_HIGH_ROW,
    MAX_COMPACT_MERGES,
    MAX_MADE_BYTES,
    MAX_PENDING,
    MERGE_HIGH_BITS,
    MERGE_LOW_BITS,
)
from formats.q25tokrt.derivation import STANDARD_SERVES, require_made_ids
from formats.q25tokrt.layout import N_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_LOW_BITS = 16
_PART_BITS = 2
"""High bits of one token; four of a merge, two merges in a byte."""
_MANY = 1 << 32
"""More bytes than a token can have: where counting them stops."""


@dataclass(frozen=True)
class MadeTokens:
    """What the tokens are like that merges make, and before them the single bytes.

    Attributes:
        lengths: shape (256 + n_merges,), bytes.
        pending: shape (256 + n_merges,), parts that wait, at the most, where the token is taken apart.

    """

    lengths: NDArray[np.int64]
    pending: NDArray[np.int64]


def prove(left: NDArray[Any], right: NDArray[Any], out: NDArray[Any], byte_tokens: NDArray[Any]) -> None:
    """Prove that a vocabulary can be kept so.

    Args:
        left, right, out: shape (n_merges,), token ids in rank order; joined, the bytes of the parts are
            those of the token made.
        byte_tokens: shape (256,), the id of each single byte.

    Raises:
        FormatError: the first merge or byte for which it does not hold.

    """
    require_made_ids(left, right, out, byte_tokens)
    place = Place(ps_bundle.MERGE_FILE, "merge_table")
    if len(left) > MAX_COMPACT_MERGES:
        expected = f"at most {MAX_COMPACT_MERGES} merges (ids of 18 bits)"
        raise place.error(expected, str(len(left)), STANDARD_SERVES)
    require_bounds(measure(left, right), place, ps_bundle.MERGE_RECORD.size)


def measure(left: NDArray[Any], right: NDArray[Any]) -> MadeTokens:
    """Measure the tokens that merges make; the parts' ids are below the one made."""
    lengths, pending = [1] * N_BYTES, [0] * N_BYTES
    for one, other in zip(left.tolist(), right.tolist(), strict=True):
        lengths.append(min(lengths[one] + lengths[other], _MANY))
        pending.append(max(pending[one] + 1, pending[other]))
    return MadeTokens(np.array(lengths, dtype=np.int64), np.array(pending, dtype=np.int64))


def require_lower_parts(left: NDArray[np.int64], right: NDArray[np.int64], place: Place) -> None:
    """Refuse a merge of a token that comes only later, of an image's merges at `place`."""
    made = np.arange(len(left)) + N_BYTES
    late = np.flatnonzero(np.maximum(left, right) >= made)
    if len(late):
        row = int(late[0])
        cell = place.index(row, row * MERGE_LOW_BITS.size)
        raise cell.error(f"two ids below {made[row]}", f"{left[row]} and {right[row]}")


def require_bounds(made: MadeTokens, place: Place, row_bytes: int) -> None:
    """Refuse tokens that take too much to be put together again.

    Args:
        made: the tokens.
        place, row_bytes: of the merges.

    Raises:
        FormatError: naming the first merge that is too deep, or all of them.

    """
    deep = np.flatnonzero(made.pending > MAX_PENDING)
    if len(deep):
        row = int(deep[0]) - N_BYTES
        expected = f"a token of which at most {MAX_PENDING} parts wait while it is taken apart"
        found = str(made.pending[row + N_BYTES])
        raise place.index(row, row * row_bytes).error(expected, found, STANDARD_SERVES)
    total = int(np.minimum(made.lengths, MAX_MADE_BYTES + 1).sum())
    if total > MAX_MADE_BYTES:
        expected = f"tokens of at most {MAX_MADE_BYTES} bytes together"
        raise place.error(expected, "more", STANDARD_SERVES)


def high_count(n_merges: int) -> int:
    """Give the rows of the merges' high bits."""
    return max(0, n_merges - FIRST_HIGH_ROW + 1) // 2


def pack_merges(left: NDArray[Any], right: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Pack the parts of merges, ids below 2^18 of shape (n_merges,).

    Returns:
        low bits: shape (n_merges,), of `MERGE_LOW_BITS`' dtype; high bits: shape (high_count(n_merges),).

    """
    low = np.zeros(len(left), dtype=MERGE_LOW_BITS.dtype)
    low["left_low"], low["right_low"] = left & 0xFFFF, right & 0xFFFF
    high = (left >> _LOW_BITS | right >> _LOW_BITS << _PART_BITS)[FIRST_HIGH_ROW:]
    both = np.zeros(2 * high_count(len(left)), dtype=np.uint8)
    both[: len(high)] = high
    return low, (both[::2] | both[1::2] << 2 * _PART_BITS).astype(np.uint8)


def unpack_merges(low: Any, high: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give left and right of shape (n_merges,) from the bytes of the two sections."""
    rows = np.frombuffer(low, dtype=MERGE_LOW_BITS.dtype)
    packed = np.frombuffer(high, dtype=MERGE_HIGH_BITS.dtype)["high_bits"].astype(np.int64)
    high_bits = np.column_stack((packed & 15, packed >> 2 * _PART_BITS)).ravel()
    both = np.zeros(len(rows), dtype=np.int64)
    both[FIRST_HIGH_ROW:] = high_bits[: max(0, len(rows) - FIRST_HIGH_ROW)]
    left: NDArray[np.int64] = rows["left_low"] | (both & 3) << _LOW_BITS
    right: NDArray[np.int64] = rows["right_low"] | both >> _PART_BITS << _LOW_BITS
    return left, right


class Merges:
    """Left and right of each merge, read from the two sections where they lie.

    Args:
        low: the first section as words: left | right << 16.
        high: the second section.

    """

    def __init__(self, low: Sequence[int], high: Sequence[int]) -> None:
        self._low = low
        self._high = high

    def __getitem__(self, row: int) -> tuple[int, int]:
        low = self._low[row]
        if row < FIRST_HIGH_ROW:
            return low & 0xFFFF, low >> _LOW_BITS
        high = self._high[(row - FIRST_HIGH_ROW) // 2] >> row % 2 * 2 * _PART_BITS
        return (
            low & 0xFFFF | (high & 3) << _LOW_BITS,
            low >> _LOW_BITS | (high >> _PART_BITS & 3) << _LOW_BITS,
        )


def pack_stored(tokens: ByteStrings, types: NDArray[Any], first: int) -> tuple[bytes, bytes]:
    """Pack index and bytes of the tokens from an id on, in the form of the PS bundle."""
    kept = tokens.take(np.arange(first, len(tokens)))
    return ps_bundle.build_token_index(kept, types[first:]), kept.joined()


def pack_byte_values(byte_tokens: NDArray[Any]) -> bytes:
    """Turn the byte-token map around: the byte of each id below 256."""
    values = np.zeros(N_BYTES, dtype=np.uint8)
    values[byte_tokens] = np.arange(N_BYTES)
    return values.tobytes()


def token_bytes(token: int, merges: Merges, byte_values: bytes) -> bytes:
    """Put the bytes of a token together.

    Args:
        token: an id below 256 + n_merges.
        merges: left and right of each merge.
        byte_values: the byte of each id below 256.

    """
    made, pending = bytearray(), [token]
    while pending:
        token = pending.pop()
        while token >= N_BYTES:
            token, right = merges[token - N_BYTES]
            pending.append(right)
        made.append(byte_values[token])
    return bytes(made)


def made_strings(left: NDArray[np.int64], right: NDArray[np.int64], byte_values: bytes) -> ByteStrings:
    """Put the bytes of all tokens together that merges make, behind the single bytes.

    The merges must have passed `require_lower_parts` and `require_bounds`.
    """
    strings = [byte_values[byte : byte + 1] for byte in range(N_BYTES)]
    for one, other in zip(left.tolist(), right.tolist(), strict=True):
        strings.append(strings[one] + strings[other])
    return ByteStrings.from_list(strings)
