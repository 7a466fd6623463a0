"""Proving that the tokens of a vocabulary are what merging makes of their bytes.

Some profiles find tokens otherwise than by merging, and are exact only where all of this holds:

1. The ids 0 to 255 are the single bytes, and merge number r makes id 256 + r of two lower ids. So a
   token is made by one merge only, and a lower id means an earlier merge.
2. Merging the bytes of a token gives that token. By induction over the ids this needs a look at the
   border between its two parts only: no earlier merge may cross it.

Then a sequence of tokens is what merging makes of its bytes if, and only if, that holds for each two
neighbours, which again is a matter of the merges that could cross the border between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from formats.errors import FormatError
from formats.q25tokrt.layout import N_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_SPINE = 32
"""The most that the last merge of a token can be undone and then that of its left part, and so on; the
same of its right parts. It bounds what one look at a border costs a reader."""

STANDARD_SERVES = "profile standard serves any vocabulary"
"""What to do about a vocabulary that lacks what another profile needs."""

_PATH = "merge_table"


def prove(left: NDArray[Any], right: NDArray[Any], out: NDArray[Any], byte_tokens: NDArray[Any]) -> None:
    """Prove what the head of this module says.

    Args:
        left, right, out: shape (n_merges,), token ids in rank order.
        byte_tokens: shape (256,), the id of each single byte.

    Raises:
        FormatError: the first merge or byte for which it does not hold.

    """
    require_made_ids(left, right, out, byte_tokens)
    made = np.arange(len(left), dtype=np.int64) + N_BYTES
    left, right = left.astype(np.int64), right.astype(np.int64)
    for side, parts in (("left", left), ("right", right)):
        _require_short_spines(side, parts)
    _require_derivation(left, right, made)


def require_made_ids(
    left: NDArray[Any], right: NDArray[Any], out: NDArray[Any], byte_tokens: NDArray[Any]
) -> None:
    """Prove the first point alone, which another profile needs too; arguments and errors as for `prove`."""
    if not np.array_equal(np.sort(byte_tokens), np.arange(N_BYTES)):
        wrong = int(np.argmax(byte_tokens >= N_BYTES))
        raise _refusal(f"byte_token_map[{wrong}]", "an id below 256 for each byte", str(byte_tokens[wrong]))
    made = np.arange(len(left), dtype=np.int64) + N_BYTES
    left, right = left.astype(np.int64), right.astype(np.int64)
    wrong_out = np.flatnonzero(out != made)
    if len(wrong_out):
        row = int(wrong_out[0])
        raise _refusal(f"{_PATH}[{row}].out_id", f"rank + 256 = {row + N_BYTES}", str(out[row]))
    late = np.flatnonzero(np.maximum(left, right) >= made)
    if len(late):
        row = int(late[0])
        found = f"{left[row]} and {right[row]}"
        raise _refusal(f"{_PATH}[{row}]", f"two ids below the one made, {made[row]}", found)


def _require_short_spines(side: str, parts: NDArray[np.int64]) -> None:
    """Refuse a token whose parts on one side come apart more than MAX_SPINE times."""
    rows = np.arange(len(parts))
    tokens = parts.copy()
    for _ in range(MAX_SPINE):
        inner = tokens >= N_BYTES
        rows, tokens = rows[inner], parts[tokens[inner] - N_BYTES]
    if len(rows):
        row = int(rows[0])
        expected = f"a token of at most {MAX_SPINE} merges along its {side} parts"
        raise _refusal(f"{_PATH}[{row}]", expected, "more")


def _require_derivation(left: NDArray[np.int64], right: NDArray[np.int64], made: NDArray[np.int64]) -> None:
    """Refuse a merge whose token merging does not make, because an earlier merge crosses its border."""
    keys = left << 32 | right
    order = np.argsort(keys)
    keys = keys[order]
    rows, limit = made - N_BYTES, made.copy()
    a, b = left, right
    while len(rows):
        # Undoing inside the parts what was merged last shows which pairs met at the border, and up
        # to which id they had the chance to be merged.
        crossing = _ids_of(a << 32 | b, keys, order)
        crossed = np.flatnonzero(crossing < limit)
        if len(crossed):
            row = int(rows[crossed[0]])
            raise _refusal(
                f"{_PATH}[{row}]",
                f"that merging the bytes of token {row + N_BYTES} makes it",
                f"an earlier merge, to {crossing[crossed[0]]}, across its two parts",
            )
        of_left = a > b
        last = np.maximum(a, b)
        inner = last >= N_BYTES
        rows, of_left, last = rows[inner], of_left[inner], last[inner]
        limit = np.where(of_left, last, last + 1)
        a = np.where(of_left, right[last - N_BYTES], a[inner])
        b = np.where(of_left, b[inner], left[last - N_BYTES])


def _ids_of(pairs: NDArray[np.int64], keys: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the id that each pair is merged to; one above all where it is not."""
    if not len(keys):
        return np.full(len(pairs), np.iinfo(np.int64).max)
    at = np.minimum(np.searchsorted(keys, pairs), len(keys) - 1)
    return np.where(keys[at] == pairs, order[at] + N_BYTES, np.iinfo(np.int64).max)


def _refusal(path: str, expected: str, found: str) -> FormatError:
    return FormatError(expected, found, path=path, hint=STANDARD_SERVES)
