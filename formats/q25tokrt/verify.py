"""Proving a Q25TOKRT image: every byte is what the packer would have written.

What an image has of the PS bundle is checked in itself; the image's own sections are functions
of that, so they are made again and compared. A checksum that does not hold is reported with the
row and field at fault where the contents tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from formats.layout import Place
from formats.q25tokrt.image import REBUILD, Image, directory_entries, open_image
from formats.q25tokrt.layout import DIRECTORY_ENTRY, HEADER, Profile, section_name
from formats.q25tokrt.section_checks import require_crc
from formats.q25tokrt.verify_compact import CompactSections
from formats.q25tokrt.verify_tables import TableSections

if TYPE_CHECKING:
    from formats.q25tokrt.section_checks import SectionChecks


def verify_image(data: Any, file: str = "") -> Image:
    """Open an image and prove every byte of it.

    Raises:
        FormatError: the first fault, with section, row, field and offset.

    """
    image = open_image(data, file)
    _check_gaps(image)
    sections: type[SectionChecks] = CompactSections if image.profile is Profile.COMPACT else TableSections
    sections(image).check()
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
            require_crc(image.data[entry.offset : end], entry.crc32, Place(image.file, after, entry.offset))
    _require_zeros(image, end, len(image.data), after)


def _require_zeros(image: Image, start: int, end: int, after: str) -> None:
    gap = np.frombuffer(image.data[start:end], dtype=np.uint8)
    wrong = np.flatnonzero(gap)
    if len(wrong):
        at = start + int(wrong[0])
        raise Place(image.file, f"padding behind {after}", at).error("00", f"{image.data[at]:02X}", REBUILD)
