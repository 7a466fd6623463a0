"""The tensor directory: entries read one by one, then checked against the data section.

Offsets are not free: each tensor starts where the padded ones before it end. ggml's reader insists
on it, so a file that breaks the rule was damaged or made to mislead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from formats.errors import shown
from formats.gguf.cursor import CUT_SHORT
from formats.gguf.layout import MAX_DIMS
from formats.gguf.tensors import TensorInfo, padded, shape_fault
from formats.layout import Place, u32, u64

if TYPE_CHECKING:
    from collections.abc import Iterable

    from formats.gguf.cursor import Cursor


class Entry(NamedTuple):
    """A directory entry before its place in the file is known.

    Attributes:
        name, type_id, ne, offset: as in `TensorInfo`.
        start: where the entry starts in the file.
        offset_at: where its last field, the offset, lies in the file.

    """

    name: str
    type_id: int
    ne: tuple[int, ...]
    offset: int
    start: int
    offset_at: int


def read_directory(cursor: Cursor, count: int) -> list[Entry]:
    """Read `count` entries and check each by itself.

    Raises:
        FormatError: a name that is not UTF-8, holds NUL or is there twice, more than 4 dimensions,
            2^63 elements or more, a row that is not whole blocks, or the end of the file.

    """
    entries: list[Entry] = []
    starts: dict[str, int] = {}
    for index in range(count):
        place = cursor.place(f"tensors[{index}]")
        name = cursor.text(f"{place.path}.name", "a name")
        path = f"tensor {shown(name)}"
        if "\0" in name:
            raise place.field("name", 8).error("a name without NUL", shown(name))
        if name in starts:
            found = f"{shown(name)} again (first at offset 0x{starts[name]:X})"
            raise place.field("name", 8).error("a name that no other tensor has", found)
        starts[name] = place.offset
        entries.append(_read_entry(cursor, name, path, place.offset))
    return entries


def _read_entry(cursor: Cursor, name: str, path: str, start: int) -> Entry:
    dims_place = cursor.place(f"{path}.n_dims")
    n_dims = cursor.number(u32, dims_place.path)
    if n_dims > MAX_DIMS:
        raise dims_place.error(f"at most {MAX_DIMS} dimensions", str(n_dims))
    ne_at = cursor.offset
    ne = tuple(cursor.number(u64, f"{path}.ne[{index}]") for index in range(n_dims))
    type_id = cursor.number(u32, f"{path}.type")
    bad_shape = shape_fault(type_id, ne)
    if bad_shape:
        place = Place(cursor.file, f"{path}.{bad_shape.part}", ne_at + bad_shape.skip)
        raise place.error(bad_shape.expected, bad_shape.found)
    offset_at = cursor.offset
    offset = cursor.number(u64, f"{path}.offset")
    return Entry(name, type_id, ne, offset, start, offset_at)


def place_tensors(
    entries: Iterable[Entry], data_offset: int, alignment: int, size: int, file: str
) -> tuple[TensorInfo, ...]:
    """Check every entry's offset and end against the data section.

    The size of a tensor of unknown type is unknown as well: the one after it may start anywhere
    behind it, at a multiple of the alignment.

    Args:
        entries: in the directory's order.
        data_offset: where the data section starts in the file.
        alignment: of the data section and every tensor, in bytes.
        size: of the file, in bytes.
        file: its name, for messages.

    Raises:
        FormatError: an offset that is misaligned, leaves a gap or overlaps, or an end beyond the
            file. The last tensor's padding may be missing.

    """
    tensors: list[TensorInfo] = []
    expected, exact = 0, True
    for entry in entries:
        offset = entry.offset
        fits = offset == expected if exact else offset >= expected and offset % alignment == 0
        if not fits:
            place = Place(file, f"tensor {shown(entry.name)}.offset", entry.offset_at)
            sums = f"{expected} (the padded sizes before it)"
            words = sums if exact else f"a multiple of {alignment} from {expected} on"
            found = _misplaced(offset, expected, alignment, size - data_offset)
            raise place.error(words, f"{offset}, {found}")
        start = data_offset + offset
        tensor = TensorInfo(entry.name, entry.type_id, entry.ne, offset, start, entry.start)
        exact = tensor.size is not None
        length = tensor.size or 0
        if start + length > size:
            place = Place(file, f"tensor {shown(entry.name)}", entry.start)
            words = f"{length} bytes" if exact else "bytes"
            raise place.error(
                f"its {words} at 0x{start:X} inside the file of {size} bytes",
                f"an end at 0x{start + length:X} ({start + length})",
                CUT_SHORT,
            )
        tensors.append(tensor)
        expected = padded(offset + length, alignment)
    return tuple(tensors)


def _misplaced(offset: int, expected: int, alignment: int, section: int) -> str:
    """Say in what way an offset is wrong, for a data section of `section` bytes."""
    if offset % alignment:
        return f"not a multiple of the alignment {alignment}"
    if offset > section:
        return "beyond the end of the file"
    if offset < expected:
        return f"an overlap of {expected - offset} bytes"
    return f"a gap of {offset - expected} bytes"
