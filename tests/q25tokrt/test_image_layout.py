"""The bytes of a whole image, written out, and where each header field lies."""

import struct
import zlib

import pytest
from small_vocabulary import CONTROL, NORMAL, UNUSED, SmallVocabulary, grown

from formats.q25tokrt import layout
from formats.q25tokrt.image import open_image
from formats.q25tokrt.layout import DIRECTORY_ENTRY, HEADER, NONE, RECORD_BYTES, Flag, Kind
from formats.q25tokrt.verify import verify_image
from formats.token_types_bin import TOKEN_TYPE

# Tokens a, b, ab, <s>, [PAD4]; one merge.
TINY = SmallVocabulary(
    [(b"a", NORMAL), (b"b", NORMAL), (b"ab", NORMAL), (b"<s>", CONTROL), (b"[PAD4]", UNUSED)],
    [(0, 1, 2)],
    first_pad_id=4,
)
FACTS = {"bos_id": 3, "eos_id": 3, "end_ids": (3,), "sample": True}

# struct header {                                                    offset
#     char     magic[8];                                                  0
#     uint16_t major, minor;                                              8
#     uint32_t header_bytes, total_bytes, flags;                         12
#     uint32_t section_count, section_align;                             24
#     uint32_t n_tokens, n_base, n_added, n_merges;                      32
#     uint32_t max_token_bytes, max_probe;                               48
#     uint64_t hash_seed;                                                56
#     char     pre_name[32];                                             64
#     uint32_t class_tables, nfc_tables;                                 96
#     uint32_t bos_id, eos_id, pad_id;                                  104
#     uint32_t n_end_ids, end_ids[8];                                   116
#     uint8_t  source_sha256[32];                                       152
#     uint32_t first_pad_id;                                            184
#     uint8_t  reserved[64];                                            188
#     uint32_t crc32;                                                   252
# };
HEADER_HEX = (
    """
    51 32 35 54 4F 4B 52 54  01 00 00 00  00 01 00 00  00 07 00 00  06 00 00 00
    06 00 00 00  40 00 00 00
    05 00 00 00  03 00 00 00  01 00 00 00  01 00 00 00
    06 00 00 00  01 00 00 00  15 7C 4A 7F B9 79 37 9E
    71 77 65 6E 32 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
    00 00 10 00  00 00 09 00  03 00 00 00  03 00 00 00  FF FF FF FF
    01 00 00 00  03 00 00 00  FF FF FF FF  FF FF FF FF  FF FF FF FF
                 FF FF FF FF  FF FF FF FF  FF FF FF FF  FF FF FF FF
    00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11 12 13 14 15 16 17 18 19 1A 1B 1C 1D 1E 1F
    04 00 00 00
"""
    + "00 " * 64
)

# struct section { uint32_t kind, flags, record_bytes, offset, length, count, crc32, zero; } sections[6];
SECTIONS = [
    (1, 0, 8, 448, 40, 5),
    (2, 0, 0, 512, 13, 5),
    (3, 0, 16, 576, 16, 1),
    (4, 0, 4, 640, 1024, 256),
    (5, 0, 4, 1664, 64, 16),
    (6, 0, 0, 1728, 36, 1),
]
INDEX_HEX = """
    00 00 00 00 01 00 01 00  01 00 00 00 01 00 01 00  02 00 00 00 02 00 01 00
    04 00 00 00 03 00 03 00  07 00 00 00 06 00 05 00
"""
MERGES_HEX = "00 00 00 00  01 00 00 00  02 00 00 00  00 00 00 00"


def mixed(left, right, seed):
    """Hash a pair, by the format's own words."""
    x = (left << 32 | right) * seed % 2**64
    x ^= x >> 32
    return x * 0xD6E8FEB86659FD93 % 2**64 >> 32


def payloads():
    byte_map = [NONE] * 256
    byte_map[ord("a")], byte_map[ord("b")] = 0, 1
    slots = [0] * 16
    hashed = mixed(0, 1, 0x9E3779B97F4A7C15)
    slots[hashed % 2] = hashed >> 18 << 18 | 1  # two home slots, for a load of at most 0.6
    first_bytes = bytearray(32)
    first_bytes[ord("<") // 8] = 1 << ord("<") % 8
    return [
        bytes.fromhex(INDEX_HEX),
        b"abab<s>[PAD4]",
        bytes.fromhex(MERGES_HEX),
        struct.pack("<256I", *byte_map),
        struct.pack("<16I", *slots),
        bytes(first_bytes) + struct.pack("<I", 3),
    ]


def test_a_whole_image():
    directory = b"".join(
        struct.pack("<8I", *section, zlib.crc32(payload), 0)
        for section, payload in zip(SECTIONS, payloads(), strict=True)
    )
    header = bytes.fromhex(HEADER_HEX)
    header += struct.pack("<I", zlib.crc32(header + directory))
    expected = bytearray(1792)
    expected[:256], expected[256:448] = header, directory
    for (_, _, _, offset, length, _), payload in zip(SECTIONS, payloads(), strict=True):
        assert len(payload) == length
        expected[offset : offset + length] = payload
    assert TINY.image(**FACTS) == bytes(expected)


def test_the_opened_image_says_the_same():
    image = verify_image(TINY.image(**FACTS), "tiny.img")
    assert image.flags == Flag.NFC | Flag.SAMPLE
    assert image.pre_name == "qwen2"
    assert image.end_ids == (3,)
    assert image.source_sha256 == bytes(range(32)).hex()
    kinds = layout.SECTIONS[layout.Profile.STANDARD]
    assert [bytes(image.sections[kind].data) for kind in kinds] == payloads()
    assert [image.sections[kind].count for kind in kinds] == [section[5] for section in SECTIONS]
    assert [image.sections[kind].place.offset for kind in kinds] == [section[3] for section in SECTIONS]
    assert image.sections[Kind.TOKEN_BYTES].place.path == "sections.token_bytes"


@pytest.mark.parametrize(
    ("name", "offset"),
    [
        ("magic", 0), ("major", 8), ("minor", 10), ("header_bytes", 12), ("total_bytes", 16), ("flags", 20),
        ("section_count", 24), ("section_align", 28), ("n_tokens", 32), ("n_base", 36), ("n_added", 40),
        ("n_merges", 44), ("max_token_bytes", 48), ("max_probe", 52), ("hash_seed", 56), ("pre_name", 64),
        ("class_tables", 96), ("nfc_tables", 100), ("bos_id", 104), ("eos_id", 108), ("pad_id", 112),
        ("n_end_ids", 116), ("end_ids", 120), ("source_sha256", 152), ("first_pad_id", 184),
        ("reserved", 188), ("crc32", 252),
    ],
)  # fmt: skip
def test_where_header_fields_lie(name, offset):
    assert HEADER.offset_of(name) == offset


def test_sizes():
    assert (HEADER.size, DIRECTORY_ENTRY.size) == (256, 32)
    assert HEADER.offset_of("hash_seed") % 8 == 0  # firmware reads it in place
    assert [RECORD_BYTES[kind] for kind in Kind] == [8, 0, 16, 4, 4, 0, 4, 4, 1, 4, 1, 2, 3, 8, 0, 1]
    assert layout.SPECIAL_TOKEN_INDEX.head().size == 32
    assert TOKEN_TYPE.size == 4


def test_rank_is_out_id_is_said_where_it_holds():
    """With 256 tokens before the first merge's, as in Qwen."""
    follows = grown("a|b", "ab|c", added=[("<s>", CONTROL)])
    assert open_image(follows.image()).flags & Flag.RANK_IS_OUT_ID
    swapped = grown("a|b", "ab|c")
    swapped.tokens[256], swapped.tokens[257] = swapped.tokens[257], swapped.tokens[256]
    swapped.merges = [(97, 98, 257), (257, 99, 256)]
    assert not open_image(swapped.image()).flags & Flag.RANK_IS_OUT_ID
