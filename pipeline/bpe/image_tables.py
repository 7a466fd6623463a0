"""A Q25TOKRT image as the encoder's tables: every look-up reads the image where it lies.

Merges are found through the merge-pair index with the header's seed, as firmware finds them, and
nothing is unpacked. The image must have been verified: look-ups do not check what they read.
"""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING

from formats.q25tokrt.layout import NONE, Flag, Kind
from formats.q25tokrt.pair_index import home_bits, row_of
from formats.q25tokrt.special_index import BITMAP_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formats.q25tokrt.image import Image

_INDEX_WORDS = 2
_MERGE_WORDS = 4


class ImageTables:
    """The tables of a verified image; implements `pipeline.bpe.tables.TokenTables`."""

    def __init__(self, image: Image) -> None:
        header = image.header
        self.n_tokens: int = header.n_tokens
        self.first_pad_id: int = header.first_pad_id
        self.pre = image.pre_name
        self.nfc = Flag.NFC in image.flags
        self.class_tables: int = header.class_tables
        self.nfc_tables: int = header.nfc_tables
        self._index = _words(image.sections[Kind.TOKEN_INDEX].data)
        self._bytes = image.sections[Kind.TOKEN_BYTES].data
        self._merges = _words(image.sections[Kind.MERGE_TABLE].data)
        self._byte_tokens = _words(image.sections[Kind.BYTE_TOKEN_MAP].data)
        self._slots = _words(image.sections[Kind.MERGE_PAIR_INDEX].data)
        self._home_bits = home_bits(header.n_merges)
        self._seed: int = header.hash_seed
        self._max_probe: int = header.max_probe
        special = image.sections[Kind.SPECIAL_TOKEN_INDEX].data[BITMAP_BYTES:]
        self.added_tokens: Sequence[int] = list(_words(special))

    def byte_token(self, byte: int) -> int | None:
        """Return the id of the token that is exactly this byte, or None."""
        token = self._byte_tokens[byte]
        return None if token == NONE else token

    def merge(self, left: int, right: int) -> tuple[int, int] | None:
        """Return (rank, id of the result) of the merge of two tokens, or None."""
        merges = self._merges
        for row in row_of(self._slots, self._home_bits, (left, right), self._seed, self._max_probe):
            at = _MERGE_WORDS * row
            if merges[at] == left and merges[at + 1] == right:
                return merges[at + 3], merges[at + 2]
        return None

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes that a token stands for."""
        start = self._index[_INDEX_WORDS * token]
        return bytes(self._bytes[start : start + (self._index[_INDEX_WORDS * token + 1] & 0xFFFF)])

    def token_type(self, token: int) -> int:
        """Return a token's type."""
        return self._index[_INDEX_WORDS * token + 1] >> 16


def _words(data: memoryview) -> Sequence[int]:
    """View bytes as little-endian integers of 32 bits; copied where the machine is of the other kind."""
    if sys.byteorder == "little":
        return data.cast("I")
    words = array("I")
    words.frombytes(data)
    words.byteswap()
    return words
