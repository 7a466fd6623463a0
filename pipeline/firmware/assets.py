"""The files that a firmware takes in, with what its sources have to know of each."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.catalog import FORMATS
from formats.errors import FormatError
from formats.q25tokrt.image import Image, open_image
from formats.q25tokrt.layout import IMAGE, MAGIC
from pipeline.errors import UsageError
from pipeline.firmware.symbols import symbol_of

if TYPE_CHECKING:
    from formats.layout import FileLayout


@dataclass(frozen=True)
class Asset:
    """A file of the output folder that goes into a firmware.

    Attributes:
        name: inside the output folder, with `/`.
        size: in bytes.
        sha256: 32 bytes.
        crc32: zlib's, of the whole file.
        align: of its first byte, in bytes.
        address: where the boot loader puts it; None where the linker does.
        layouts: the declared layouts that a file of this name has.
        image: the file opened, where it is a Q25TOKRT image.

    """

    name: str
    size: int
    sha256: bytes
    crc32: int
    align: int
    address: int | None
    layouts: tuple[FileLayout, ...]
    image: Image | None

    @property
    def symbol(self) -> str:
        """The name in C."""
        return symbol_of(self.name)

    @property
    def padded(self) -> int:
        """Bytes with the fill up to the next multiple of the alignment."""
        return -(-self.size // self.align) * self.align


def measure(name: str, data: bytes, align: int, address: int | None) -> Asset:
    """Look at a file.

    Raises:
        UsageError: an image whose sections need a greater alignment than its load address has.
        FormatError: an image that is none.

    """
    image = None
    layouts = tuple(known.layout for known in FORMATS if known.layout.file_name == name)
    if IMAGE in layouts or data.startswith(MAGIC):
        image = open_image(data, name)
        align = max(align, image.header.section_align)
        if address is not None and address % align:
            raise UsageError(
                f"step firmware: load.{name}: expected an address that is a multiple of {align}, the image's "
                f"section_align, found 0x{address:X}"
            )
    if not data:
        raise FormatError("at least a byte", "an empty file", file=name)
    digest = hashlib.sha256(data).digest()
    return Asset(name, len(data), digest, zlib.crc32(data), align, address, layouts, image)
