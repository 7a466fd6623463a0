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
    blob = record.fields[-1].subcon
    if not isinstance(blob, Blob):
        raise TypeError(f"{record.name} does not end in a string")
    head = record.offset_of(record.fields[-1].name)
    length_at = record.offset_of(blob.length_field)
    length_field = next(field for field in record.fields if field.name == blob.length_field)
    unpack = struct.Struct(length_field.subcon.fmtstr).unpack_from

    limit = len(data)
    last = limit - head
    if offset > limit:
        raise place.error(f"a start inside the {limit} bytes", f"a start at {offset}")
    left = limit - offset
    if count > left // head:
        raise place.error(
            f"at most {left // head} elements of {head} bytes or more in the {left} bytes left", str(count)
        )
    starts = array("q")
    append = starts.append
    at = offset
    for _ in range(count):
        if at > last:
            break
        (length,) = unpack(data, at + length_at)
        append(at + head)
        at += head + length
    if at > limit:
        # The string found last is the one that is too long.
        begin = starts[-1] - head
        cell = place.index(len(starts) - 1, begin - offset).field(blob.length_field, length_at)
        raise cell.error(f"at most the {limit - starts[-1]} bytes left", str(at - starts[-1]))
    if len(starts) < count:
        cell = place.index(len(starts), at - offset)
        raise cell.error(f"{head} bytes or more", f"{limit - at} bytes before the end")

    begins = np.frombuffer(starts, dtype=np.int64) if count else np.empty(0, dtype=np.int64)
    lengths = np.empty(count, dtype=np.int64)
    if count:
        lengths[:-1] = begins[1:] - head - begins[:-1]
        lengths[-1] = at - begins[-1]
    return Frames(record, ByteStrings(np.frombuffer(data, dtype=np.uint8), begins, lengths), at)
