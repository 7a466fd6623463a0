"""What a caller expects of a value, so that a wrong one is refused by its key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from formats.gguf.cursor import BADLY_MADE, not_utf8
from formats.gguf.value_types import INTEGERS, ValueType

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from formats.byte_strings import ByteStrings
    from formats.gguf.values import GgufValue

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """A kind of value.

    Attributes:
        words: for messages: "an integer".
        fits: whether a value is of this kind, by its type.
        convert: what the caller gets.

    """

    words: str
    fits: Callable[[GgufValue], bool]
    convert: Callable[[GgufValue], T]

    def read(self, value: GgufValue) -> T:
        """Return the value.

        Raises:
            FormatError: it is of another kind, or does not convert; with its key and offset.

        """
        if not self.fits(value):
            raise value.place.error(self.words, value.type_label, BADLY_MADE)
        return self.convert(value)


def _text(value: GgufValue) -> str:
    raw: Any = value.value
    try:
        return str(raw, "utf-8")
    except UnicodeDecodeError as error:
        place = value.place.field("text", value.offset - value.place.offset)
        raise place.error("text in UTF-8", not_utf8(raw, error), BADLY_MADE) from None


def _integers(value: GgufValue) -> NDArray[np.int64]:
    column: Any = value.value
    if value.element_type is ValueType.UINT64 and value.count and int(column.max()) >= 2**63:
        index = int(np.argmax(column >= np.uint64(2**63)))
        raise value.element(index).error("an integer below 2^63", str(column[index]), BADLY_MADE)
    return np.asarray(column, dtype=np.int64)


def _plain(value: GgufValue) -> Any:
    return value.value


INT: Kind[int] = Kind("an integer", lambda value: value.type in INTEGERS, _plain)
"""An integer of any width and sign."""

BOOL: Kind[bool] = Kind("a bool", lambda value: value.type is ValueType.BOOL, _plain)

BYTES: Kind[bytes] = Kind("a string", lambda value: value.type is ValueType.STRING, _plain)
"""A string as the bytes in the file."""

STR: Kind[str] = Kind("a string", lambda value: value.type is ValueType.STRING, _text)
"""A string as text; refused where it is not UTF-8."""

STRINGS: Kind[ByteStrings] = Kind(
    "an array of strings", lambda value: value.element_type is ValueType.STRING, _plain
)

INTS: Kind[NDArray[np.int64]] = Kind(
    "an array of integers", lambda value: value.element_type in INTEGERS, _integers
)
"""Integers of any width and sign, as int64 of shape (count,)."""
