"""A position in a file's bytes that never reads past their end."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from formats.errors import shown
from formats.layout import Place, u64

if TYPE_CHECKING:
    import construct

CUT_SHORT = "the file is cut short or damaged: fetch it again"
"""What to do about a file that states more than it holds."""

BADLY_MADE = "the file is damaged or badly made: fetch it or convert the model again"
"""What to do about any other fault, where nothing better is known."""


class Cursor:
    """Reads numbers and strings one after the other; every read is checked first.

    Attributes:
        data: the whole file, shape (size,), bytes.
        file: the file's name, for messages.
        offset: of the next byte to read, in bytes.

    """

    __slots__ = ("data", "file", "offset")

    def __init__(self, data: memoryview, file: str, offset: int = 0) -> None:
        self.data = data
        self.file = file
        self.offset = offset

    @property
    def left(self) -> int:
        """Bytes from here to the end of the file."""
        return len(self.data) - self.offset

    def place(self, path: str) -> Place:
        """Name the current position."""
        return Place(self.file, path, self.offset)

    def skip(self, size: int, path: str) -> int:
        """Pass over bytes.

        Returns:
            The offset of the first of them.

        Raises:
            FormatError: fewer are left.

        """
        start = self.offset
        if size > self.left:
            raise self.place(path).error(f"{size} bytes", f"{self.left} bytes before the end", CUT_SHORT)
        self.offset = start + size
        return start

    def number(self, layout: construct.FormatField, path: str) -> Any:
        """Read one number of a declared layout, such as `u32`.

        Raises:
            FormatError: the file ends inside it.

        """
        return struct.unpack_from(layout.fmtstr, self.data, self.skip(layout.length, path))[0]

    def string(self, path: str) -> tuple[int, int]:
        """Pass over a string: its length as u64, then its bytes.

        Returns:
            The offset of its first byte, and its length.

        Raises:
            FormatError: the file ends inside it.

        """
        place = self.place(f"{path}.length")
        length = self.number(u64, place.path)
        if length > self.left:
            raise place.error(f"at most the {self.left} bytes left", str(length), CUT_SHORT)
        return self.skip(length, path), length

    def text(self, path: str, words: str) -> str:
        """Read a string that must be UTF-8.

        Args:
            path: the place, for messages.
            words: what the text is: "a key".

        Raises:
            FormatError: it is not UTF-8, or the file ends inside it.

        """
        start, length = self.string(path)
        raw = bytes(self.data[start : start + length])
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Place(self.file, path, start).error(f"{words} in UTF-8", not_utf8(raw, error)) from None


def not_utf8(raw: bytes, error: UnicodeDecodeError) -> str:
    """Put into words where bytes stop being UTF-8."""
    return f"{shown(raw)} (byte {error.start} does not fit)"
