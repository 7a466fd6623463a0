"""Which rows of one list are those of another: rows that were put in or left out shift the rest."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass
class Alignment:
    """How two lists lie beside each other.

    Attributes:
        pairs: (row of the first, row of the second) of rows that stand for each other and differ.
        removed: rows of the first that the second has not.
        added: rows of the second that the first has not.

    """

    pairs: list[tuple[int, int]] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    added: list[int] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Rows that are not alike."""
        return len(self.pairs) + len(self.removed) + len(self.added)


def numbered(first: Sequence[Any], second: Sequence[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give equal rows of two lists equal numbers: shapes (n,) and (m,), int64."""
    numbers: dict[Any, int] = {}
    found = [
        np.fromiter((numbers.setdefault(row, len(numbers)) for row in rows), np.int64, len(rows))
        for rows in (first, second)
    ]
    return found[0], found[1]


def align(first: NDArray[np.int64], second: NDArray[np.int64]) -> Alignment:
    """Align two lists of row numbers, of shapes (n,) and (m,).

    Rows that occur once in both, in the same order, are anchors; what lies between two anchors is
    compared from its ends, and what is left stands for each other in order.
    """
    result = Alignment()
    before = (0, 0)
    for anchor in [*_anchors(first, second), (len(first), len(second))]:
        _between(first, second, before, anchor, result)
        before = (anchor[0] + 1, anchor[1] + 1)
    return result


def _anchors(first: NDArray[np.int64], second: NDArray[np.int64]) -> list[tuple[int, int]]:
    """List (row, row) of the rows that occur once in each list, as many as keep their order."""
    size = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
    once = (np.bincount(first, minlength=size) == 1) & (np.bincount(second, minlength=size) == 1)
    where = np.zeros(size, dtype=np.int64)
    where[second] = np.arange(len(second))
    rows = np.flatnonzero(once[first])
    others = where[first[rows]]
    return [(int(rows[at]), int(others[at])) for at in _longest_rise(others.tolist())]


def _longest_rise(values: list[int]) -> list[int]:
    """Choose the positions of a longest rising run of values."""
    ends: list[int] = []
    positions: list[int] = []
    before = [-1] * len(values)
    for at, value in enumerate(values):
        place = bisect_left(ends, value)
        before[at] = positions[place - 1] if place else -1
        if place == len(ends):
            ends.append(value)
            positions.append(at)
        else:
            ends[place], positions[place] = value, at
    chosen = []
    at = positions[-1] if positions else -1
    while at >= 0:
        chosen.append(at)
        at = before[at]
    return chosen[::-1]


def _between(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    start: tuple[int, int],
    stop: tuple[int, int],
    result: Alignment,
) -> None:
    (one, other), (one_end, other_end) = start, stop
    while one < one_end and other < other_end and first[one] == second[other]:
        one, other = one + 1, other + 1
    while one < one_end and other < other_end and first[one_end - 1] == second[other_end - 1]:
        one_end, other_end = one_end - 1, other_end - 1
    paired = min(one_end - one, other_end - other)
    result.pairs += [(one + at, other + at) for at in range(paired) if first[one + at] != second[other + at]]
    result.removed += range(one + paired, one_end)
    result.added += range(other + paired, other_end)
