"""The real Qwen vocabulary, and an implementation of `TokenTables` over plain lists and dicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from formats.token_types import TokenType
from pipeline.bpe.unicode_tables import CLASS_TABLES_VERSION, NFC_TABLES_VERSION
from pipeline.sources.sample.vocabulary import base_tokens, recover_merges, vocabulary_file

if TYPE_CHECKING:
    from collections.abc import Sequence

GOLDEN = Path(__file__).parent.parent / "golden"


class ListTables:
    """A vocabulary made of a list of (bytes, type) in id order and a list of merges (left, right, out)."""

    def __init__(
        self,
        tokens: Sequence[tuple[bytes, int]],
        merges: Sequence[tuple[int, int, int]] = (),
        *,
        first_pad_id: int | None = None,
        pre: str = "qwen2",
        nfc: bool = True,
        unicode: tuple[int, int] = (CLASS_TABLES_VERSION, NFC_TABLES_VERSION),
    ) -> None:
        self.tokens = list(tokens)
        self.merges = {(left, right): (rank, out) for rank, (left, right, out) in enumerate(merges)}
        self.n_tokens = len(self.tokens)
        self.first_pad_id = self.n_tokens if first_pad_id is None else first_pad_id
        self.pre = pre
        self.nfc = nfc
        self.class_tables, self.nfc_tables = unicode
        self.added_tokens = [
            token
            for token, (_, kind) in enumerate(self.tokens[: self.first_pad_id])
            if kind in {TokenType.UNKNOWN, TokenType.CONTROL, TokenType.USER_DEFINED}
        ]
        self._byte_tokens: dict[int, int] = {}
        for token, (data, kind) in enumerate(self.tokens[: self.first_pad_id]):
            if len(data) == 1 and kind == TokenType.NORMAL:
                self._byte_tokens.setdefault(data[0], token)

    def byte_token(self, byte: int) -> int | None:
        return self._byte_tokens.get(byte)

    def merge(self, left: int, right: int) -> tuple[int, int] | None:
        return self.merges.get((left, right))

    def token_bytes(self, token: int) -> bytes:
        return self.tokens[token][0]

    def token_type(self, token: int) -> int:
        return self.tokens[token][1]


def small_tables(*texts: str, specials: Sequence[tuple[str, int]] = (), **options) -> ListTables:
    """A token for every byte, then `texts` by merges of two known tokens, then specials (text, type).

    A text may state its parts: `"ab|c"` is the merge of `ab` and `c`.
    """
    tokens = [(bytes([byte]), 1) for byte in range(256)]
    ids = {data: token for token, (data, _) in enumerate(tokens)}
    merges = []
    for text in texts:
        left, right = (part.encode() for part in text.split("|"))
        out = ids.setdefault(left + right, len(tokens))
        if out == len(tokens):
            tokens.append((left + right, 1))
        merges.append((ids[left], ids[right], out))
    return ListTables(tokens + [(text.encode(), kind) for text, kind in specials], merges, **options)


def base_vocabulary() -> tuple[list[bytes], list[tuple[int, int, int]]]:
    """The 151,643 tokens of Qwen, in id order, and the merges (left, right, out) by rank."""
    tokens = base_tokens(vocabulary_file())
    ids = {data: token for token, data in enumerate(tokens)}
    merges = [(ids[left], ids[right], ids[left + right]) for left, right in recover_merges(tokens)]
    return tokens, merges


def added_tokens(model: str) -> list[tuple[str, bool]]:
    """(text, special) of the added tokens of `qwen2.5` or `qwen3`, in id order from 151643."""
    facts = json.loads((GOLDEN / "qwen.json").read_text(encoding="utf-8"))
    return [(entry["content"], entry["special"]) for entry in facts[model]["special"]]


def qwen_tables(tokens: list[bytes], merges: list[tuple[int, int, int]], model: str) -> ListTables:
    """Qwen with its added tokens, padded to 151,936 ids."""
    rows = [(data, int(TokenType.NORMAL)) for data in tokens]
    for text, special in added_tokens(model):
        rows.append((text.encode(), int(TokenType.CONTROL if special else TokenType.USER_DEFINED)))
    first_pad_id = len(rows)
    rows += [(b"[PAD%d]" % token, int(TokenType.UNUSED)) for token in range(first_pad_id, 151936)]
    return ListTables(rows, merges, first_pad_id=first_pad_id)
