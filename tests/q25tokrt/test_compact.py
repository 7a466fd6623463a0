"""Profile compact: its bytes, what it refuses to pack, and what is refused of an image."""

import random
import struct
import zlib

import numpy as np
import pytest
from image_bytes import ImageBytes
from real_models import RealTables
from refusals import attempt, refusal
from small_vocabulary import CONTROL, NORMAL, USER_DEFINED, SmallVocabulary, grown

from formats.q25tokrt import compact_tables
from formats.q25tokrt.compact_records import MAX_PENDING
from formats.q25tokrt.image import REBUILD, open_image
from formats.q25tokrt.layout import SECTIONS, Kind, Profile
from formats.q25tokrt.verify import verify_image
from pipeline.bpe.decoder import Decoder
from pipeline.bpe.encoder import Encoder
from pipeline.bpe.image_tables import ImageTables

STANDARD_SERVES = "; profile standard serves any vocabulary"
VOCABULARY = grown(
    "a|b", "ab|c", "c|a", "a|a", "aa|aa", added=[("<s>", CONTROL), ("<u>", USER_DEFINED)], pads=2
)
IMAGE = VOCABULARY.image(profile=Profile.COMPACT)
NUMBER = {kind: number for number, kind in enumerate(SECTIONS[Profile.COMPACT])}


def payload(kind, image=IMAGE):
    return bytes(open_image(image).sections[kind].data)


def test_the_sections_of_a_small_image():
    """Merges a|b, ab|c, c|a, a|a, aa|aa make 256 to 260; what is stored begins with 261."""
    assert payload(Kind.BYTE_TOKEN_MAP) == struct.pack("<256I", *range(256))
    assert payload(Kind.BYTE_VALUES) == bytes(range(256))
    assert payload(Kind.MERGE_LOW_BITS) == struct.pack("<10H", 97, 98, 256, 99, 99, 97, 97, 97, 259, 259)
    assert payload(Kind.MERGE_HIGH_BITS) == b""
    assert payload(Kind.STORED_TOKEN_BYTES) == b"<s><u>[PAD263][PAD264]"
    assert payload(Kind.STORED_TOKEN_INDEX) == struct.pack(
        "<IHHIHHIHHIHH", 0, 3, 3, 3, 3, 4, 6, 8, 5, 14, 8, 5
    )
    assert payload(Kind.SPECIAL_TOKEN_INDEX)[32:] == struct.pack("<2I", 261, 262)
    assert (len(payload(Kind.PAIR_MULTIPLIERS)), len(payload(Kind.PAIR_ROWS))) == (4, 18)
    made = ImageBytes(IMAGE)
    assert made.header("flags") == 0x203
    assert (made.header("max_probe"), made.header("max_token_bytes")) == (1, 8)
    assert {made.entry(number, "flags") for number in NUMBER.values()} == {0}


def test_bytes_in_another_order():
    """The map and the values turn each other around."""
    chance = random.Random(1)
    order = list(range(256))
    chance.shuffle(order)
    image = grown("a|b", byte_values=order).image(profile=Profile.COMPACT)
    assert list(payload(Kind.BYTE_VALUES, image)) == order
    byte_tokens = struct.unpack("<256I", payload(Kind.BYTE_TOKEN_MAP, image))
    assert [order[token] for token in byte_tokens] == list(range(256))
    assert ImageTables(verify_image(image)).token_bytes(256) == b"ab"


@pytest.mark.parametrize("count", [0, 1, 65_279, 65_280, 65_281, 65_282, 70_000, 70_001])
def test_ids_of_more_than_16_bits(count):
    """The high bits begin with the merge that may be of token 65,536, and fill half a byte each."""
    rows = np.arange(count)
    left, right = rows + 255, np.maximum(rows * 3 % 77_777 - 7, 0)
    left, right = np.minimum(left, rows + 255), np.minimum(right, rows + 255)
    low, high = compact_tables.pack_merges(left, right)
    assert (low.itemsize, len(low)) == (4, count)
    assert len(high) == (count - 65_280 + 1) // 2 if count > 65_280 else len(high) == 0
    found = compact_tables.unpack_merges(low.tobytes(), high.tobytes())
    assert np.array_equal(found, (left, right))
    merges = compact_tables.Merges(np.frombuffer(low.tobytes(), "<u4").tolist(), high.tobytes())
    for row in {0, 65_279, 65_280, 65_281, count - 1} & set(range(count)):
        assert merges[row] == (left[row], right[row])


# What cannot be packed


def test_bytes_without_a_token_below_256():
    assert refusal(grown("a|b", byte_values=b"ab").image, profile=Profile.COMPACT).startswith(
        "byte_token_map[0]: expected an id below 256 for each byte, found 4294967295"
    )


def test_ranks_that_are_no_ids():
    swapped = grown("a|b", "ab|c")
    swapped.tokens[256], swapped.tokens[257] = swapped.tokens[257], swapped.tokens[256]
    swapped.merges = [(97, 98, 257), (257, 99, 256)]
    assert refusal(swapped.image, profile=Profile.COMPACT) == (
        "merge_table[0].out_id: expected rank + 256 = 256, found 257" + STANDARD_SERVES
    )


def test_a_merge_of_a_token_that_comes_later():
    vocabulary = SmallVocabulary(
        [*((bytes([byte]), NORMAL) for byte in range(256)), (b"abc", NORMAL), (b"bc", NORMAL)],
        [(97, 257, 256), (98, 99, 257)],
    )
    assert refusal(vocabulary.image, profile=Profile.COMPACT) == (
        "merge_table[0]: expected two ids below the one made, 256, found 97 and 257" + STANDARD_SERVES
    )


def test_a_token_that_is_too_deep():
    def comb(depth):
        return grown(*("a" + "b" * count + "|b" for count in range(depth)))

    assert verify_image(comb(MAX_PENDING).image(profile=Profile.COMPACT))
    assert refusal(comb(MAX_PENDING + 1).image, profile=Profile.COMPACT) == (
        "merge_table_u32.bin: merge_table[32] at offset 0x200 (512): "
        "expected a token of which at most 32 parts wait while it is taken apart, found 33" + STANDARD_SERVES
    )


def test_more_bytes_or_merges_than_may_be(monkeypatch):
    monkeypatch.setattr(compact_tables, "MAX_MADE_BYTES", 270)
    assert grown("a|a", "aa|aa", "aaaa|aaaa").image(profile=Profile.COMPACT)  # 256 + 2 + 4 + 8
    vocabulary = grown("a|a", "aa|aa", "aaaa|aaaa", "a|b")
    assert refusal(vocabulary.image, profile=Profile.COMPACT) == (
        "merge_table_u32.bin: merge_table at offset 0x0 (0): expected tokens of at most 270 bytes together, found more"
        + STANDARD_SERVES
    )
    monkeypatch.setattr(compact_tables, "MAX_COMPACT_MERGES", 3)
    assert refusal(vocabulary.image, profile=Profile.COMPACT) == (
        "merge_table_u32.bin: merge_table at offset 0x0 (0): expected at most 3 merges (ids of 18 bits), found 4"
        + STANDARD_SERVES
    )


def test_what_fast_refuses_may_be_compact():
    """Merging the bytes of abc makes a and bc, so abc is never made; ids are the same all the same."""
    vocabulary = grown("b|c", "a|b", "ab|c")
    assert "expected that merging the bytes of token 258" in refusal(vocabulary.image, profile=Profile.FAST)
    encoders = [
        Encoder(ImageTables(verify_image(vocabulary.image(profile=profile))))
        for profile in (Profile.STANDARD, Profile.COMPACT)
    ]
    for text in ("abc", "aabcbcabab"):
        one, other = (encoder.encode(text) for encoder in encoders)
        assert one == other


# What is refused of an image


def edited(kind, offset, data, **header):
    made = ImageBytes(IMAGE)
    at = made.section(NUMBER[kind]).start + offset
    made.raw[at : at + len(data)] = data
    return bytes(made.set_header(**header).seal())


@pytest.mark.parametrize(
    ("kind", "offset", "data", "words"),
    [
        (
            Kind.BYTE_TOKEN_MAP, 4, b"\0",
            "byte_token_map[1] at offset 0x{at:X} ({at}): expected an id below 256 for each byte, each once, found 0",
        ),
        (Kind.BYTE_VALUES, 97, b"b", "byte_values[97] at offset 0x{at:X} ({at}): expected 0x61, found 0x62"),
        (
            Kind.MERGE_LOW_BITS, 4, b"\1",
            "merge_low_bits[1] at offset 0x{at:X} ({at}): expected two ids below 257, found 257 and 99",
        ),
        (
            Kind.MERGE_LOW_BITS, 12, b"\x63",
            "merge_low_bits[3] at offset 0x{at:X} ({at}): expected each pair once, found the pair 99, 97 of row 2",
        ),
        (Kind.PAIR_MULTIPLIERS, 0, b"\xff\xff", "pair_multipliers[0] at offset 0x{at:X} ({at}): expected 0x"),
        (Kind.PAIR_ROWS, 3, b"\1\2\3", "pair_rows[1] at offset 0x{at:X} ({at}): expected 0x"),
        (Kind.STORED_TOKEN_INDEX, 8, b"\2", "stored_token_index[1].byte_offset at offset 0x{at:X} ({at}): expected 3"),
        (
            Kind.SPECIAL_TOKEN_INDEX, 32, b"\7",
            "special_token_index.token_ids[0] at offset 0x{at:X} ({at}): expected 0x00000105, found 0x00000107",
        ),
    ],
)  # fmt: skip
def test_a_fault_is_named_by_row_and_offset(kind, offset, data, words):
    at = ImageBytes(IMAGE).section(NUMBER[kind]).start + offset
    line = refusal(verify_image, edited(kind, offset, data), "t.img")
    assert line.startswith("t.img: sections." + words.format(at=at))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"flags": 0x202}, "header.flags at offset 0x14 (20): expected bit 0 set, which profile compact needs"),
        ({"n_base": 260}, "header.n_base at offset 0x24 (36): expected at least 261, a token for each byte and merge"),
        ({"max_probe": 2}, "header.max_probe at offset 0x34 (52): expected at most 1 in profile compact, found 2"),
        (
            {"n_merges": 261_889, "n_base": 300_000, "n_tokens": 400_000},
            "header.n_merges at offset 0x2C (44): expected at most 261888 in profile compact, found 261889",
        ),
        ({"n_merges": 4}, "header.n_merges at offset 0x2C (44): expected 5, as the sections have it, found 4"),
        ({"max_token_bytes": 9}, "header.max_token_bytes at offset 0x30 (48): expected 8, as the sections have it"),
        ({"first_pad_id": 260}, "header.first_pad_id at offset 0xB8 (184): expected 261, as the sections have it"),
        ({"n_base": 262}, "header.n_base at offset 0x24 (36): expected 261, as the sections have it, found 262"),
        ({"flags": 0x303}, "header.flags at offset 0x14 (20): expected no bits but 0 to 2, and a profile from 0 to 2"),
        ({"flags": 3}, "directory[1].kind at offset 0x120 (288): expected a known kind, or one marked optional"),
    ],
)  # fmt: skip
def test_a_header_that_the_sections_contradict(fields, words):
    image = bytes(ImageBytes(IMAGE).set_header(**fields).seal())
    assert refusal(verify_image, image, "t.img").startswith("t.img: " + words)


def test_a_seed_without_an_index(monkeypatch):
    monkeypatch.setattr("formats.q25tokrt.perfect_index.arrange", lambda *_: None)
    assert refusal(verify_image, IMAGE) == (
        "header.hash_seed at offset 0x38 (56): expected a seed with which there is an index, "
        f"found 0x9E3779B97F4A7C15; {REBUILD}"
    )


def test_flipped_bits_are_found_where_they_are():
    made = ImageBytes(IMAGE)
    for kind, number in NUMBER.items():
        place = made.section(number)
        for at in {place.start, (place.start + place.stop) // 2, place.stop - 1} & {
            *range(place.start, place.stop)
        }:
            for bit in range(8):
                changed = bytearray(IMAGE)
                changed[at] ^= 1 << bit
                line = refusal(verify_image, bytes(changed), "t.img")
                assert line.startswith(f"t.img: sections.{kind.name.lower()}"), (at, bit, line)


def test_random_changes_with_checksums_that_hold():
    """Refused in one line, or harmless: decoding and encoding agree with what was proved."""
    chance = random.Random(5)
    harmless = 0
    for _ in range(250):
        made = ImageBytes(IMAGE)
        for _ in range(chance.choice((1, 1, 2))):
            at = chance.randrange(20, len(made.raw)) if chance.random() < 0.8 else chance.randrange(32, 56)
            made.raw[at] = chance.choice([0, 1, 5, 97, 0xFF, made.raw[at] ^ 1 << chance.randrange(8)])
        opened, error = attempt(verify_image, bytes(made.seal()), "t.img")
        if error is not None:
            assert "\n" not in str(error)
            continue
        harmless += 1
        tables = ImageTables(opened)
        assert Decoder(tables).decode([256, 257, 260]) == b"ababcaaaa"
    assert 0 < harmless < 200


# What it holds is what the tables hold


@pytest.mark.parametrize("family", [pytest.param("qwen2.5", marks=pytest.mark.long), "qwen3"])
def test_the_real_vocabularies(family):
    tables = RealTables.of(family)
    image = tables.image(profile=Profile.COMPACT)
    assert len(image) < 1_190_000
    whole, compact = ImageTables(open_image(tables.image())), ImageTables(verify_image(image))
    for token in [*range(0, whole.n_tokens, 31), *range(151_380, whole.n_tokens)]:
        assert compact.token_bytes(token) == whole.token_bytes(token)
        assert compact.token_type(token) == whole.token_type(token)
    merges = tables.vocabulary.merges
    for row in range(0, len(merges.left), 31):
        pair = int(merges.left[row]), int(merges.right[row])
        assert compact.merge(*pair) == whole.merge(*pair) == (row, row + 256)
        other = pair[1], pair[0]
        assert compact.merge(*other) == whole.merge(*other)


def test_the_same_every_time_and_at_any_alignment():
    assert VOCABULARY.image(profile=Profile.COMPACT) == IMAGE
    wide = open_image(VOCABULARY.image(4096, profile=Profile.COMPACT))
    assert [zlib.crc32(part.data) for part in wide.sections.values()] == [
        zlib.crc32(part.data) for part in open_image(IMAGE).sections.values()
    ]


def test_strings_of_all_tokens():
    left, right = compact_tables.unpack_merges(payload(Kind.MERGE_LOW_BITS), b"")
    strings = compact_tables.made_strings(left, right, payload(Kind.BYTE_VALUES))
    assert list(strings) == [data for data, _ in VOCABULARY.tokens[:261]]
