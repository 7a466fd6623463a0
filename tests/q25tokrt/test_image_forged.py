"""Images by a hostile writer, whose checksums all hold: refused, or harmless to whoever reads them."""

import random
import struct

import pytest
from image_bytes import ENTRY_BYTES, HEADER_BYTES, ImageBytes
from refusals import attempt, refusal
from small_vocabulary import CONTROL, NORMAL, UNUSED, USER_DEFINED, SmallVocabulary, grown

from formats.layout import u32
from formats.q25tokrt.layout import HEADER, Flag, Kind
from formats.q25tokrt.verify import verify_image
from pipeline.bpe.decoder import Decoder
from pipeline.bpe.encoder import Encoder
from pipeline.bpe.errors import ByteTokenError
from pipeline.bpe.image_tables import ImageTables
from pipeline.errors import PipelineError

VOCABULARY = grown(
    "a|b", "ab|c", "c|d", "b|c", "x|abc", added=[("<s>", CONTROL), ("<tag>", USER_DEFINED)], pads=3
)
IMAGE = VOCABULARY.image(eos_id=261, end_ids=(261,))
TEXTS = ("abcd xabc", "<s>ab<tag>", "<s", "é\n1", "", "a" * 60, "abc" * 50)
EDGES = (
    0,
    1,
    2,
    3,
    5,
    6,
    16,
    31,
    255,
    256,
    260,
    261,
    262,
    265,
    266,
    0xFFFF,
    2**18,
    2**31,
    2**32 - 2,
    2**32 - 1,
)


def assert_refused_or_harmless(image):
    """Verify; what passes must encode, decode and describe itself without any other failure."""
    opened, error = attempt(verify_image, image, "t.img")
    if error is not None:
        assert "\n" not in str(error)
        return False
    tables = ImageTables(opened)
    for specials in ("all", "user", "none"):
        encoder, error = attempt(Encoder, tables, specials, error=PipelineError)
        for text in TEXTS if error is None else ():
            ids, error = attempt(encoder.encode, text, error=ByteTokenError)
            if error is None:
                assert all(0 <= token < opened.header.first_pad_id for token in ids)
                assert Decoder(tables).decode(ids) == text.encode()
    assert len(Decoder(tables).decode(range(tables.n_tokens))) <= len(opened.sections[Kind.TOKEN_BYTES].data)
    return True


def mutate(chance):
    """Change one to three things: a header field, an entry, a word or a byte of a section."""
    made = ImageBytes(IMAGE)
    for _ in range(chance.choice((1, 1, 2, 3))):
        number = chance.randrange(6)
        part = made.section(number)
        match chance.randrange(6):
            case 0:
                field = chance.choice(
                    [
                        field.name
                        for field in HEADER.fields
                        if field.subcon is u32 and field.name != "section_count"
                    ]
                )
                old = made.header(field)
                made.set_header(**{field: chance.choice((*EDGES, old + 1, max(old - 1, 0))) & 0xFFFFFFFF})
            case 1:
                at = chance.choice(range(64, 252))
                made.raw[at] = chance.randrange(256)
            case 2:
                field = chance.choice(("kind", "flags", "record_bytes", "offset", "length", "count"))
                old = made.entry(number, field)
                value = chance.choice((*EDGES, old + 1, max(old - 1, 0), old + 4, old ^ 64))
                made.set_entry(number, **{field: value & 0xFFFFFFFF})
            case 3 if part.stop - part.start >= 4 and part.stop <= len(made.raw):
                at = part.start + chance.randrange((part.stop - part.start) // 4) * 4
                (old,) = struct.unpack_from("<I", made.raw, at)
                value = chance.choice((*EDGES, old + 1, old - 1, old ^ 1 << chance.randrange(32)))
                struct.pack_into("<I", made.raw, at, value & 0xFFFFFFFF)
            case 4 if part.stop - part.start >= 1 and part.stop <= len(made.raw):
                made.raw[chance.randrange(part.start, part.stop)] = chance.randrange(256)
            case _:
                made.raw[chance.randrange(len(made.raw))] ^= 1 << chance.randrange(8)
    return bytes(made.seal())


def fuzz(seed, count):
    chance = random.Random(seed)
    return sum(assert_refused_or_harmless(mutate(chance)) for _ in range(count))


def test_random_changes_with_checksums_that_hold():
    assert 0 < fuzz(1, 1_500) < 1_000  # some changes are harmless, such as another bos id


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 8))
def test_many_random_changes_with_checksums_that_hold(seed):
    assert 0 < fuzz(seed, 15_000) < 10_000


def sealed(change):
    made = ImageBytes(IMAGE)
    change(made)
    return bytes(made.seal())


def put(section, at, data):
    """Write bytes into a section."""

    def change(made):
        start = made.section(section).start + at
        made.raw[start : start + len(data)] = data

    return change


def word(section, row, value, size=4, field=0):
    return put(section, row * size + field, struct.pack("<I", value))


INDEX, BYTES, MERGES, BYTE_MAP, PAIRS, SPECIAL = range(6)
SLOT = next(
    row
    for row in range(16)
    if struct.unpack_from("<I", IMAGE, ImageBytes(IMAGE).section(PAIRS).start + 4 * row)[0]
)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (word(INDEX, 3, 0xFFFFFF00, 8), "sections.token_index[3].byte_offset"),
        (word(INDEX, 3, 0x0001FFFF, 8, 4), "sections.token_index[4].byte_offset"),
        (word(INDEX, 256, 0x00030002, 8, 4), "header.n_base"),
        (word(INDEX, 97, 0x00030001, 8, 4), "header.n_base"),
        (put(BYTES, 97, b"z"), "sections.merge_table[0].out_id"),
        (word(MERGES, 0, 0xFFFFFFFF, 16), "sections.merge_table[0].left_id"),
        (word(MERGES, 0, 266, 16, 8), "sections.merge_table[0].out_id"),
        (word(MERGES, 0, 7, 16, 12), "sections.merge_table[0].rank"),
        (word(BYTE_MAP, 97, 0xFFFFFFFF), "sections.byte_token_map[97]"),
        (word(BYTE_MAP, 97, 0xFFFFFFFE), "sections.byte_token_map[97]"),
        (word(BYTE_MAP, 97, 261), "sections.byte_token_map[97]"),
        (word(PAIRS, SLOT, 0), f"sections.merge_pair_index[{SLOT}]"),
        (word(PAIRS, SLOT, 0xFFFFFFFF), f"sections.merge_pair_index[{SLOT}]"),
        (put(PAIRS, 0, b"\1" * 64), "sections.merge_pair_index[0]"),
        (word(SPECIAL, 8, 999), "sections.special_token_index.token_ids[0]"),
        (word(SPECIAL, 8, 97), "sections.special_token_index.token_ids[0]"),
        (put(SPECIAL, ord("<") // 8, b"\0"), f"sections.special_token_index.first_bytes[{ord('<') // 8}]"),
        (put(SPECIAL, 0, b"\xff"), "sections.special_token_index.first_bytes[0]"),
    ],
)  # fmt: skip
def test_a_section_that_says_something_else(change, words):
    line = refusal(verify_image, sealed(change), "t.img")
    assert line.startswith(f"t.img: {words}"), line


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"n_tokens": 267}, "n_tokens at offset 0x20 (32): expected 266, as the sections have it, found 267"),
        ({"n_tokens": 265}, "n_tokens at offset 0x20 (32): expected 266, as the sections have it, found 265"),
        ({"n_base": 260}, "n_base at offset 0x24 (36): expected 261, as the sections have it, found 260"),
        ({"n_added": 1}, "n_added at offset 0x28 (40): expected 2, as the sections have it, found 1"),
        ({"n_merges": 4}, "n_merges at offset 0x2C (44): expected 5, as the sections have it, found 4"),
        (
            {"max_token_bytes": 9},
            "max_token_bytes at offset 0x30 (48): expected 8, as the sections have it, found 9",
        ),
        ({"max_probe": 5}, "max_probe at offset 0x34 (52): expected 1, as the sections have it, found 5"),
    ],
)
def test_a_header_that_contradicts_its_sections(fields, line):
    found = refusal(verify_image, bytes(ImageBytes(IMAGE).set_header(**fields).seal()), "t.img")
    assert found == f"t.img: header.{line}; build the image again"


def test_a_flag_that_the_merges_contradict():
    flags = ImageBytes(IMAGE).header("flags")
    assert flags & Flag.RANK_IS_OUT_ID
    made = ImageBytes(IMAGE).set_header(flags=flags ^ Flag.RANK_IS_OUT_ID).seal()
    assert refusal(verify_image, bytes(made), "t.img") == (
        f"t.img: header.flags at offset 0x14 (20): expected {flags}, as the sections have it, "
        f"found {flags ^ Flag.RANK_IS_OUT_ID}; build the image again"
    )


def test_counts_of_sections_without_records():
    for number, offset in ((BYTES, "0x134 (308)"), (SPECIAL, "0x1B4 (436)")):
        made = ImageBytes(IMAGE)
        right = made.entry(number, "count")
        made.set_entry(number, count=right + 1).seal()
        assert refusal(verify_image, bytes(made), "t.img") == (
            f"t.img: directory[{number}].count at offset {offset}: expected {right}, found {right + 1}; "
            "build the image again"
        )


@pytest.mark.parametrize("length", [1, 8, 31, 33, 36, 38])
def test_a_special_token_index_of_another_length(length):
    """Without added tokens it has 32 bytes, no fewer and no more."""
    made = ImageBytes(grown("a|b", pads=1).image())
    start = made.entry(SPECIAL, "offset")
    made.set_entry(SPECIAL, length=length).seal()
    assert refusal(verify_image, bytes(made), "t.img") == (
        f"t.img: sections.special_token_index at offset 0x{start:X} ({start}): expected 32 bytes, found {length}; "
        "build the image again"
    )


@pytest.mark.parametrize(
    ("number", "more"),
    [(BYTE_MAP, -4), (BYTE_MAP, 4), (PAIRS, -4), (PAIRS, 4), (PAIRS, 64)],
)
def test_a_table_of_another_length(number, more):
    made = ImageBytes(VOCABULARY.image(4096))
    right, start = made.entry(number, "length"), made.entry(number, "offset")
    length = right + more
    made.raw[start + min(length, right) : start + right] = bytes(max(-more, 0))
    name = {BYTE_MAP: "byte_token_map", PAIRS: "merge_pair_index"}[number]
    made.set_entry(number, length=length, count=length // 4).seal()
    assert refusal(verify_image, bytes(made), "t.img") == (
        f"t.img: sections.{name} at offset 0x{start:X} ({start}): expected {right} bytes, found {length}; "
        "build the image again"
    )


def test_merges_to_a_control_token_would_let_text_end_a_turn():
    """Such tables cannot be packed, and an image of them does not verify."""
    tokens = [(b"<", NORMAL), (b"s", NORMAL), (b"<s", NORMAL), (b"<s", CONTROL)]
    good = SmallVocabulary(tokens, [(0, 1, 2)])
    assert "expected the id of a normal token, found 3" in refusal(SmallVocabulary(tokens, [(0, 1, 3)]).image)
    made = ImageBytes(good.image())
    struct.pack_into("<I", made.raw, made.section(MERGES).start + 8, 3)
    assert refusal(verify_image, bytes(made.seal()), "t.img") == (
        f"t.img: sections.merge_table[0].out_id at offset 0x{made.section(MERGES).start + 8:X} "
        f"({made.section(MERGES).start + 8}): expected the id of a normal token, found 3"
    )


def test_padding_of_type_normal_does_not_verify():
    made = ImageBytes(SmallVocabulary([(b"a", NORMAL), (b"[PAD1]", UNUSED)], first_pad_id=1).image())
    start = made.section(INDEX).start
    struct.pack_into("<H", made.raw, start + 14, NORMAL)
    made.set_header(n_base=2)
    assert refusal(verify_image, bytes(made.seal()), "t.img") == (
        f"t.img: sections.token_index[1].token_type at offset 0x{start + 14:X} ({start + 14}): "
        "expected a type other than normal for padding, found 1"
    )


def test_added_tokens_that_are_no_text_stop_the_encoder_in_one_line():
    image = SmallVocabulary([(b"a", NORMAL), (b"\xff\x1b", CONTROL)]).image()
    tables = ImageTables(verify_image(image))
    assert refusal(Encoder, tables, error=PipelineError) == (
        "added token 1: expected text in UTF-8, found bytes ff 1b"
    )
    assert Encoder(tables, "none").encode("a") == [0]


def test_header_and_directory_lie_where_the_helper_changes_them():
    assert (HEADER_BYTES, ENTRY_BYTES) == (256, 32)
