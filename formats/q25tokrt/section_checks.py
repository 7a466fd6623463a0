"""What the proofs of an image's sections have in common."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.layout import Place
from formats.q25tokrt import special_index
from formats.q25tokrt.image import REBUILD, Image, Section
from formats.q25tokrt.layout import DIRECTORY_ENTRY, HEADER, SECTIONS, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from formats.byte_strings import ByteStrings


def require_crc(payload: memoryview, expected: int, place: Place) -> None:
    """Refuse a payload that has another checksum."""
    crc = zlib.crc32(payload)
    if crc != expected:
        raise place.error(f"a CRC-32 of 0x{expected:08X}, as the directory has it", f"0x{crc:08X}", REBUILD)


class SectionChecks:
    """The sections of one image, checked in the order in which they depend on each other.

    Attributes:
        image: the image.
        header: its header.
        checks: what proves the contents of each section.

    """

    def __init__(self, image: Image) -> None:
        self.image = image
        self.header = image.header
        self.checks: Mapping[Kind, Callable[[Section], None]] = {}

    def check(self) -> None:
        """Prove all sections.

        Raises:
            FormatError: the first fault.

        """
        for kind in SECTIONS[self.image.profile]:
            section = self.image.sections[kind]
            # The checksum tells that something changed, the contents tell what: they come first,
            # but for the token bytes, which have no structure of their own.
            if kind in {Kind.TOKEN_BYTES, Kind.STORED_TOKEN_BYTES}:
                require_crc(section.data, section.crc32, section.place)
            self.checks[kind](section)
            require_crc(section.data, section.crc32, section.place)

    def require_special_index(self, section: Section, tokens: ByteStrings, types: NDArray[Any]) -> None:
        """Compare the special-token index with what the packer would write."""
        n_pads = self.header.first_pad_id
        expected = special_index.build(tokens, types, n_pads)
        n_added = len(special_index.added_ids(types, n_pads))
        self.require_header(section, "n_added", n_added)
        self.require_count(section, self.header.n_added)
        found = bytes(section.data)
        if len(found) != len(expected):
            raise section.place.error(f"{len(expected)} bytes", str(len(found)), REBUILD)
        bitmap = special_index.BITMAP_BYTES
        for row in range(bitmap):
            if found[row] != expected[row]:
                cell = section.place.field("first_bytes").index(row, row)
                raise cell.error(f"{expected[row]:02X}", f"{found[row]:02X}", REBUILD)
        self.require_words(section, np.frombuffer(expected[bitmap:], "<u4"), ".token_ids", bitmap)

    def require_header(self, section: Section, name: str, expected: int) -> None:
        """Compare a header field with what a section says; a damaged section is named, not the header."""
        if self.header[name] != expected:
            require_crc(section.data, section.crc32, section.place)
            place = HEADER.member(Place(self.image.file, "header"), name)
            raise place.error(f"{expected}, as the sections have it", str(self.header[name]), REBUILD)

    def require_count(self, section: Section, expected: int) -> None:
        """Compare the records of a section with what they must be; a damaged section is named itself."""
        if section.count != expected:
            require_crc(section.data, section.crc32, section.place)
            place = DIRECTORY_ENTRY.member(section.entry, "count")
            raise place.error(str(expected), str(section.count), REBUILD)

    def require_words(self, section: Section, expected: NDArray[Any], path: str = "", skip: int = 0) -> None:
        """Compare a run of records, `skip` bytes into a section, with what the packer would write."""
        place = Place(self.image.file, section.place.path + path, section.place.offset + skip)
        words = section.data[skip:]
        if len(words) != expected.nbytes:
            raise place.error(f"{expected.nbytes} bytes", str(len(words)), REBUILD)
        found = np.frombuffer(words, dtype=expected.dtype)
        wrong = np.flatnonzero(found != expected)
        if len(wrong):
            row, size = int(wrong[0]), expected.itemsize
            wanted, value = (
                f"0x{int.from_bytes(words[row].tobytes(), 'little'):0{2 * size}X}"
                for words in (expected, found)
            )
            raise place.index(row, size * row).error(wanted, value, REBUILD)
