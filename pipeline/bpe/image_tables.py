"""A Q25TOKRT image as the encoder's tables: every look-up reads the image where it lies.

Merges are found as firmware finds them, through the index that the image has for them, and nothing
is unpacked. The image must have been verified: look-ups do not check what they read.
"""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING, Protocol

from formats.q25tokrt import compact_tables, perfect_index
from formats.q25tokrt.layout import N_BYTES, NONE, Flag, Kind, Profile
from formats.q25tokrt.pair_index import home_bits, row_of
from formats.q25tokrt.special_index import BITMAP_BYTES
from formats.token_types import TokenType

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
        self._byte_tokens = _words(image.sections[Kind.BYTE_TOKEN_MAP].data)
        special = image.sections[Kind.SPECIAL_TOKEN_INDEX].data[BITMAP_BYTES:]
        self.added_tokens: Sequence[int] = list(_words(special))
        self._sections: _Sections = _Compact(image) if image.profile is Profile.COMPACT else _Whole(image)
        self.merge = self._sections.merge

    def byte_token(self, byte: int) -> int | None:
        """Return the id of the token that is exactly this byte, or None."""
        token = self._byte_tokens[byte]
        return None if token == NONE else token

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes that a token stands for."""
        return self._sections.token_bytes(token)

    def token_type(self, token: int) -> int:
        """Return a token's type."""
        return self._sections.token_type(token)


class _Sections(Protocol):
    """How an image of some profile keeps merges and tokens; methods as of `TokenTables`."""

    def merge(self, left: int, right: int) -> tuple[int, int] | None: ...

    def token_bytes(self, token: int) -> bytes: ...

    def token_type(self, token: int) -> int: ...


class _Strings:
    """A token index and the bytes it is of."""

    def __init__(self, image: Image, index: Kind, data: Kind) -> None:
        self._index = _words(image.sections[index].data)
        self._bytes = image.sections[data].data

    def bytes_at(self, row: int) -> bytes:
        start = self._index[_INDEX_WORDS * row]
        return bytes(self._bytes[start : start + (self._index[_INDEX_WORDS * row + 1] & 0xFFFF)])

    def type_at(self, row: int) -> int:
        return self._index[_INDEX_WORDS * row + 1] >> 16


class _Whole:
    """Whole tables, as of the PS bundle, and an index by open addressing."""

    def __init__(self, image: Image) -> None:
        strings = _Strings(image, Kind.TOKEN_INDEX, Kind.TOKEN_BYTES)
        self.token_bytes, self.token_type = strings.bytes_at, strings.type_at
        self._merges = _words(image.sections[Kind.MERGE_TABLE].data)
        self._slots = _words(image.sections[Kind.MERGE_PAIR_INDEX].data)
        self._home_bits = home_bits(image.header.n_merges)
        self._seed: int = image.header.hash_seed
        self._max_probe: int = image.header.max_probe

    def merge(self, left: int, right: int) -> tuple[int, int] | None:
        """Return (rank, id of the result) of the merge of two tokens, or None."""
        merges = self._merges
        for row in row_of(self._slots, self._home_bits, (left, right), self._seed, self._max_probe):
            at = _MERGE_WORDS * row
            if merges[at] == left and merges[at + 1] == right:
                return merges[at + 3], merges[at + 2]
        return None


class _Compact:
    """The parts of each merge, a perfect index, and the tokens that merges do not make."""

    def __init__(self, image: Image) -> None:
        sections = image.sections
        self._stored = _Strings(image, Kind.STORED_TOKEN_INDEX, Kind.STORED_TOKEN_BYTES)
        self._byte_values = bytes(sections[Kind.BYTE_VALUES].data)
        low, high = sections[Kind.MERGE_LOW_BITS].data, sections[Kind.MERGE_HIGH_BITS].data
        self._merges = compact_tables.Merges(_words(low), high)
        slots = sections[Kind.PAIR_ROWS].data
        multipliers = sections[Kind.PAIR_MULTIPLIERS].data
        self._index = perfect_index.Finder(multipliers, slots, image.header.n_merges, image.header.hash_seed)
        self._first_stored: int = N_BYTES + image.header.n_merges

    def merge(self, left: int, right: int) -> tuple[int, int] | None:
        """Return (rank, id of the result) of the merge of two tokens, or None."""
        row = self._index.row_of(left, right)
        return None if row is None or self._merges[row] != (left, right) else (row, row + N_BYTES)

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes that a token stands for."""
        if token < self._first_stored:
            return compact_tables.token_bytes(token, self._merges, self._byte_values)
        return self._stored.bytes_at(token - self._first_stored)

    def token_type(self, token: int) -> int:
        """Return a token's type."""
        if token < self._first_stored:
            return int(TokenType.NORMAL)
        return self._stored.type_at(token - self._first_stored)


def _words(data: memoryview) -> Sequence[int]:
    """View bytes as little-endian integers of 32 bits; copied where the machine is of the other kind."""
    if sys.byteorder == "little":
        return data.cast("I")
    words = array("I")
    words.frombytes(data)
    words.byteswap()
    return words
