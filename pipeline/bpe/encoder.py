"""Text to token ids in plain Python: special tokens, NFC, the split rule, merges by rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.bpe.merging import merge
from pipeline.bpe.text_encoder import TextEncoder

if TYPE_CHECKING:
    from pipeline.bpe.tables import TokenTables
    from pipeline.bpe.text_encoder import Invalid, Specials

CACHED_PIECES = 1 << 15
"""Pieces whose ids are kept; when there are so many, all are dropped."""

CACHED_LENGTH = 32
"""Characters of the longest piece that is kept."""


class Encoder(TextEncoder):
    """A `TextEncoder` that needs nothing but its tables."""

    def __init__(self, tables: TokenTables, specials: Specials = "all", invalid: Invalid = "error") -> None:
        super().__init__(tables, specials, invalid)
        self._merge = tables.merge
        self._cache: dict[str, list[int]] = {}

    def encode(self, text: str | bytes) -> list[int]:
        """Return the ids of a text; errors as `TextEncoder` says."""
        ids: list[int] = []
        for part in self._parts(self._checked(text)):
            if isinstance(part, str):
                ids += self.piece_ids(part)
            else:
                ids.append(part)
        return ids

    def piece_ids(self, piece: str) -> list[int]:
        """Return the ids of a piece; the list is kept for the next such piece and must not be changed."""
        ids = self._cache.get(piece)
        if ids is None:
            ids = merge(self._start_tokens(piece), self._merge)
            if len(piece) <= CACHED_LENGTH:
                if len(self._cache) >= CACHED_PIECES:
                    self._cache.clear()
                self._cache[piece] = ids
        return ids
