"""The reference for a vocabulary of lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenizers import Regex, pre_tokenizers

from pipeline.parity.reference import QWEN2_PATTERN, Reference

if TYPE_CHECKING:
    from bpe_vocabulary import ListTables

    from pipeline.bpe.text_encoder import Specials


def splitter() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Split(Regex(QWEN2_PATTERN), behavior="isolated")


class Oracle(Reference):
    """`encode` gives the reference's ids for one vocabulary and one setting of special tokens."""

    def __init__(self, tables: ListTables, specials: Specials = "all") -> None:
        super().__init__(tables, tables.merges, specials)
