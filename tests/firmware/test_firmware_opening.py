"""Opening an image: each refusal has its own status and a test that provokes it."""

from __future__ import annotations

import re
import struct

import pytest
from firmware_build import HEADER
from firmware_driver import STATUS, Requests
from image_bytes import ImageBytes
from small_vocabulary import CONTROL, UNUSED, SmallVocabulary, grown, image_facts

from formats.q25tokrt.layout import NONE, Kind, Profile
from formats.q25tokrt.packer import pack_image

VOCABULARY = grown("a|b", "ab|c", added=[("<s>", CONTROL)], pads=2)  # 261 tokens
IMAGE = VOCABULARY.image(eos_id=258, end_ids=(258, 0))
FAST = VOCABULARY.image(profile=Profile.FAST)
SIZE = len(IMAGE)
BEYOND = struct.pack("<2I", 258, 261) + struct.pack("<I", NONE) * 6
"""end_ids of which the second is no token."""


def changed(**fields):
    """Change header fields and make the header's checksum hold again."""
    return bytes(ImageBytes(IMAGE).set_header(**fields).seal_header())


def entry(number, **fields):
    """Change a directory entry and make the header's checksum hold again."""
    return bytes(ImageBytes(IMAGE).set_entry(number, **fields).seal_header())


def longer(number, by):
    """Change the length of a section, and its count by hand."""
    made = ImageBytes(IMAGE)
    return bytes(made.set_entry(number, length=made.entry(number, "length") + by).seal_header())


def one_record_less(image, number):
    """Shorten a section by a record; what lies behind it stays where it is."""
    made = ImageBytes(image)
    count, size = made.entry(number, "count") - 1, made.entry(number, "record_bytes")
    return bytes(made.set_entry(number, count=count, length=count * size).seal())


def cut_behind_directory():
    return changed(section_count=7, total_bytes=448)[:448]


def unknown_section(**fields):
    """An image with one more section, of 64 bytes behind the others."""
    made = ImageBytes(VOCABULARY.image(align=512))
    offset = len(made.raw)
    made.raw += bytes(512)
    made.set_header(total_bytes=offset + 512)
    return bytes(made.add_entry(**{"kind": 99, "flags": 1, "offset": offset, "length": 64, **fields}).seal())


REFUSED = [
    ("IMAGE_TOO_SMALL", b""),
    ("IMAGE_TOO_SMALL", IMAGE[:255]),
    ("BAD_MAGIC", changed(magic=b"Q25TOKRU")),
    ("BAD_MAGIC", changed(magic=b"q25TOKRT")),
    ("BAD_MAJOR_VERSION", changed(major=0)),
    ("BAD_MAJOR_VERSION", changed(major=2)),
    ("BAD_HEADER_BYTES", changed(header_bytes=252)),
    ("BAD_TOTAL_BYTES", changed(total_bytes=SIZE - 64)),
    ("BAD_TOTAL_BYTES", IMAGE[:-1]),
    ("BAD_TOTAL_BYTES", IMAGE[:256]),
    ("BAD_TOTAL_BYTES", IMAGE + bytes(64)),
    ("BAD_SECTION_COUNT", changed(section_count=5)),
    ("BAD_SECTION_COUNT", changed(section_count=33)),
    ("BAD_SECTION_COUNT", bytes(ImageBytes(IMAGE).set_header(section_count=2**32 - 1))),
    ("BAD_DIRECTORY_SIZE", cut_behind_directory()),
    ("BAD_HEADER_CRC", bytes(ImageBytes(IMAGE).set_header(n_merges=1))),
    ("BAD_HEADER_CRC", bytes(ImageBytes(IMAGE).set_entry(5, crc32=0))),
    ("BAD_PROFILE", changed(flags=0x303)),
    ("BAD_PROFILE", changed(flags=0xF03)),
    ("BAD_FLAGS", changed(flags=0x102)),
    ("BAD_N_MERGES", changed(flags=0x103, n_base=257)),
    ("MISSING_SECTION", changed(flags=0x103)),
    ("BAD_FLAGS", changed(flags=0x202)),
    ("BAD_N_MERGES", changed(flags=0x203, n_base=257)),
    ("BAD_N_MERGES", changed(flags=0x203, n_tokens=2**20, n_base=2**19, n_merges=0x3FF01)),
    ("BAD_MAX_PROBE", changed(flags=0x203, max_probe=2)),
    ("UNKNOWN_SECTION", changed(flags=0x203, max_probe=1)),
    ("BAD_FLAGS", changed(flags=0xB)),
    ("BAD_FLAGS", changed(flags=1 << 31)),
    ("BAD_SECTION_ALIGN", changed(section_align=0)),
    ("BAD_SECTION_ALIGN", changed(section_align=32)),
    ("BAD_SECTION_ALIGN", changed(section_align=96)),
    ("BAD_SECTION_ALIGN", changed(section_align=1 << 17)),
    ("BAD_TOTAL_ALIGN", changed(section_align=65536)),
    ("BAD_N_TOKENS", changed(n_tokens=0)),
    ("BAD_N_BASE", changed(n_base=262)),
    ("BAD_N_ADDED", changed(n_added=4)),
    ("BAD_N_MERGES", changed(n_merges=262_143)),
    ("BAD_MAX_TOKEN_BYTES", changed(max_token_bytes=65_536)),
    ("BAD_MAX_PROBE", changed(max_probe=0)),
    ("BAD_MAX_PROBE", changed(max_probe=17)),
    ("BAD_HASH_SEED", changed(hash_seed=2)),
    ("BAD_PRE_NAME", changed(pre_name=b"q" * 32)),
    ("BAD_PRE_NAME", changed(pre_name=b"q\0")),
    ("BAD_PRE_NAME", changed(pre_name=b"\x7f")),
    ("BAD_PRE_NAME", changed(pre_name=b" ")),
    ("BAD_PRE_NAME", changed(pre_name=b"\xff")),
    ("BAD_BOS_ID", changed(bos_id=261)),
    ("BAD_EOS_ID", changed(eos_id=NONE - 1)),
    ("BAD_PAD_ID", changed(pad_id=261)),
    ("BAD_N_END_IDS", changed(n_end_ids=9)),
    ("BAD_END_ID", changed(n_end_ids=1)),
    ("BAD_END_ID", changed(n_end_ids=3)),
    ("BAD_END_ID", changed(end_ids=BEYOND)),
    ("BAD_FIRST_PAD_ID", changed(first_pad_id=262)),
    ("BAD_HEADER_RESERVED", changed(reserved=b"\1")),
    ("BAD_HEADER_RESERVED", changed(reserved=bytes(63) + b"\x80")),
    ("BAD_ENTRY_FLAGS", entry(0, flags=2)),
    ("BAD_ENTRY_RESERVED", entry(5, reserved=1)),
    ("BAD_SECTION_OFFSET", entry(0, offset=512)),
    ("BAD_SECTION_OFFSET", entry(3, offset=0)),
    ("BAD_SECTION_LENGTH", longer(5, 1 << 20)),
    ("BAD_SECTION_LENGTH", entry(0, length=2**32 - 1)),
    ("UNKNOWN_SECTION", unknown_section(flags=0)),
    ("UNKNOWN_SECTION", unknown_section(flags=0, kind=0)),
    ("UNKNOWN_SECTION", unknown_section(flags=0, kind=16)),
    ("REPEATED_SECTION", entry(1, kind=Kind.TOKEN_INDEX)),
    ("BAD_RECORD_BYTES", entry(0, record_bytes=16)),
    ("BAD_RECORD_BYTES", entry(1, record_bytes=1)),
    ("BAD_RECORD_COUNT", entry(0, count=260)),  # does not fit the length
    ("BAD_RECORD_COUNT", longer(5, 4)),  # the special-token index has no room for more
    ("BAD_RECORD_COUNT", longer(5, -1)),
    ("BAD_RECORD_COUNT", entry(1, count=260)),  # does not fit the header
    ("BAD_RECORD_COUNT", entry(5, count=0)),
    ("BAD_RECORD_COUNT", changed(n_tokens=260, first_pad_id=259)),
    ("BAD_RECORD_COUNT", changed(n_merges=3)),
    ("BAD_RECORD_COUNT", changed(n_merges=100)),  # more home slots than there are
    ("BAD_RECORD_COUNT", changed(n_added=0)),
    ("BAD_RECORD_COUNT", entry(3, count=128, length=512)),
    *(("BAD_RECORD_COUNT", one_record_less(FAST, number)) for number in (7, 8)),  # prefixes and bitmap
    ("MISSING_SECTION", entry(2, kind=99, flags=1)),
    ("MISSING_SECTION", entry(5, kind=0, flags=1)),
    ("BAD_IMAGE_END", bytes(ImageBytes(IMAGE + bytes(64)).set_header(total_bytes=SIZE + 64).seal_header())),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["gcc", "sanitized", "aarch64", "aarch64 without crc"])
def test_refusals(driver, kind):
    requests = Requests()
    for _, image in REFUSED:
        requests.set_image(image)
        requests.verify(image)
    answers = driver(kind).run(requests)
    for number, (name, _) in enumerate(REFUSED):
        opened, verified = answers[2 * number : 2 * number + 2]
        assert opened == verified.status == STATUS[name], (number, name)
        assert verified[1:4] == (0, 0, 0)


def test_every_status_of_opening_is_provoked():
    known = {name for name, value in STATUS.items() if 32 <= value < 96}
    assert known == {name for name, _ in REFUSED} | {"IMAGE_MISALIGNED"}


@pytest.mark.parametrize("kind", ["gcc", "sanitized"])
def test_alignment(driver, kind):
    requests = Requests()
    for skew in range(17):
        requests.set_image(IMAGE, skew=skew)
    expected = [0 if skew % 8 == 0 else STATUS["IMAGE_MISALIGNED"] for skew in range(17)]
    assert driver(kind).run(requests) == expected


def test_what_is_accepted(driver):
    requests = Requests()
    images = [
        IMAGE,
        VOCABULARY.image(align=4096),
        VOCABULARY.image(pre_name="", nfc=False, sample=True),
        VOCABULARY.image(pre_name="q" * 31),
        grown().image(),
        SmallVocabulary([(b"a", 1)]).image(bos_id=0, pad_id=0),
        changed(minor=7),
        unknown_section(),
        unknown_section(kind=0),
        unknown_section(kind=2**32 - 1),
    ]
    for image in images:
        requests.set_image(image)
        requests.verify(image)
    answers = driver("sanitized").run(requests)
    assert answers[::2] == [0] * len(images)
    assert [answer.status for answer in answers[1::2]] == [0] * len(images)


def test_info(driver):
    requests = Requests()
    requests.set_image(IMAGE)
    requests.info()
    opened, header, sections = *driver().run(requests), None
    assert opened == 0
    assert sections is None
    assert header == IMAGE[:256]


def test_images_that_do_not_encode(driver):
    """They can be opened and detokenized."""
    cases = {
        VOCABULARY.image(pre_name="llama-bpe"): "UNKNOWN_PRETOKENIZER",
        VOCABULARY.image(pre_name=""): "UNKNOWN_PRETOKENIZER",
        VOCABULARY.image(pre_name="qwen"): "UNKNOWN_PRETOKENIZER",
        VOCABULARY.image(pre_name="qwen22"): "UNKNOWN_PRETOKENIZER",
        VOCABULARY.image(pre_name="deepseek-r1-qwen"): "OK",
        VOCABULARY.image(class_tables=0x110000): "OTHER_UNICODE_TABLES",
        VOCABULARY.image(nfc_tables=0): "OTHER_UNICODE_TABLES",
    }
    requests = Requests()
    for image in cases:
        requests.set_image(image)
        requests.encode("abc")
        requests.detokenize([257, 258, 259], flags=0)
    answers = driver().run(requests)
    assert answers[::3] == [0] * len(cases)
    assert [answer.status for answer in answers[1::3]] == [STATUS[name] for name in cases.values()]
    assert {answer.text for answer in answers[2::3]} == {b"abc<s>"}


def test_too_many_tokens_to_encode(driver):
    """2^22 empty tokens behind the others: an image of 34 MB."""
    index, token_bytes, merges = grown("a|b").tables()
    new = 1 << 22
    index += struct.pack("<IHH", 258, 0, UNUSED) * (new - 257)
    image = pack_image(index, token_bytes, merges, image_facts(first_pad_id=257))
    requests = Requests()
    requests.set_image(image)
    requests.encode("ab")
    requests.detokenize([256, new - 1, new])
    opened, encoded, decoded = driver().run(requests)
    assert opened == 0
    assert encoded.status == STATUS["TOO_MANY_TOKENS"]
    assert (decoded.status, decoded.n_read) == (STATUS["UNKNOWN_ID"], 2)


def test_names_of_all_statuses(driver):
    declared = re.findall(r"^    Q25_NL_(\w+) = (\d+)", HEADER.read_text(encoding="ascii"), re.MULTILINE)
    assert len(STATUS) == len(set(STATUS.values())) > 70
    assert set(STATUS.items()) <= {(name, int(value)) for name, value in declared}
    values = [*range(140), 255, 256, 2**31, 2**32 - 1]
    requests = Requests()
    for value in values:
        requests.name(value)
    names = {value: name for name, value in STATUS.items()}
    for value, name in zip(values, driver("sanitized").run(requests), strict=True):
        assert name.decode() == names.get(value, "UNKNOWN_STATUS")
