"""Many byte strings in one buffer: how token and merge lists are held, read and written.

A list of 152,000 `bytes` objects costs tens of milliseconds to make and again to take apart, for
every step that touches it. Here the strings stay where the file has them, as columns of starts and
lengths over one array of bytes, and are copied all at once where a table is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

_BLOCK = 1 << 16
"""Bytes copied in one go: keeps the index arrays, 8 bytes for each byte copied, in the cache."""


@dataclass(frozen=True, slots=True, eq=False)
class ByteStrings:
    """Byte strings as runs of one buffer; they may overlap, touch or lie apart, in any order.

    Attributes:
        data: shape (size,), uint8: the buffer, usually a view of a mapped file.
        starts: shape (n,), int64: where each string starts in `data`, in bytes.
        lengths: shape (n,), int64: the length of each string, in bytes.

    Raises:
        ValueError: shapes or types are wrong, or a string does not lie inside `data`.

    """

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def __post_init__(self) -> None:
        for name, column, dtype in (
            ("data", self.data, np.uint8),
            ("starts", self.starts, np.int64),
            ("lengths", self.lengths, np.int64),
        ):
            if column.ndim != 1 or column.dtype != dtype:
                raise ValueError(
                    f"{name}: {column.dtype} of shape {column.shape}, not {dtype.__name__} of (n,)"
                )
        if self.starts.shape != self.lengths.shape:
            raise ValueError(f"{len(self.starts)} starts and {len(self.lengths)} lengths")
        inside = (self.starts >= 0) & (self.lengths >= 0) & (self.starts <= len(self.data) - self.lengths)
        if not inside.all():
            first = int(np.argmin(inside))
            raise ValueError(
                f"string {first}: {self.lengths[first]} bytes at {self.starts[first]} lie outside "
                f"the buffer of {len(self.data)} bytes"
            )

    @classmethod
    def from_list(cls, strings: Iterable[bytes]) -> ByteStrings:
        """Hold copies of the given strings, back to back."""
        items = list(strings)
        lengths = np.fromiter(map(len, items), dtype=np.int64, count=len(items))
        return cls(np.frombuffer(b"".join(items), dtype=np.uint8), np.cumsum(lengths) - lengths, lengths)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> bytes:
        start = int(self.starts[index])
        return self.data[start : start + int(self.lengths[index])].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        # Slices of one bytes object cost a third of those of a mapped file.
        joined, offsets = self.joined(), self.offsets().tolist()
        return (joined[start:end] for start, end in pairwise(offsets))

    def take(self, ids: NDArray[Any] | Sequence[int]) -> ByteStrings:
        """Select strings by index or by a mask, in the given order; no byte is copied."""
        rows = np.asarray(ids, dtype=None if len(ids) else np.intp)
        return ByteStrings(self.data, self.starts[rows], self.lengths[rows])

    def offsets(self) -> NDArray[np.int64]:
        """Return where each string lies in `joined()`.

        Returns:
            shape (n + 1,), int64: string i is `joined()[offsets[i]:offsets[i + 1]]`, and the last
            offset is the total size in bytes.

        """
        offsets = np.zeros(len(self) + 1, dtype=np.int64)
        np.cumsum(self.lengths, out=offsets[1:])
        return offsets

    def joined(self) -> bytes:
        """Copy all strings back to back, in order."""
        offsets = self.offsets()
        if len(self) and np.array_equal(self.starts, self.starts[0] + offsets[:-1]):
            return self.data[self.starts[0] : self.starts[0] + offsets[-1]].tobytes()
        out = np.empty(int(offsets[-1]), dtype=np.uint8)
        _copy_runs(self.data, self.starts, out, offsets[:-1], self.lengths)
        return out.tobytes()

    def compact(self) -> ByteStrings:
        """Copy all strings back to back, in order: what goes through them again is quicker."""
        offsets = self.offsets()
        return ByteStrings(np.frombuffer(self.joined(), dtype=np.uint8), offsets[:-1], self.lengths)

    def framed(self, headers: NDArray[Any]) -> bytes:
        """Copy all strings in order, each behind a header of its own.

        Args:
            headers: shape (n, h), uint8: the h bytes before each string; or shape (n,) of a
                packed record's dtype.

        Raises:
            ValueError: there is not one header for each string.

        """
        count = len(self)
        if len(headers) != count:
            raise ValueError(f"{len(headers)} headers for {count} strings")
        heads = np.ascontiguousarray(headers).view(np.uint8).reshape(count, -1) if count else np.empty((0, 0))
        offsets = self.offsets()
        size = heads.shape[1]
        out = np.empty(int(offsets[-1]) + count * size, dtype=np.uint8)
        frames = offsets[:-1] + np.arange(count, dtype=np.int64) * size
        for column in range(size):
            out[frames + column] = heads[:, column]
        _copy_runs(self.data, self.starts, out, frames + size, self.lengths)
        return out.tobytes()


def _copy_runs(
    source: NDArray[np.uint8],
    source_starts: NDArray[np.int64],
    target: NDArray[np.uint8],
    target_starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> None:
    """Copy run i, of `lengths[i]` bytes, from its start in `source` to its start in `target`."""
    ends = np.cumsum(lengths)
    row, done = 0, 0
    while row < len(lengths):
        stop = int(np.searchsorted(ends, done + _BLOCK, side="right"))
        if stop <= row:
            # One run longer than a block: a plain slice needs no index array.
            start, target_start, length = int(source_starts[row]), int(target_starts[row]), int(lengths[row])
            target[target_start : target_start + length] = source[start : start + length]
            stop = row + 1
        else:
            runs = lengths[row:stop]
            within = np.arange(int(ends[stop - 1]) - done, dtype=np.int64)
            firsts = ends[row:stop] - runs - done
            picked = source[np.repeat(source_starts[row:stop] - firsts, runs) + within]
            target[np.repeat(target_starts[row:stop] - firsts, runs) + within] = picked
        row, done = stop, int(ends[stop - 1])
