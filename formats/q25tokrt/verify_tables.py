"""Proving the sections of the profiles standard and fast, which have the tables of the PS bundle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formats import ps_bundle
from formats.q25tokrt import byte_map, derivation, pair_bitmap, pair_index, token_trie
from formats.q25tokrt.layout import N_BYTES, Flag, Kind
from formats.q25tokrt.section_checks import SectionChecks
from formats.token_types import TokenType

if TYPE_CHECKING:
    from formats.byte_strings import ByteStrings
    from formats.layout.tables import Table
    from formats.q25tokrt.image import Image, Section


class TableSections(SectionChecks):
    """The sections of an image with whole tables."""

    def __init__(self, image: Image) -> None:
        super().__init__(image)
        self.index: Table
        self.tokens: ByteStrings
        self.merges: Table
        self.trie: token_trie.TokenTrie
        self.checks = {
            Kind.TOKEN_INDEX: self._token_index,
            Kind.TOKEN_BYTES: self._token_bytes,
            Kind.MERGE_TABLE: self._merge_table,
            Kind.BYTE_TOKEN_MAP: self._byte_token_map,
            Kind.MERGE_PAIR_INDEX: self._merge_pair_index,
            Kind.SPECIAL_TOKEN_INDEX: self._special_token_index,
            Kind.TOKEN_TRIE: self._token_trie,
            Kind.TOKEN_PREFIXES: self._token_prefixes,
            Kind.MERGE_PAIR_BITMAP: self._merge_pair_bitmap,
        }

    def _token_index(self, section: Section) -> None:
        n_bytes = len(self.image.sections[Kind.TOKEN_BYTES].data)
        self.index = ps_bundle.read_token_index(section.data, n_bytes, section.place)
        self.require_header(section, "n_tokens", len(self.index))
        types = self.index["token_type"]
        self.require_header(section, "n_base", int(np.count_nonzero(types == TokenType.NORMAL)))
        self.require_header(section, "max_token_bytes", int(self.index["byte_length"].max(initial=0)))
        ps_bundle.require_padding(self.index, self.header.first_pad_id)

    def _token_bytes(self, section: Section) -> None:
        self.tokens = ps_bundle.token_strings(self.index, section.data)
        self.require_count(section, len(self.tokens))

    def _merge_table(self, section: Section) -> None:
        types = self.index["token_type"]
        self.merges = ps_bundle.read_merge_table(section.data, self.tokens, types, section.place)
        self.require_header(section, "n_merges", len(self.merges))
        by_id = np.array_equal(self.merges["out_id"], self.merges["rank"].astype(np.int64) + 256)
        if by_id != bool(self.image.flags & Flag.RANK_IS_OUT_ID):
            self.require_header(section, "flags", self.header.flags ^ Flag.RANK_IS_OUT_ID)

    def _byte_token_map(self, section: Section) -> None:
        expected = byte_map.build(self.tokens, self.index["token_type"])
        self.require_words(section, expected)

    def _merge_pair_index(self, section: Section) -> None:
        left, right = self.merges["left_id"], self.merges["right_id"]
        index = pair_index.arrange(left, right, self.header.hash_seed)
        self.require_header(section, "max_probe", index.max_probe)
        self.require_words(section, index.slots)

    def _special_token_index(self, section: Section) -> None:
        self.require_special_index(section, self.tokens, self.index["token_type"])

    def _token_trie(self, section: Section) -> None:
        merges = self.merges
        derivation.prove(
            merges["left_id"],
            merges["right_id"],
            merges["out_id"],
            byte_map.build(self.tokens, self.index["token_type"]),
        )
        self.trie = token_trie.build(self.tokens.take(np.arange(N_BYTES + len(merges))))
        self.require_words(section, self.trie.slots)

    def _token_prefixes(self, section: Section) -> None:
        self.require_words(section, self.trie.prefixes)

    def _merge_pair_bitmap(self, section: Section) -> None:
        self.require_words(section, pair_bitmap.build(self.merges["left_id"], self.merges["right_id"]))
