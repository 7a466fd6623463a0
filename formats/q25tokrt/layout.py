"""The declared bytes of a Q25TOKRT image: header, directory, and the records of its own sections.

Everything is little-endian. The header is followed by the directory; sections follow in ascending
order of offset, each on a multiple of `section_align`, with zeros between. The first three sections
are the PS bundle's tables, byte for byte.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

import construct

from formats import ps_bundle
from formats.layout import (
    Blob,
    Counted,
    Field,
    FileLayout,
    Placed,
    Record,
    Rule,
    Stated,
    at_least,
    at_most,
    between,
    exactly,
    magic,
    odd,
    power_of_two,
    reserved,
    u16,
    u32,
    u64,
)
from formats.q25tokrt.compact_records import (
    BYTE_VALUE,
    MERGE_HIGH_BITS,
    MERGE_LOW_BITS,
    PAIR_MULTIPLIER,
    PAIR_ROW,
)
from formats.q25tokrt.fast_records import PAIR_BITS, TOKEN_PREFIX, TRIE_SLOT

MAGIC = b"Q25TOKRT"
MAJOR = 1
MINOR = 0
NONE = 0xFFFFFFFF
"""An id or slot that is not there."""

N_BYTES = 256
DEFAULT_ALIGN = 64
ALIGNMENTS = power_of_two(DEFAULT_ALIGN, 65536)
MAX_END_IDS = 8
MAX_SECTIONS = 32
PRE_NAME_BYTES = 32
MAX_PROBE = 16
"""The packer looks for a hash seed with which no look-up takes more slots."""
ROW_BITS = 18
"""Low bits of a slot of the merge-pair index: row + 1. The bits above hold the fingerprint."""
MAX_MERGES = (1 << ROW_BITS) - 2


class Flag(IntFlag):
    """Bits of the header's `flags`."""

    RANK_IS_OUT_ID = 1 << 0
    """rank = out_id - 256 for every merge."""
    NFC = 1 << 1
    """Text is normalised to NFC before it is split."""
    SAMPLE = 1 << 2
    """Built on the sample, not on a model."""


KNOWN_FLAGS = Flag.RANK_IS_OUT_ID | Flag.NFC | Flag.SAMPLE
PROFILE_SHIFT = 8
PROFILE_MASK = 0xF << PROFILE_SHIFT
"""Bits of the header's `flags` that hold the profile."""


class Profile(IntEnum):
    """What an image is made for."""

    STANDARD = 0
    """Text is merged."""
    FAST = 1
    """Tokens are found with a trie: fewer instructions, and a bit of scratch for each byte of a long piece."""
    COMPACT = 2
    """Text is merged, with a quarter of the bytes: of a token that merges make, only the last merge is there."""


class Kind(IntEnum):
    """What a section holds."""

    TOKEN_INDEX = 1
    TOKEN_BYTES = 2
    MERGE_TABLE = 3
    BYTE_TOKEN_MAP = 4
    MERGE_PAIR_INDEX = 5
    SPECIAL_TOKEN_INDEX = 6
    TOKEN_TRIE = 7
    TOKEN_PREFIXES = 8
    MERGE_PAIR_BITMAP = 9
    MERGE_LOW_BITS = 16
    MERGE_HIGH_BITS = 17
    PAIR_MULTIPLIERS = 18
    PAIR_ROWS = 19
    STORED_TOKEN_INDEX = 20
    STORED_TOKEN_BYTES = 21
    BYTE_VALUES = 22


_TABLES = (
    Kind.TOKEN_INDEX,
    Kind.TOKEN_BYTES,
    Kind.MERGE_TABLE,
    Kind.BYTE_TOKEN_MAP,
    Kind.MERGE_PAIR_INDEX,
    Kind.SPECIAL_TOKEN_INDEX,
)
_COMPACT = (
    Kind.BYTE_TOKEN_MAP,
    Kind.BYTE_VALUES,
    Kind.MERGE_LOW_BITS,
    Kind.MERGE_HIGH_BITS,
    Kind.PAIR_MULTIPLIERS,
    Kind.PAIR_ROWS,
    Kind.STORED_TOKEN_INDEX,
    Kind.STORED_TOKEN_BYTES,
    Kind.SPECIAL_TOKEN_INDEX,
)
SECTIONS = {
    Profile.STANDARD: _TABLES,
    Profile.FAST: (*_TABLES, Kind.TOKEN_TRIE, Kind.TOKEN_PREFIXES, Kind.MERGE_PAIR_BITMAP),
    Profile.COMPACT: _COMPACT,
}
"""The sections of an image of each profile, in their order; a reader takes others for unknown ones."""

OPTIONAL = 1
"""Directory flag: a reader that does not know the kind skips the section."""
OPTIONAL_KINDS = frozenset({Kind.TOKEN_TRIE, Kind.TOKEN_PREFIXES, Kind.MERGE_PAIR_BITMAP})
"""Kinds that a reader skips if it does not know them."""

_KNOWN_BITS = Rule(
    f"no bits but 0 to 2, and a profile from 0 to {max(Profile)} in bits 8 to 11",
    lambda found: (found & ~(KNOWN_FLAGS | PROFILE_MASK) == 0) & (found >> PROFILE_SHIFT <= max(Profile)),
    high=int(KNOWN_FLAGS) | max(Profile) << PROFILE_SHIFT,
)

HEADER = Record(
    "q25tokrt_header",
    "The start of the image: what it holds and how it was made.",
    magic("magic", MAGIC, "the format's name"),
    Field("major", u16, "a reader refuses another major version", rule=exactly(MAJOR)),
    Field("minor", u16, "a higher minor version adds what older readers may skip"),
    Field("header_bytes", u32, "size of this header; the directory follows", unit="bytes", rule=exactly(256)),
    Field("total_bytes", u32, "size of the image, a multiple of section_align", unit="bytes"),
    Field(
        "flags",
        u32,
        "bit 0 rank = out_id - 256, bit 1 NFC, bit 2 sample, bits 8-11 profile",
        rule=_KNOWN_BITS,
        flags=Flag,
        above=(PROFILE_SHIFT, Profile),
    ),
    Field(
        "section_count",
        u32,
        "entries of the directory",
        rule=between(min(map(len, SECTIONS.values())), MAX_SECTIONS),
    ),
    Field(
        "section_align",
        u32,
        "every section starts on a multiple of it",
        unit="bytes",
        rule=ALIGNMENTS,
    ),
    Field("n_tokens", u32, "ids of tokens, padding included", unit="tokens", rule=at_least(1)),
    Field("n_base", u32, "tokens of type normal", unit="tokens"),
    Field("n_added", u32, "entries of the special-token index", unit="tokens"),
    Field("n_merges", u32, "merges; each has its rank for its row", rule=at_most(MAX_MERGES)),
    Field("max_token_bytes", u32, "length of the longest token", unit="bytes", rule=at_most(0xFFFF)),
    Field(
        "max_probe",
        u32,
        "slots that a look-up in the merge-pair index visits",
        rule=between(1, MAX_PROBE),
    ),
    Field("hash_seed", u64, "multiplier of the merge-pair index's hash", rule=odd(), form="hex"),
    Field(
        "pre_name",
        construct.Bytes(PRE_NAME_BYTES),
        "the pre-tokenizer's name as in the GGUF, NUL-padded",
        form="text",
    ),
    Field(
        "class_tables",
        u32,
        "Unicode of the character classes: major << 16, minor << 8, patch; 0 none",
        form="hex",
    ),
    Field("nfc_tables", u32, "Unicode of the NFC tables, in the same form", form="hex"),
    Field("bos_id", u32, "id that starts a text, or 0xFFFFFFFF", unit="token id", absent=NONE),
    Field("eos_id", u32, "id that ends a text, or 0xFFFFFFFF", unit="token id", absent=NONE),
    Field("pad_id", u32, "id that fills a batch, or 0xFFFFFFFF", unit="token id", absent=NONE),
    Field("n_end_ids", u32, "used entries of end_ids", rule=at_most(MAX_END_IDS)),
    Field(
        "end_ids",
        Counted(MAX_END_IDS, u32),
        "every id that ends a turn or a text; unused 0xFFFFFFFF",
        unit="token id",
        absent=NONE,
    ),
    Field("source_sha256", construct.Bytes(32), "SHA-256 of the GGUF blob the image was made from"),
    Field("first_pad_id", u32, "ids from here on are padding; n_tokens: nothing is", unit="token id"),
    reserved("reserved", 64),
    Field("crc32", u32, "CRC-32 (zlib) of the bytes before it followed by the whole directory", form="hex"),
)

DIRECTORY_ENTRY = Record(
    "q25tokrt_directory_entry",
    "Where one section lies.",
    Field("kind", u32, "what the section holds; compact forms from 16", names=Kind, is_open=True),
    Field("flags", u32, "bit 0: readers that do not know the kind skip it", rule=at_most(OPTIONAL)),
    Field(
        "record_bytes",
        u32,
        "size of one record; 0: no plain list of records",
        unit="bytes",
    ),
    Field("offset", u32, "from the image's start, a multiple of section_align", unit="bytes", form="hex"),
    Field("length", u32, "size of the payload, without the zeros behind it", unit="bytes"),
    Field("count", u32, "number of records"),
    Field("crc32", u32, "CRC-32 (zlib) of the payload", form="hex"),
    Field("reserved", u32, "zero", rule=exactly(0)),
)

BYTE_TOKEN = Record(
    "byte_token",
    "The token that is exactly one byte; the row is the byte.",
    Field("token_id", u32, "the token's id, or 0xFFFFFFFF", unit="token id", absent=NONE),
)

PAIR_SLOT = Record(
    "pair_slot",
    "One slot of the merge-pair index. The hash of a pair is the high half of (m XOR m >> 32) * 0xD6E8FEB86659FD93, "
    "with m = (left_id * 2^32 + right_id) * hash_seed, both mod 2^64. Its home is slot hash mod 2^k, k the smallest "
    "with 10 * n_merges <= 6 * 2^k. A merged pair is in one of max_probe slots from its home on, with none empty "
    "before it.",
    Field(
        "slot",
        u32,
        "0 empty, else bits 0-17 row of the merge table + 1, bits 18-31 those of the hash",
        form="hex",
    ),
)

SPECIAL_TOKEN_INDEX = Record(
    "special_token_index",
    "Which added tokens may start at a byte.",
    Field(
        "first_bytes",
        construct.Bytes(32),
        "bit b mod 8 of byte b / 8: a token starts with byte b",
    ),
    Field(
        "token_ids",
        Counted("count", u32),
        "sorted by first byte, then longest first, then id",
        unit="token id",
    ),
)

IMAGE = FileLayout(
    "q25tokrt",
    "A tokenizer as one memory image that firmware opens in place.",
    Field("header", HEADER, "what the image holds and how it was made"),
    Field("directory", Counted("header.section_count", DIRECTORY_ENTRY), "an entry for each section"),
    Field(
        "sections",
        Placed(
            "directory",
            size=Stated("length"),
            align="header.section_align",
            kind_field="kind",
            kinds=Kind,
            cases={
                Kind.TOKEN_INDEX: Counted("count", ps_bundle.TOKEN_INDEX_RECORD),
                Kind.TOKEN_BYTES: Blob("length"),
                Kind.MERGE_TABLE: Counted("count", ps_bundle.MERGE_RECORD),
                Kind.BYTE_TOKEN_MAP: Counted("count", BYTE_TOKEN),
                Kind.MERGE_PAIR_INDEX: Counted("count", PAIR_SLOT),
                Kind.SPECIAL_TOKEN_INDEX: SPECIAL_TOKEN_INDEX,
                Kind.TOKEN_TRIE: Counted("count", TRIE_SLOT),
                Kind.TOKEN_PREFIXES: Counted("count", TOKEN_PREFIX),
                Kind.MERGE_PAIR_BITMAP: Counted("count", PAIR_BITS),
                Kind.MERGE_LOW_BITS: Counted("count", MERGE_LOW_BITS),
                Kind.MERGE_HIGH_BITS: Counted("count", MERGE_HIGH_BITS),
                Kind.PAIR_MULTIPLIERS: Counted("count", PAIR_MULTIPLIER),
                Kind.PAIR_ROWS: Counted("count", PAIR_ROW),
                Kind.STORED_TOKEN_INDEX: Counted("count", ps_bundle.TOKEN_INDEX_RECORD),
                Kind.STORED_TOKEN_BYTES: Blob("length"),
                Kind.BYTE_VALUES: Counted("count", BYTE_VALUE),
            },
        ),
        "the sections, in the directory's order, aligned",
    ),
    file_name="q25_tokenizer.img",
    signature=MAGIC,
)

RECORD_BYTES = {
    Kind.TOKEN_INDEX: ps_bundle.TOKEN_INDEX_RECORD.size,
    Kind.TOKEN_BYTES: 0,
    Kind.MERGE_TABLE: ps_bundle.MERGE_RECORD.size,
    Kind.BYTE_TOKEN_MAP: BYTE_TOKEN.size,
    Kind.MERGE_PAIR_INDEX: PAIR_SLOT.size,
    Kind.SPECIAL_TOKEN_INDEX: 0,
    Kind.TOKEN_TRIE: TRIE_SLOT.size,
    Kind.TOKEN_PREFIXES: TOKEN_PREFIX.size,
    Kind.MERGE_PAIR_BITMAP: PAIR_BITS.size,
    Kind.MERGE_LOW_BITS: MERGE_LOW_BITS.size,
    Kind.MERGE_HIGH_BITS: MERGE_HIGH_BITS.size,
    Kind.PAIR_MULTIPLIERS: PAIR_MULTIPLIER.size,
    Kind.PAIR_ROWS: PAIR_ROW.size,
    Kind.STORED_TOKEN_INDEX: ps_bundle.TOKEN_INDEX_RECORD.size,
    Kind.STORED_TOKEN_BYTES: 0,
    Kind.BYTE_VALUES: BYTE_VALUE.size,
}
"""The directory's `record_bytes` of each kind."""


def section_name(kind: int) -> str:
    """Name a section as paths write it: `token_index`, or `kind_99` for an unknown one."""
    return Kind(kind).name.lower() if kind in set(Kind) else f"kind_{kind}"
