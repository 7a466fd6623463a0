"""A model's vocabulary as the encoder's tables, with no image in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.token_types import TokenType
from pipeline.bpe.unicode_tables import CLASS_TABLES_VERSION, NFC_TABLES_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.vocabulary.vocabulary import Vocabulary


class ModelTables:
    """The tables of a vocabulary that was read from a GGUF; implements `pipeline.bpe.tables.TokenTables`.

    Args:
        vocabulary: the vocabulary.
        pre: name of the pre-tokenizer's rule.
        nfc: whether text is brought to NFC.

    """

    def __init__(self, vocabulary: Vocabulary, pre: str, *, nfc: bool = True) -> None:
        merges = vocabulary.merges
        self.pre = pre
        self.nfc = nfc
        self.class_tables = CLASS_TABLES_VERSION
        self.nfc_tables = NFC_TABLES_VERSION
        self.n_tokens = len(vocabulary)
        self.first_pad_id = vocabulary.first_pad_id
        self.added_tokens: Sequence[int] = vocabulary.added_ids.tolist()
        self.tokens: Sequence[bytes] = list(vocabulary.tokens)
        self._types: Sequence[int] = vocabulary.types.tolist()
        pairs = zip(merges.left.tolist(), merges.right.tolist(), strict=True)
        results = enumerate(merges.out.tolist())
        self._merges: dict[tuple[int, int], tuple[int, int]] = dict(zip(pairs, results, strict=True))
        self._byte_tokens: dict[bytes, int] = {}
        for token in (vocabulary.tokens.lengths == 1).nonzero()[0].tolist():
            if self._types[token] == TokenType.NORMAL:
                self._byte_tokens.setdefault(self.tokens[token], token)

    def byte_token(self, byte: int) -> int | None:
        """Return the id of the token that is exactly this byte, or None."""
        return self._byte_tokens.get(bytes([byte]))

    def merge(self, left: int, right: int) -> tuple[int, int] | None:
        """Return (rank, id of the result) of the merge of two tokens, or None."""
        return self._merges.get((left, right))

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes that a token stands for; none for an id that the model does not have."""
        return self.tokens[token] if token < self.n_tokens else b""

    def token_type(self, token: int) -> int:
        """Return a token's type; an id that the model does not have is unused."""
        return self._types[token] if token < self.n_tokens else TokenType.UNUSED
