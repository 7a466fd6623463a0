"""A whole file as a declaration: its parts in order, its name, and how it is recognised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.layout.fields import Record

if TYPE_CHECKING:
    from formats.layout.fields import Field


class FileLayout(Record):
    """The parts of a file, from its first byte to its last.

    Attributes:
        name: of the format, as commands take it.
        file_name: what the project calls such a file, or a pattern: `*.gguf`.
        signature: the bytes it starts with; empty where nothing marks it.

    """

    def __init__(
        self, name: str, meaning: str, *fields: Field, file_name: str, signature: bytes = b""
    ) -> None:
        super().__init__(name, meaning, *fields)
        self.file_name = file_name
        self.signature = signature
