"""A text in parts, as a tokenizer takes them up, and the way from its tokens back to the text's bytes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from pipeline.bpe.nfc import applied, changes
from pipeline.bpe.offsets import SourceMap

if TYPE_CHECKING:
    from collections.abc import Iterable


class Span(NamedTuple):
    """A token of a text.

    Fields:
        token: its id.
        start, end: what it was made from, as byte offsets in the text. Tokens that share a part which
            NFC changed share its offsets; what lies between two tokens got lost.
    """

    token: int
    start: int
    end: int


class Part(NamedTuple):
    """A part of a text.

    Fields:
        text: in NFC where that was asked for.
        special: its id where it is a special token, else None.
        start: where it begins in the passage, in bytes.
    """

    text: str
    special: int | None
    start: int


class Passage:
    """Parts behind each other, each ordinary one in NFC or as it was given.

    Attributes:
        parts: in order; none is empty.
        data: all of it in UTF-8. Offsets in a passage are offsets in this.
        is_as_given: NFC changed nothing, so that offsets in the passage are those in the text.

    """

    def __init__(self, parts: Iterable[tuple[str, int | None]], *, nfc: bool) -> None:
        self.parts: list[Part] = []
        self._starts: list[int] = []
        self._maps: list[tuple[int, SourceMap]] = []
        chunks: list[bytes] = []
        self.is_as_given = True
        at = source = 0
        for given, special in parts:
            found = list(changes(given)) if nfc and special is None else []
            text = applied(given, found)
            self.is_as_given = self.is_as_given and not found
            self.parts.append(Part(text, special, at))
            self._starts.append(at)
            self._maps.append((source, SourceMap(given, found)))
            chunks.append(text.encode())
            at += len(chunks[-1])
            source += len(given.encode())
        self.data = b"".join(chunks)

    def span(self, token: int, start: int, end: int) -> Span:
        """Give a token's place in the text, from its place in the passage."""
        if self.is_as_given:
            return Span(token, start, end)
        return Span(token, self._source_start(start), self._source_end(end))

    def _source_start(self, offset: int) -> int:
        index = bisect_right(self._starts, offset) - 1
        base, source = self._maps[index]
        return base + source.start(offset - self._starts[index])

    def _source_end(self, offset: int) -> int:
        index = max(bisect_left(self._starts, offset) - 1, 0)
        base, source = self._maps[index]
        return base + source.end(offset - self._starts[index])
