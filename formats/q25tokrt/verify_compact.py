"""Proving the sections of profile compact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formats import ps_bundle
from formats.byte_strings import ByteStrings
from formats.layout import Place
from formats.q25tokrt import compact_tables, perfect_index
from formats.q25tokrt.compact_records import MERGE_LOW_BITS
from formats.q25tokrt.image import REBUILD
from formats.q25tokrt.layout import BYTE_TOKEN, HEADER, N_BYTES, Kind
from formats.q25tokrt.section_checks import SectionChecks, require_crc
from formats.token_types import TokenType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formats.layout.tables import Table
    from formats.q25tokrt.image import Image, Section


class CompactSections(SectionChecks):
    """The sections of an image that has only the merges of most tokens."""

    def __init__(self, image: Image) -> None:
        super().__init__(image)
        self.n_made: int = N_BYTES + self.header.n_merges
        self.byte_tokens: NDArray[np.uint32]
        self.left: NDArray[np.int64]
        self.right: NDArray[np.int64]
        self.longest_made = 0
        self.index: Table
        self.found: perfect_index.PerfectIndex
        self.checks = {
            Kind.BYTE_TOKEN_MAP: self._byte_token_map,
            Kind.BYTE_VALUES: self._byte_values,
            Kind.MERGE_LOW_BITS: self._merge_low_bits,
            Kind.MERGE_HIGH_BITS: self._merge_high_bits,
            Kind.PAIR_MULTIPLIERS: self._pair_multipliers,
            Kind.PAIR_ROWS: self._pair_rows,
            Kind.STORED_TOKEN_INDEX: self._stored_token_index,
            Kind.STORED_TOKEN_BYTES: self._stored_token_bytes,
            Kind.SPECIAL_TOKEN_INDEX: self._special_token_index,
        }

    def _byte_token_map(self, section: Section) -> None:
        self.require_count(section, N_BYTES)
        self.byte_tokens = np.frombuffer(section.data, dtype="<u4")
        seen = np.zeros(N_BYTES, dtype=bool)
        for byte, token in enumerate(self.byte_tokens.tolist()):
            if token >= N_BYTES or seen[token]:
                cell = section.place.index(byte, byte * BYTE_TOKEN.size)
                raise cell.error("an id below 256 for each byte, each once", str(token), REBUILD)
            seen[token] = True

    def _byte_values(self, section: Section) -> None:
        expected = compact_tables.pack_byte_values(self.byte_tokens)
        self.require_words(section, np.frombuffer(expected, dtype=np.uint8))

    def _merge_low_bits(self, section: Section) -> None:
        self.require_header(section, "n_merges", section.count)
        high = self.image.sections[Kind.MERGE_HIGH_BITS]
        self.require_count(high, compact_tables.high_count(section.count))
        self.left, self.right = compact_tables.unpack_merges(section.data, high.data)
        compact_tables.require_lower_parts(self.left, self.right, section.place)
        repeated = ps_bundle.first_repeat(self.left, self.right, self.n_made)
        if repeated is not None:
            first, again = repeated
            cell = section.place.index(again, again * MERGE_LOW_BITS.size)
            pair = f"the pair {self.left[again]}, {self.right[again]} of row {first} again"
            raise cell.error("each pair once", pair, REBUILD)
        made = compact_tables.measure(self.left, self.right)
        compact_tables.require_bounds(made, section.place, MERGE_LOW_BITS.size)
        self.longest_made = int(made.lengths.max())

    def _merge_high_bits(self, section: Section) -> None:
        self.require_words(section, compact_tables.pack_merges(self.left, self.right)[1])

    def _pair_multipliers(self, section: Section) -> None:
        found = perfect_index.arrange(self.left, self.right, self.header.hash_seed)
        if found is None:
            require_crc(section.data, section.crc32, section.place)
            place = HEADER.member(Place(self.image.file, "header"), "hash_seed")
            raise place.error("a seed with which there is an index", f"0x{self.header.hash_seed:X}", REBUILD)
        self.found = found
        self.require_words(section, found.multipliers)

    def _pair_rows(self, section: Section) -> None:
        self.require_words(section, self.found.slots)

    def _stored_token_index(self, section: Section) -> None:
        n_bytes = len(self.image.sections[Kind.STORED_TOKEN_BYTES].data)
        self.index = ps_bundle.read_token_index(section.data, n_bytes, section.place)
        self.require_header(section, "n_tokens", self.n_made + len(self.index))
        types, lengths = self.index["token_type"], self.index["byte_length"]
        self.require_header(section, "n_base", self.n_made + int(np.count_nonzero(types == TokenType.NORMAL)))
        longest = max(int(lengths.max(initial=0)), self.longest_made)
        self.require_header(section, "max_token_bytes", longest)
        if self.header.first_pad_id < self.n_made:
            self.require_header(section, "first_pad_id", self.n_made)
        ps_bundle.require_padding(self.index, self.header.first_pad_id - self.n_made)

    def _stored_token_bytes(self, section: Section) -> None:
        self.require_count(section, len(self.index))

    def _special_token_index(self, section: Section) -> None:
        stored = ps_bundle.token_strings(self.index, self.image.sections[Kind.STORED_TOKEN_BYTES].data)
        # Those that merges make are normal, so the index has none of them: their bytes do not matter.
        before = np.zeros(self.n_made, dtype=np.int64)
        tokens = ByteStrings(
            stored.data,
            np.concatenate((before, stored.starts)),
            np.concatenate((before, stored.lengths)),
        )
        normal = np.full(self.n_made, TokenType.NORMAL, dtype=np.uint16)
        types = np.concatenate((normal, self.index["token_type"]))
        self.require_special_index(section, tokens, types)
