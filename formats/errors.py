"""The one error of this package, and how a foreign value is shown in it."""

from __future__ import annotations

SHOWN = 80
"""Characters of a foreign value that a message shows at the most."""


def shown(value: object) -> str:
    r"""Make a value from a file safe to print on one line.

    Text and bytes are quoted, cut to `SHOWN` characters, and every character that is not
    printable ASCII or a plain letter is escaped, so that a hostile name cannot drive a terminal.

    >>> shown("a\x1b[31m")
    "'a\\x1b[31m'"
    """
    if isinstance(value, str):
        cut, more = value[:SHOWN], len(value) - SHOWN
        # repr() escapes what is not printable; lone surrogates and separators are among that.
        return repr(cut) + (f"... ({len(value)} characters)" if more > 0 else "")
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value[: SHOWN // 4])
        more = len(value) - len(data)
        return f"bytes {data.hex(' ')}" + (f"... ({len(value)} bytes)" if more > 0 else "")
    return str(value)


class FormatError(ValueError):
    """Bytes that break their layout, or values that a layout cannot hold.

    `str()` is one line: file, path inside it, offset (hex and decimal), what was expected, what
    was found, and what to do about it where that is known.

    Attributes:
        expected, found: words for people.
        path: the place, as `section[index].field`; empty for the file as a whole.
        offset: byte offset in the file, or None where the fault has no single place.
        file: the file's name, or empty while only bytes are known.
        hint: what to do, or empty.

    """

    def __init__(
        self,
        expected: str,
        found: str,
        *,
        path: str = "",
        offset: int | None = None,
        file: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(expected, found)
        self.expected = expected
        self.found = found
        self.path = path
        self.offset = offset
        self.file = file
        self.hint = hint

    def __str__(self) -> str:
        at = "" if self.offset is None else f"offset 0x{self.offset:X} ({self.offset})"
        place = f"{self.path} at {at}" if self.path and at else self.path or at
        file = self.file if self.file.isprintable() else repr(self.file)
        parts = [part for part in (file, place) if part]
        line = ": ".join([*parts, f"expected {self.expected}, found {self.found}"])
        return f"{line}; {self.hint}" if self.hint else line
