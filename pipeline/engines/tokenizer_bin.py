"""The small C engine that reads tokenizer.bin: BPE by rank on an approximation of the pre-tokenizer.

A text is cut into pieces by `approximate_split`. Each byte of a piece becomes its glyph of the byte
alphabet, whose id the string table has; then the merge of the lowest rank is done, again and again,
and the string table has the id of what two texts make when joined. Neither NFC nor special tokens are
looked for in the text. A BOS token is put in front on request.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from formats.byte_level import BYTE_OF_GLYPH, GLYPHS
from pipeline.bpe.merging import merge
from pipeline.engines.approximate_split import approximate_split
from pipeline.engines.string_table import StringTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from formats.tokenizer_bin import TokenizerBin

CACHED_PIECES = 1 << 15
CACHED_PAIRS = 1 << 17


class TokenizerBinEngine:
    """Encodes and decodes with a tokenizer.bin of either layout.

    Args:
        file: what `formats.tokenizer_bin.read` gives.

    """

    def __init__(self, file: TokenizerBin) -> None:
        self._texts = list(file.vocab)
        special: dict[int, bytes] = dict(zip(file.special_ids.tolist(), file.special, strict=True))
        self._special = special
        self._table = StringTable(file.vocab)
        pairs = zip(file.merges["left_id"].tolist(), file.merges["right_id"].tolist(), strict=True)
        self._ranks: dict[tuple[int, int], int] = {}
        for rank, pair in enumerate(pairs):
            self._ranks.setdefault(pair, rank)
        self._byte_tokens = [self._table.find(glyph.encode()) for glyph in GLYPHS]
        self._merge = lru_cache(CACHED_PAIRS)(self._merge_of)
        self._piece = lru_cache(CACHED_PIECES)(self.encode_piece)

    def encode(self, text: bytes, bos_id: int | None = None) -> list[int]:
        """Return the ids of a text, behind that of BOS where one is given.

        Bytes whose glyph is no string of the vocabulary are left out.
        """
        ids = [] if bos_id is None else [bos_id]
        for piece in approximate_split(text):
            ids += self._piece(piece)
        return ids

    def encode_piece(self, piece: bytes) -> list[int]:
        """Return the ids of a piece, however it was cut."""
        found = map(self._byte_tokens.__getitem__, piece)
        return merge([token for token in found if token is not None], self._merge)

    def decode(self, ids: Iterable[int]) -> bytes:
        """Return the bytes that the ids stand for: of added tokens their text, of others their glyphs' bytes.

        A character outside the byte alphabet stands for itself.

        Raises:
            IndexError: an id that the file does not have.

        """
        return b"".join(map(self._token_bytes, ids))

    def _merge_of(self, left: int, right: int) -> tuple[int, int] | None:
        rank = self._ranks.get((left, right))
        if rank is None:
            return None
        result = self._table.find(self._texts[left] + self._texts[right])
        return None if result is None else (rank, result)

    def _token_bytes(self, token: int) -> bytes:
        text = self._texts[token]
        if token in self._special:
            return self._special[token]
        return b"".join(
            bytes([BYTE_OF_GLYPH[char]]) if char in BYTE_OF_GLYPH else char.encode() for char in text.decode()
        )
