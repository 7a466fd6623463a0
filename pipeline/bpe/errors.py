"""What encoding and decoding refuse."""

from __future__ import annotations

from pipeline.errors import ModelError, UsageError


class TextError(UsageError):
    """A text that is not well-formed Unicode.

    Attributes:
        offset: where it breaks: a byte offset for bytes, a character index for `str`.

    """

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class TokenIdError(UsageError):
    """An id that the vocabulary does not have.

    Attributes:
        index: its place among the ids given, from 0.

    """

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index


class PretokenizerError(ModelError):
    """A model whose rule of splitting text is unknown here: it cannot be encoded exactly."""


class UnicodeTablesError(ModelError):
    """A vocabulary that was checked with Unicode tables of other versions than the encoder's."""


class ByteTokenError(ModelError):
    """A text holds a byte for which the vocabulary has no token."""
