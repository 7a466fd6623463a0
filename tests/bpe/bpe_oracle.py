"""The reference: HuggingFace `tokenizers` set up as Qwen's tokenizer.json does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from formats.byte_level import encode
from formats.token_types import TokenType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_vocabulary import ListTables

PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def splitter() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Split(Regex(PATTERN), behavior="isolated")


class Oracle:
    """`encode` gives the reference's ids for one vocabulary and one setting of special tokens."""

    def __init__(self, tables: ListTables, specials: str = "all") -> None:
        normal = [
            encode(data) for data, kind in tables.tokens[: tables.first_pad_id] if kind == TokenType.NORMAL
        ]
        merges = [
            (encode(tables.token_bytes(left)), encode(tables.token_bytes(right)))
            for left, right in tables.merges
        ]
        vocabulary = {text: token for token, text in enumerate(normal)}
        assert len(vocabulary) == len(normal)
        self._tokenizer = Tokenizer(models.BPE(vocabulary, merges))
        if tables.nfc:
            self._tokenizer.normalizer = normalizers.NFC()
        self._tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [splitter(), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
        )
        if specials == "none":
            return
        # The reference numbers added tokens on from the vocabulary, so they must follow it.
        assert tables.added_tokens == list(range(len(normal), tables.first_pad_id))
        for token in tables.added_tokens:
            data, kind = tables.tokens[token]
            added = AddedToken(data.decode(), special=kind != TokenType.USER_DEFINED, normalized=False)
            self._tokenizer.add_tokens([added])
            assert self._tokenizer.token_to_id(data.decode()) == token
        self._tokenizer.encode_special_tokens = specials == "user"

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        return [entry.ids for entry in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]
