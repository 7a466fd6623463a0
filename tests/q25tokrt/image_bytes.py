"""Changing an image's bytes, with or without making its checksums hold again."""

import struct
import zlib

from formats.q25tokrt.layout import DIRECTORY_ENTRY, HEADER

ENTRY_BYTES = 32
HEADER_BYTES = 256
NUMBERS = {2: "<H", 4: "<I", 8: "<Q"}


class ImageBytes:
    """An image to be changed."""

    def __init__(self, image):
        self.raw = bytearray(image)

    def __bytes__(self):
        return bytes(self.raw)

    def header(self, name):
        """Give a header field."""
        return self._number(HEADER, name, 0)[1]

    def set_header(self, **fields):
        """Set header fields: numbers, or bytes of any length."""
        for name, value in fields.items():
            self._set(HEADER, name, 0, value)
        return self

    def entry(self, number, name):
        """Give a field of a directory entry."""
        return self._number(DIRECTORY_ENTRY, name, HEADER_BYTES + number * ENTRY_BYTES)[1]

    def set_entry(self, number, **fields):
        """Set fields of a directory entry."""
        for name, value in fields.items():
            self._set(DIRECTORY_ENTRY, name, HEADER_BYTES + number * ENTRY_BYTES, value)
        return self

    def add_entry(self, at=None, **fields):
        """Put an entry into the room behind the directory, at a place in the order."""
        count = self.header("section_count")
        start = HEADER_BYTES + (count if at is None else at) * ENTRY_BYTES
        end = HEADER_BYTES + count * ENTRY_BYTES
        assert not any(self.raw[end : end + ENTRY_BYTES]), "no room behind the directory"
        self.raw[start : end + ENTRY_BYTES] = bytes(ENTRY_BYTES) + self.raw[start:end]
        self.set_header(section_count=count + 1)
        return self.set_entry(count if at is None else at, **fields)

    def section(self, number):
        """Tell where a section lies, as a slice."""
        offset = self.entry(number, "offset")
        return slice(offset, offset + self.entry(number, "length"))

    def seal(self):
        """Make every checksum hold, as a hostile writer would."""
        count = min(self.header("section_count"), (len(self.raw) - HEADER_BYTES) // ENTRY_BYTES)
        for number in range(count):
            self.set_entry(number, crc32=zlib.crc32(self.raw[self.section(number)]))
        return self.seal_header()

    def seal_header(self):
        """Make the checksum of header and directory hold."""
        end = HEADER_BYTES + self.header("section_count") * ENTRY_BYTES
        crc = zlib.crc32(self.raw[HEADER_BYTES:end], zlib.crc32(self.raw[: HEADER_BYTES - 4]))
        return self.set_header(crc32=crc)

    def _number(self, record, name, base):
        at = base + record.offset_of(name)
        field = next(field for field in record.fields if field.name == name)
        form = NUMBERS[field.sizeof()]
        return form, struct.unpack_from(form, self.raw, at)[0]

    def _set(self, record, name, base, value):
        at = base + record.offset_of(name)
        if isinstance(value, bytes):
            self.raw[at : at + len(value)] = value
        else:
            form, _ = self._number(record, name, base)
            struct.pack_into(form, self.raw, at, value)
