"""Byte-level BPE by rank without a pre-tokenizer: the whole text is one piece.

Merges are those of the model and the lowest rank goes first, so ids differ from the model's own only
where merges run across what the pre-tokenizer would have parted, where NFC would have changed the
text, and where special tokens stand in it: none of the three is done here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from pipeline.bpe.merging import merge

if TYPE_CHECKING:
    from collections.abc import Iterable

CACHED_PAIRS = 1 << 17


class MergeTables(Protocol):
    """The part of `pipeline.bpe.tables.TokenTables` that is needed here."""

    def byte_token(self, byte: int) -> int | None:
        """Return the id of the token that is exactly this byte, or None."""

    def merge(self, left: int, right: int) -> tuple[int, int] | None:
        """Return (rank, id of the result) of the merge of two tokens, or None."""

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes that a token stands for."""


class RankBpe:
    """Encodes and decodes with a vocabulary's byte tokens and merges; n bytes take O(n log n) steps."""

    def __init__(self, tables: MergeTables) -> None:
        self._tables = tables
        self._byte_tokens = [tables.byte_token(byte) for byte in range(256)]
        self._merge = lru_cache(CACHED_PAIRS)(tables.merge)

    def encode(self, text: bytes) -> list[int]:
        """Return the ids of a text; bytes for which the vocabulary has no token are left out."""
        found = map(self._byte_tokens.__getitem__, text)
        return merge([token for token in found if token is not None], self._merge)

    def decode(self, ids: Iterable[int]) -> bytes:
        """Return the bytes that the ids stand for."""
        return b"".join(map(self._tables.token_bytes, ids))
