"""Where in a file something lies: the start of every message about bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from formats.errors import FormatError


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a file, by name and by offset.

    Attributes:
        file: the file's name as the user knows it, or empty.
        path: the place inside the file, as `section[index].field`.
        offset: byte offset of that place in the file.

    """

    file: str = ""
    path: str = ""
    offset: int = 0

    def field(self, name: str, offset: int = 0) -> Place:
        """Go to a named part that starts `offset` bytes after this place."""
        return replace(self, path=f"{self.path}.{name}" if self.path else name, offset=self.offset + offset)

    def index(self, number: int, offset: int = 0) -> Place:
        """Go to an element that starts `offset` bytes after this place."""
        return replace(self, path=f"{self.path}[{number}]", offset=self.offset + offset)

    def at(self, offset: int) -> Place:
        """Stay in the same part, `offset` bytes after this place."""
        return replace(self, offset=self.offset + offset)

    def error(self, expected: str, found: str, hint: str = "") -> FormatError:
        """Make the refusal for a fault at this place."""
        return FormatError(expected, found, path=self.path, offset=self.offset, file=self.file, hint=hint)
