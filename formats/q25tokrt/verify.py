"""Proving a Q25TOKRT image: every byte is what the packer would have written.

The sections of the PS bundle are checked against each other; the image's own sections are functions
of those, so they are made again and compared. A checksum that does not hold is reported with the
row and field at fault where the contents tell.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from formats import ps_bundle
from formats.layout import Place
from formats.q25tokrt import byte_map, derivation, pair_index, special_index, token_trie
from formats.q25tokrt.image import REBUILD, Image, Section, directory_entries, open_image
from formats.q25tokrt.layout import DIRECTORY_ENTRY, HEADER, N_BYTES, SECTIONS, Flag, Kind, section_name
from formats.token_types import TokenType

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from formats.byte_strings import ByteStrings
    from formats.layout.tables import Table


def verify_image(data: Any, file: str = "") -> Image:
    """Open an image and prove every byte of it.

    Raises:
        FormatError: the first fault, with section, row, field and offset.

    """
    image = open_image(data, file)
    _check_gaps(image)
    _Sections(image).check()
    return image


def _check_gaps(image: Image) -> None:
    """Refuse anything but zeros between the sections and behind the last one."""
    end = HEADER.size + image.header.section_count * DIRECTORY_ENTRY.size
    after = "directory"
    for entry in directory_entries(image.data, image.header, image.file):
        _require_zeros(image, end, entry.offset, after)
        end = entry.offset + entry.length
        after = f"sections.{section_name(entry.kind)}"
        if entry.kind not in image.sections:
            # A section that this reader does not know is proved by its checksum alone.
            _require_crc(image.data[entry.offset : end], entry.crc32, Place(image.file, after, entry.offset))
    _require_zeros(image, end, len(image.data), after)


def _require_crc(payload: memoryview, expected: int, place: Place) -> None:
    crc = zlib.crc32(payload)
    if crc != expected:
        raise place.error(f"a CRC-32 of 0x{expected:08X}, as the directory has it", f"0x{crc:08X}", REBUILD)


def _require_zeros(image: Image, start: int, end: int, after: str) -> None:
    gap = np.frombuffer(image.data[start:end], dtype=np.uint8)
    wrong = np.flatnonzero(gap)
    if len(wrong):
        at = start + int(wrong[0])
        raise Place(image.file, f"padding behind {after}", at).error("00", f"{image.data[at]:02X}", REBUILD)


class _Sections:
    """The sections of one image, checked in the order in which they depend on each other."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self.header = image.header
        self.index: Table
        self.tokens: ByteStrings
        self.merges: Table
        self.trie: token_trie.TokenTrie

    def check(self) -> None:
        checks: dict[Kind, Callable[[Section], None]] = {
            Kind.TOKEN_INDEX: self._token_index,
            Kind.TOKEN_BYTES: self._token_bytes,
            Kind.MERGE_TABLE: self._merge_table,
            Kind.BYTE_TOKEN_MAP: self._byte_token_map,
            Kind.MERGE_PAIR_INDEX: self._merge_pair_index,
            Kind.SPECIAL_TOKEN_INDEX: self._special_token_index,
            Kind.TOKEN_TRIE: self._token_trie,
            Kind.TOKEN_PREFIXES: self._token_prefixes,
        }
        for kind in SECTIONS[self.image.profile]:
            section = self.image.sections[kind]
            contents = checks[kind]
            # The checksum tells that something changed, the contents tell what: they come first,
            # but for the token bytes, which have no structure of their own.
            if kind is Kind.TOKEN_BYTES:
                _require_crc(section.data, section.crc32, section.place)
            contents(section)
            _require_crc(section.data, section.crc32, section.place)

    def _token_index(self, section: Section) -> None:
        n_bytes = len(self.image.sections[Kind.TOKEN_BYTES].data)
        self.index = ps_bundle.read_token_index(section.data, n_bytes, section.place)
        self._require_header(section, "n_tokens", len(self.index))
        types = self.index["token_type"]
        self._require_header(section, "n_base", int(np.count_nonzero(types == TokenType.NORMAL)))
        self._require_header(section, "max_token_bytes", int(self.index["byte_length"].max(initial=0)))
        ps_bundle.require_padding(self.index, self.header.first_pad_id)

    def _token_bytes(self, section: Section) -> None:
        self.tokens = ps_bundle.token_strings(self.index, section.data)
        self._require_count(section, len(self.tokens))

    def _merge_table(self, section: Section) -> None:
        types = self.index["token_type"]
        self.merges = ps_bundle.read_merge_table(section.data, self.tokens, types, section.place)
        self._require_header(section, "n_merges", len(self.merges))
        by_id = np.array_equal(self.merges["out_id"], self.merges["rank"].astype(np.int64) + 256)
        if by_id != bool(self.image.flags & Flag.RANK_IS_OUT_ID):
            self._require_header(section, "flags", self.header.flags ^ Flag.RANK_IS_OUT_ID)

    def _byte_token_map(self, section: Section) -> None:
        expected = byte_map.build(self.tokens, self.index["token_type"])
        self._require_words(section, expected)

    def _merge_pair_index(self, section: Section) -> None:
        left, right = self.merges["left_id"], self.merges["right_id"]
        index = pair_index.arrange(left, right, self.header.hash_seed)
        self._require_header(section, "max_probe", index.max_probe)
        self._require_words(section, index.slots)

    def _special_token_index(self, section: Section) -> None:
        types = self.index["token_type"]
        expected = special_index.build(self.tokens, types, self.header.first_pad_id)
        n_added = len(special_index.added_ids(types, self.header.first_pad_id))
        self._require_header(section, "n_added", n_added)
        self._require_count(section, self.header.n_added)
        found = bytes(section.data)
        if len(found) != len(expected):
            raise section.place.error(f"{len(expected)} bytes", str(len(found)), REBUILD)
        bitmap = special_index.BITMAP_BYTES
        for row in range(bitmap):
            if found[row] != expected[row]:
                cell = section.place.field("first_bytes").index(row, row)
                raise cell.error(f"{expected[row]:02X}", f"{found[row]:02X}", REBUILD)
        self._require_words(section, np.frombuffer(expected[bitmap:], "<u4"), ".token_ids", bitmap)

    def _token_trie(self, section: Section) -> None:
        merges = self.merges
        derivation.prove(
            merges["left_id"],
            merges["right_id"],
            merges["out_id"],
            byte_map.build(self.tokens, self.index["token_type"]),
        )
        self.trie = token_trie.build(self.tokens.take(np.arange(N_BYTES + len(merges))))
        self._require_words(section, self.trie.slots)

    def _token_prefixes(self, section: Section) -> None:
        self._require_words(section, self.trie.prefixes)

    def _require_header(self, section: Section, name: str, expected: int) -> None:
        """Compare a header field with what a section says; a damaged section is named, not the header."""
        if self.header[name] != expected:
            _require_crc(section.data, section.crc32, section.place)
            place = HEADER.member(Place(self.image.file, "header"), name)
            raise place.error(f"{expected}, as the sections have it", str(self.header[name]), REBUILD)

    def _require_count(self, section: Section, expected: int) -> None:
        if section.count != expected:
            _require_crc(section.data, section.crc32, section.place)
            place = DIRECTORY_ENTRY.member(section.entry, "count")
            raise place.error(str(expected), str(section.count), REBUILD)

    def _require_words(
        self, section: Section, expected: NDArray[np.uint32], path: str = "", skip: int = 0
    ) -> None:
        """Compare a run of u32, `skip` bytes into a section, with what the packer would write."""
        place = Place(self.image.file, section.place.path + path, section.place.offset + skip)
        words = section.data[skip:]
        if len(words) != expected.nbytes:
            raise place.error(f"{expected.nbytes} bytes", str(len(words)), REBUILD)
        found = np.frombuffer(words, dtype="<u4")
        wrong = np.flatnonzero(found != expected)
        if len(wrong):
            row = int(wrong[0])
            raise place.index(row, 4 * row).error(f"0x{expected[row]:08X}", f"0x{found[row]:08X}", REBUILD)
