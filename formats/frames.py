"""Records that end in a string of their own length: one pass finds them all.

GGUF string arrays, vocab.bin and tokenizer.bin share the shape: a small header that holds a length,
then that many bytes. Where a record starts is known only once the one before it has been read, so
this is the one loop over all tokens; it does nothing else. Layouts are declared with construct,
which takes seconds for 150,000 such records.
"""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.byte_strings import ByteStrings
from formats.layout import Blob, Place, Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Frames:
    """What one pass found.

    Attributes:
        record: the layout of each record.
        strings: the records' last fields, in order.
        end: offset of the first byte behind the last record, in the scanned buffer.

    """

    record: Record
    strings: ByteStrings
    end: int

    def headers(self) -> NDArray[Any]:
        """Copy the fields before each string.

        Returns:
            shape (n,), structured: one column for each field but the last.

        """
        dtype = self.record.head().dtype
        firsts = self.strings.starts - dtype.itemsize
        rows: NDArray[np.uint8] = self.strings.data[firsts[:, None] + np.arange(dtype.itemsize)]
        return rows.reshape(-1).view(dtype)


def scan_frames(data: Any, offset: int, count: int, record: Record, place: Place) -> Frames:
    """Find `count` records in a row, each a header of fixed size and a string of its own length.

    Args:
        data: the buffer; the records end inside it.
        offset: where the first record starts, in bytes.
        count: number of records.
        record: fields of fixed size, then a `Blob` whose length is one of them.
        place: the list's place in its file: its path, and the file's offset of the first record.

    Returns:
        The strings as a view of `data`.

    Raises:
        FormatError: the count, a header or a length goes beyond the end of `data`; with the
            record's index.

    """
    head, length_name, length_at, _ = _shape(record)
    limit = len(data)
    if offset > limit:
        raise place.error(f"a start inside the {limit} bytes", f"a start at {offset}")
    left = limit - offset
    if count > left // head:
        raise place.error(
            f"at most {left // head} elements of {head} bytes or more in the {left} bytes left", str(count)
        )
    frames, length = find_frames(data, offset, count, record)
    whole, at = len(frames.strings), frames.end
    if length is not None:
        # The string found last is the one that is too long.
        cell = place.index(whole, at - offset).field(length_name, length_at)
        raise cell.error(f"at most the {limit - at - head} bytes left", str(length))
    if whole < count:
        cell = place.index(whole, at - offset)
        raise cell.error(f"{head} bytes or more", f"{limit - at} bytes before the end")
    return frames


def find_frames(data: Any, offset: int, count: int, record: Record) -> tuple[Frames, int | None]:
    """Find the first of `count` records that lie inside `data` as a whole.

    Returns:
        these records, and the length that the next one states where its header is there but its
        string goes beyond the end.

    """
    head, _, length_at, unpack = _shape(record)
    limit = len(data)
    last = limit - head
    starts = array("q")
    append = starts.append
    at = offset
    for _ in range(count):
        if at > last:
            break
        (length,) = unpack(data, at + length_at)
        append(at + head)
        at += head + length
    too_long = None
    if at > limit:
        start = starts.pop()
        too_long = at - start
        at = start - head
    begins = np.frombuffer(starts, dtype=np.int64) if starts else np.empty(0, dtype=np.int64)
    lengths = np.empty(len(begins), dtype=np.int64)
    if len(begins):
        lengths[:-1] = begins[1:] - head - begins[:-1]
        lengths[-1] = at - begins[-1]
    strings = ByteStrings(np.frombuffer(data, dtype=np.uint8), begins, lengths)
    return Frames(record, strings, at), too_long


def ends_in_string(record: Record) -> bool:
    """Tell whether a record is a header of fixed size and a string whose length is in it."""
    return isinstance(record.fields[-1].subcon, Blob) and len(record.head().fields) == len(record.fields) - 1


def _shape(record: Record) -> tuple[int, str, int, Callable[[Any, int], tuple[int]]]:
    """Give the header's size, the length's name and offset in it, and what reads it."""
    if not ends_in_string(record):
        raise TypeError(f"{record.name} does not end in a string")
    blob = record.fields[-1].subcon
    length = next(field for field in record.fields if field.name == blob.length_field)
    unpack: Any = struct.Struct(length.subcon.fmtstr).unpack_from
    head = record.offset_of(record.fields[-1].name)
    return head, length.name, record.offset_of(length.name), unpack
