"""Key/value pairs: found in one pass with every length checked, decoded when asked for."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.byte_strings import ByteStrings
from formats.errors import FormatError, shown
from formats.frames import scan_frames
from formats.gguf.cursor import CUT_SHORT, Cursor
from formats.gguf.layout import ELEMENT_TYPES, KEY_LENGTHS, SCALARS, STRING
from formats.gguf.value_types import ValueType
from formats.layout import Place, u32, u64
from formats.layout.dtypes import dtype_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STRING_HEAD = STRING.offset_of("text")


@dataclass(frozen=True, slots=True, eq=False)
class GgufValue:
    """A value where it lies in the file.

    Attributes:
        place: the pair's place: `key 'name'` and the offset of the pair.
        type: the value's type.
        element_type: the elements' type for an array, else None.
        count: number of elements of an array, else 1.
        offset: of the first byte of the number, of the text, or of the elements.
        size: bytes of the number, of the text, or of all elements (with their lengths).

    """

    place: Place
    type: ValueType
    element_type: ValueType | None
    count: int
    offset: int
    size: int
    _data: memoryview = field(repr=False)
    _runs: tuple[NDArray[np.int64], NDArray[np.int64]] | None = field(default=None, repr=False)

    @property
    def type_label(self) -> str:
        """The type in words: `u32`, `string`, `array of i32`."""
        return self.type.label if self.element_type is None else f"array of {self.element_type.label}"

    @property
    def value(self) -> bool | int | float | bytes | ByteStrings | NDArray[Any]:
        """The value.

        Numbers and bools come as Python's, a string as its bytes, an array of strings as
        `ByteStrings`, any other array as a column of shape (count,) and its own type. Arrays are
        views of the file.

        Raises:
            ValueError: the file has been closed.

        """
        if self._runs is not None:
            # A slice is a view of its own, which does not keep the file's from being released.
            return ByteStrings(np.frombuffer(self._data[:], dtype=np.uint8), *self._runs)
        if self.element_type is not None:
            is_bool = self.element_type is ValueType.BOOL
            dtype = np.dtype(np.bool_) if is_bool else dtype_of(SCALARS[self.element_type])
            return np.frombuffer(self._data[self.offset : self.offset + self.size], dtype=dtype)
        if self.type is ValueType.STRING:
            return bytes(self._data[self.offset : self.offset + self.size])
        number: int | float = struct.unpack_from(SCALARS[self.type].fmtstr, self._data, self.offset)[0]
        return bool(number) if self.type is ValueType.BOOL else number

    def element(self, index: int) -> Place:
        """Return the place of an element of an array, for messages."""
        if self._runs is not None:
            start = int(self._runs[0][index]) - _STRING_HEAD
        else:
            start = self.offset + index * (self.size // max(self.count, 1))
        return self.place.index(index, start - self.place.offset)


def read_key_values(cursor: Cursor, count: int) -> dict[str, GgufValue]:
    """Find `count` pairs, in the file's order.

    Raises:
        FormatError: a key that is empty, too long, not UTF-8 or there twice, an unknown type, an
            array of arrays, a bool that is neither 0 nor 1, or anything beyond the end of the file.

    """
    values: dict[str, GgufValue] = {}
    for index in range(count):
        place = cursor.place(f"key_values[{index}]")
        key = _read_key(cursor, place)
        place = Place(place.file, f"key {shown(key)}", place.offset)
        if key in values:
            first = values[key].place.offset
            raise place.error("each key once", f"it again (first at offset 0x{first:X})")
        values[key] = _read_value(cursor, place)
    return values


def _read_key(cursor: Cursor, pair: Place) -> str:
    place = pair.field("key")
    key = cursor.text(place.path, "a key")
    length = cursor.offset - place.offset - _STRING_HEAD
    if not KEY_LENGTHS.holds(length):
        raise place.field("length").error(f"{KEY_LENGTHS.words} bytes", str(length))
    return key


def _read_value(cursor: Cursor, place: Place) -> GgufValue:
    type_place = cursor.place(f"{place.path}.type")
    type_id = cursor.number(u32, type_place.path)
    if type_id > max(ValueType):
        raise type_place.error("a value type from 0 to 12", str(type_id))
    kind = ValueType(type_id)
    if kind is ValueType.ARRAY:
        return _read_array(cursor, place)
    if kind is ValueType.STRING:
        return GgufValue(place, kind, None, 1, *cursor.string(place.path), cursor.data)
    size = SCALARS[kind].length
    start = cursor.skip(size, place.path)
    if kind is ValueType.BOOL and cursor.data[start] > 1:
        raise Place(place.file, place.path, start).error("a bool, 0 or 1", str(cursor.data[start]))
    return GgufValue(place, kind, None, 1, start, size, cursor.data)


def _read_array(cursor: Cursor, place: Place) -> GgufValue:
    type_place = cursor.place(f"{place.path}.element_type")
    type_id = cursor.number(u32, type_place.path)
    if not ELEMENT_TYPES.holds(type_id):
        found = "an array of arrays" if type_id == ValueType.ARRAY else str(type_id)
        raise type_place.error(ELEMENT_TYPES.words, found)
    kind = ValueType(type_id)
    count_place = cursor.place(f"{place.path}.count")
    count = cursor.number(u64, count_place.path)
    smallest = _STRING_HEAD if kind is ValueType.STRING else SCALARS[kind].length
    if count > cursor.left // smallest:
        expected = (
            f"at most {cursor.left // smallest} elements of type {kind.label} in the {cursor.left} bytes left"
        )
        raise count_place.error(expected, str(count), CUT_SHORT)
    start = cursor.offset
    if kind is ValueType.STRING:
        try:
            frames = scan_frames(cursor.data, start, count, STRING, Place(place.file, place.path, start))
        except FormatError as error:
            error.hint = CUT_SHORT
            raise
        cursor.offset = frames.end
        runs = frames.strings.starts, frames.strings.lengths
        return GgufValue(place, ValueType.ARRAY, kind, count, start, frames.end - start, cursor.data, runs)
    size = count * smallest
    cursor.skip(size, place.path)
    value = GgufValue(place, ValueType.ARRAY, kind, count, start, size, cursor.data)
    if kind is ValueType.BOOL:
        wrong = _first_wrong_bool(cursor.data[start : cursor.offset])
        if wrong is not None:
            raise value.element(wrong).error("a bool, 0 or 1", str(cursor.data[start + wrong]))
    return value


def _first_wrong_bool(data: memoryview) -> int | None:
    column = np.frombuffer(data, dtype=np.uint8)
    # The maximum first: it needs no memory, and the comparison needs as much as the array.
    return int(np.argmax(column > 1)) if len(column) and column.max() > 1 else None
