"""Opening an image: every header field and directory entry that a reader must refuse, by its line."""

import zlib

import pytest
from image_bytes import ImageBytes
from refusals import refusal
from small_vocabulary import CONTROL, grown

from formats.q25tokrt.image import open_image
from formats.q25tokrt.layout import DIRECTORY_ENTRY, SECTIONS, Profile
from formats.q25tokrt.verify import verify_image

VOCABULARY = grown("a|b", "ab|c", added=[("<s>", CONTROL)], pads=2)  # 261 tokens
IMAGE = VOCABULARY.image(eos_id=258, end_ids=(258, 0))
SIZE = len(IMAGE)
REBUILD = "; build the image again"


def changed(**fields):
    """Change header fields and make the header's checksum hold again."""
    return bytes(ImageBytes(IMAGE).set_header(**fields).seal_header())


def test_the_image_itself_is_fine():
    assert open_image(IMAGE, "t.img").header.n_tokens == 261
    assert bytes(ImageBytes(IMAGE).seal()) == IMAGE
    for data in (bytearray(IMAGE), memoryview(IMAGE), memoryview(IMAGE).cast("I")):
        assert verify_image(data).header.n_tokens == 261


FLAGS = "no bits but 0 to 2, and a profile from 0 to 2 in bits 8 to 11"
NAME = "at most 31 printable ASCII characters, then NULs"
MAGIC_HEX = "51 32 35 54 4f 4b 52"


@pytest.mark.parametrize(
    ("field", "value", "offset", "expected", "found"),
    [
        ("magic", b"Q25TOKRU", 0, f"'Q25TOKRT' (bytes {MAGIC_HEX} 54)", f"bytes {MAGIC_HEX} 55"),
        ("major", 0, 8, "1", "0"),
        ("major", 2, 8, "1", "2"),
        ("major", 256, 8, "1", "256"),
        ("header_bytes", 252, 12, "256", "252"),
        ("total_bytes", SIZE - 64, 16, f"{SIZE}, the size of the file", f"{SIZE - 64}{REBUILD}"),
        ("total_bytes", SIZE + 64, 16, f"{SIZE}, the size of the file", f"{SIZE + 64}{REBUILD}"),
        ("flags", 8, 20, FLAGS, "8"),
        ("flags", 0x302, 20, FLAGS, "770"),
        ("flags", 1 << 31, 20, FLAGS, "2147483648"),
        ("section_count", 5, 24, "6 to 32", "5"),
        ("section_count", 33, 24, "6 to 32", "33"),
        ("section_count", 2**32 - 1, 24, "6 to 32", "4294967295"),
        ("section_align", 0, 28, "a power of two from 64 to 65536", "0"),
        ("section_align", 48, 28, "a power of two from 64 to 65536", "48"),
        ("section_align", 2**17, 28, "a power of two from 64 to 65536", "131072"),
        ("n_tokens", 0, 32, "at least 1", "0"),
        ("n_base", 262, 36, "at most 261", "262"),
        ("n_added", 4, 40, "at most 3", "4"),
        ("n_merges", 262_143, 44, "at most 262142", "262143"),
        ("max_token_bytes", 65_536, 48, "at most 65535", "65536"),
        ("max_probe", 0, 52, "1 to 16", "0"),
        ("max_probe", 17, 52, "1 to 16", "17"),
        ("hash_seed", 2, 56, "an odd number", "2"),
        ("pre_name", b"q" * 32, 64, NAME, f"bytes {'71 ' * 19}71... (32 bytes)"),
        ("pre_name", b"q\0", 64, NAME, f"bytes 71 00 65 6e 32 {'00 ' * 14}00... (32 bytes)"),
        ("pre_name", b"\x1b", 64, NAME, f"bytes 1b 77 65 6e 32 {'00 ' * 14}00... (32 bytes)"),
        ("pre_name", b"\x7f", 64, NAME, f"bytes 7f 77 65 6e 32 {'00 ' * 14}00... (32 bytes)"),
        ("pre_name", b" ", 64, NAME, f"bytes 20 77 65 6e 32 {'00 ' * 14}00... (32 bytes)"),
        ("bos_id", 261, 104, "below 261, or 0xFFFFFFFF", "261"),
        ("eos_id", 2**32 - 2, 108, "below 261, or 0xFFFFFFFF", "4294967294"),
        ("pad_id", 261, 112, "below 261, or 0xFFFFFFFF", "261"),
        ("n_end_ids", 9, 116, "at most 8", "9"),
        ("first_pad_id", 262, 184, "at most 261", "262"),
        ("reserved", b"\1", 188, "64 zero bytes", f"bytes 01 {'00 ' * 18}00... (64 bytes)"),
    ],
)
def test_a_header_field_that_is_refused(field, value, offset, expected, found):
    assert refusal(open_image, changed(**{field: value}), "t.img") == (
        f"t.img: header.{field} at offset 0x{offset:X} ({offset}): expected {expected}, found {found}"
    )


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"n_end_ids": 1}, "end_ids[1] at offset 0x7C (124): expected 0xFFFFFFFF (unused), found 0"),
        (
            {"n_end_ids": 3},
            "end_ids[2] at offset 0x80 (128): expected a token id below 261, found 4294967295",
        ),
        (
            {"end_ids": b"\5\1\0\0"},
            "end_ids[0] at offset 0x78 (120): expected a token id below 261, found 261",
        ),
        ({"n_tokens": 257}, "first_pad_id at offset 0xB8 (184): expected at most 257, found 259"),
        (
            {"n_tokens": 257, "first_pad_id": 0},
            "n_base at offset 0x24 (36): expected at most 257, found 258",
        ),
    ],
)
def test_header_fields_that_contradict_each_other(fields, line):
    assert refusal(open_image, changed(**fields), "t.img") == f"t.img: header.{line}"


def test_the_first_and_the_last_printable_character_in_a_name():
    assert open_image(changed(pre_name=b"!~")).pre_name == "!~en2"


def test_the_checksum_of_header_and_directory():
    """Any change that breaks no rule of its own is found by the checksum."""
    for at in (100, 152, 184, 256 + 24, 256 + 5 * 32 + 20):
        raw = bytearray(IMAGE)
        raw[at] ^= 1
        line = refusal(open_image, bytes(raw), "t.img")
        crc = zlib.crc32(raw[256:448], zlib.crc32(raw[:252]))
        assert line == (
            f"t.img: header.crc32 at offset 0xFC (252): expected 0x{crc:08X}, the sum of header and directory "
            f"as they are, found 0x{ImageBytes(IMAGE).header('crc32'):08X}; one of them was changed{REBUILD}"
        )


@pytest.mark.parametrize("size", [0, 1, 7, 8, 100, 252, 255])
def test_data_shorter_than_a_header(size):
    line = refusal(open_image, IMAGE[:size], "t.img")
    assert line.startswith("t.img: header.")
    assert line.endswith(" bytes before the end")


@pytest.mark.parametrize("size", [256, 300, 447, 448, SIZE - 1, SIZE - 64])
def test_a_file_that_is_cut(size):
    assert refusal(open_image, IMAGE[:size], "t.img") == (
        f"t.img: header.total_bytes at offset 0x10 (16): expected {size}, the size of the file, found {SIZE}{REBUILD}"
    )


def test_bytes_behind_the_end():
    assert "the size of the file" in refusal(open_image, IMAGE + bytes(64))


def test_a_file_that_ends_inside_its_directory():
    """The size is right, but the directory has no room: 6 entries need 448 bytes."""
    raw = ImageBytes(IMAGE[:384]).set_header(total_bytes=384)
    assert refusal(open_image, bytes(raw), "t.img") == (
        "t.img: header.total_bytes at offset 0x10 (16): expected at least 448, header and directory, found 384"
        + REBUILD
    )


def test_a_size_that_is_no_multiple_of_the_alignment():
    raw = ImageBytes(IMAGE + bytes(32)).set_header(total_bytes=SIZE + 32).seal_header()
    assert refusal(open_image, bytes(raw), "t.img") == (
        f"t.img: header.total_bytes at offset 0x10 (16): expected a multiple of section_align 64, found {SIZE + 32}"
        + REBUILD
    )


def test_a_higher_minor_version_is_read():
    assert verify_image(changed(minor=7)).header.minor == 7
    assert verify_image(changed(minor=65_535)).header.minor == 65_535


# Directory

TOKEN_INDEX = ImageBytes(IMAGE).entry(0, "offset")
MERGES_AT = ImageBytes(IMAGE).entry(2, "offset")


def with_entry(number, **fields):
    return bytes(ImageBytes(IMAGE).set_entry(number, **fields).seal_header())


KNOWN = "a known kind, or one marked optional"
LAST_ROOM = SIZE - ImageBytes(IMAGE).entry(5, "offset")


@pytest.mark.parametrize(
    ("number", "fields", "field", "words"),
    [
        (0, {"kind": 0}, "kind", f"expected {KNOWN}, found 0; use a newer reader"),
        (2, {"kind": 99}, "kind", f"expected {KNOWN}, found 99; use a newer reader"),
        (1, {"kind": 1}, "kind", "expected each kind once, found token_index again"),
        (3, {"flags": 2}, "flags", "expected at most 1, found 2"),
        (3, {"reserved": 1}, "reserved", "expected 0, found 1"),
        (0, {"record_bytes": 16}, "record_bytes", "expected 8, found 16"),
        (5, {"record_bytes": 4}, "record_bytes", "expected 0, found 4"),
        (0, {"count": 260}, "length", "expected 2080 (260 records of 8 bytes), found 2088"),
        (2, {"length": 33}, "length", "expected 32 (2 records of 16 bytes), found 33"),
        (
            5,
            {"length": 2**32 - 1},
            "length",
            f"expected at most {LAST_ROOM}, to the end of the image, found 4294967295",
        ),
    ],
)
def test_a_directory_entry_that_is_refused(number, fields, field, words):
    offset = 256 + 32 * number + DIRECTORY_ENTRY.offset_of(field)
    assert refusal(open_image, with_entry(number, **fields), "t.img") == (
        f"t.img: directory[{number}].{field} at offset 0x{offset:X} ({offset}): {words}"
    )


@pytest.mark.parametrize(
    ("number", "start"),
    [
        (0, TOKEN_INDEX - 1),  # not aligned
        (0, TOKEN_INDEX + 64),  # a gap
        (0, 0),  # over the header
        (1, TOKEN_INDEX),  # over the first section
        (2, MERGES_AT - 64),
        (2, MERGES_AT + 64),
        (2, SIZE),
        (2, 2**32 - 64),
    ],
)
def test_sections_that_leave_a_gap_overlap_or_lie_elsewhere(number, start):
    right = ImageBytes(IMAGE).entry(number, "offset")
    offset = 256 + 32 * number + 12
    assert refusal(open_image, with_entry(number, offset=start), "t.img") == (
        f"t.img: directory[{number}].offset at offset 0x{offset:X} ({offset}): expected 0x{right:X} ({right}), "
        f"the first aligned offset behind what comes before, found 0x{start:X} ({start})"
    )


def test_a_missing_section():
    raw = ImageBytes(IMAGE).set_entry(5, kind=77, flags=1).seal_header()
    assert refusal(open_image, bytes(raw), "t.img") == (
        "t.img: directory at offset 0x100 (256): expected a section special_token_index, found none"
    )


def test_bytes_behind_the_last_section():
    raw = ImageBytes(IMAGE + bytes(64)).set_header(total_bytes=SIZE + 64).seal_header()
    assert refusal(open_image, bytes(raw), "t.img") == (
        f"t.img: header.total_bytes at offset 0x10 (16): expected {SIZE}, the aligned end of the last section, "
        f"found {SIZE + 64}"
    )


def test_sections_in_another_order():
    """Entries are ascending by offset; kinds may come in any order."""
    raw = ImageBytes(IMAGE)
    entries = [bytes(raw.raw[256 + 32 * n : 288 + 32 * n]) for n in range(6)]
    raw.raw[256:320] = entries[1] + entries[0]
    raw.seal_header()
    assert "directory[0].offset" in refusal(open_image, bytes(raw))


def extended(*, kind, flags, payload, at=6):
    """Add a section behind the others of an image whose directory has room for it."""
    made = ImageBytes(VOCABULARY.image(4096))
    start = len(made.raw)
    made.raw += payload + bytes(-len(payload) % 4096)
    made.set_header(total_bytes=len(made.raw))
    made.add_entry(
        at, kind=kind, flags=flags, offset=start, length=len(payload), count=3, crc32=zlib.crc32(payload)
    )
    return made.seal_header()


def test_an_optional_section_of_a_newer_packer_is_skipped_but_proved():
    made = extended(kind=99, flags=1, payload=b"later")
    image = verify_image(bytes(made), "t.img")
    assert tuple(image.sections) == SECTIONS[Profile.STANDARD]
    start = made.entry(6, "offset")
    made.raw[start] ^= 4
    before, after = zlib.crc32(b"later"), zlib.crc32(b"hater")
    assert refusal(verify_image, bytes(made), "t.img") == (
        f"t.img: sections.kind_99 at offset 0x{start:X} ({start}): expected a CRC-32 of 0x{before:08X}, "
        f"as the directory has it, found 0x{after:08X}{REBUILD}"
    )
    assert open_image(bytes(made)).header.section_count == 7


def test_a_section_of_a_newer_packer_that_is_not_optional():
    made = extended(kind=7, flags=0, payload=b"trie")
    assert refusal(open_image, bytes(made), "t.img") == (
        "t.img: directory[6].kind at offset 0x1C0 (448): expected a known kind, or one marked optional, found 7; "
        "use a newer reader"
    )


def test_two_optional_sections_and_an_empty_one():
    made = extended(kind=99, flags=1, payload=b"")
    assert verify_image(bytes(made)).header.section_count == 7
    made.add_entry(7, kind=98, flags=1, offset=len(made.raw), length=0, crc32=0)
    assert verify_image(bytes(made.seal_header())).header.section_count == 8
