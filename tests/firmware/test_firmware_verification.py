"""Verifying an image: each refusal has a test that provokes it, and all agree with `formats.q25tokrt.verify`."""

from __future__ import annotations

import random
import struct
import zlib

import pytest
from firmware_driver import STATUS, Requests
from image_bytes import ENTRY_BYTES, HEADER_BYTES, ImageBytes
from small_vocabulary import CONTROL, UNKNOWN, USER_DEFINED, SmallVocabulary, grown

from formats.errors import FormatError
from formats.q25tokrt.layout import NONE, Kind
from formats.q25tokrt.verify import verify_image

KINDS = ["gcc", "sanitized", "aarch64", "aarch64 without crc"]

ADDED = [("<s>", CONTROL), ("<u>", USER_DEFINED), ("<sx>", UNKNOWN), ("[x", CONTROL)]
VOCABULARY = grown("a|b", "ab|c", "c|a", added=ADDED, pads=3, byte_values=b"abcd<>sux[")
IMAGE = VOCABULARY.image(end_ids=(13,))
OF_FAST = {"BAD_DERIVATION", "BAD_TRIE_TOKEN", "BAD_TRIE_SLOTS", "BAD_PREFIX", "BAD_PAIR_BITMAP"}
"""Provoked in test_firmware_fast.py."""
OF_COMPACT = {"BAD_BYTE_VALUE", "BAD_MERGE_DEPTH", "BAD_MADE_BYTES", "BAD_PAIR_MULTIPLIER"}
"""Provoked in test_firmware_compact.py."""
INDEX, BYTES, MERGES, MAP, PAIRS, SPECIALS = range(6)
"""Numbers of the directory entries."""


def edited(section, offset, data, base=IMAGE):
    """Put bytes into a section and make all checksums hold again."""
    made = ImageBytes(base)
    at = made.section(section).start + offset
    made.raw[at : at + len(data)] = data
    return bytes(made.seal())


def words(*values):
    return struct.pack(f"<{len(values)}I", *values)


def header(**fields):
    return bytes(ImageBytes(IMAGE).set_header(**fields).seal())


def payload(section, base=IMAGE):
    return base[ImageBytes(base).section(section)]


def slots():
    return struct.unpack(f"<{len(payload(PAIRS)) // 4}I", payload(PAIRS))


def swapped_slots():
    """Two entries change places: each is away from its home."""
    full = [at for at, slot in enumerate(slots()) if slot]
    one, two = full[0], full[-1]
    made = list(slots())
    made[one], made[two] = made[two], made[one]
    return edited(PAIRS, 0, words(*made))


def without_a_slot():
    made = list(slots())
    made[next(at for at, slot in enumerate(made) if slot)] = 0
    return edited(PAIRS, 0, words(*made))


def with_slots(count):
    """The merge-pair index with empty slots behind it, in its own padding or beyond."""
    made = ImageBytes(IMAGE)
    old = made.section(PAIRS)
    grow = 4 * count - (old.stop - old.start)
    assert grow % 64 == 0
    made.raw[old.stop : old.stop] = bytes(grow)
    made.set_entry(PAIRS, length=4 * count, count=count)
    made.set_entry(SPECIALS, offset=made.entry(SPECIALS, "offset") + grow)
    return bytes(made.set_header(total_bytes=len(made.raw)).seal())


def repeated_merge():
    """A merge twice: the packer refuses it, so the image is of two merges and patched by hand."""
    vocabulary = grown("a|b", "b|a", byte_values=b"ab")
    made = ImageBytes(vocabulary.image())
    index = made.section(INDEX).start
    table = made.section(MERGES).start
    made.raw[made.section(BYTES).start + 4 : made.section(BYTES).start + 6] = b"ab"
    made.raw[table + 16 : table + 28] = words(0, 1, 3)
    assert made.raw[index + 24 : index + 28] == words(4)
    mixed = (1 * made.header("hash_seed")) % 2**64
    mixed ^= mixed >> 32
    hashed = mixed * 0xD6E8FEB86659FD93 % 2**64 >> 32
    pairs = made.section(PAIRS)
    n_slots = (pairs.stop - pairs.start) // 4
    home = hashed & 3
    table = [0] * n_slots
    table[home], table[home + 1] = (hashed >> 18 << 18 | 1), (hashed >> 18 << 18 | 2)
    made.raw[pairs] = words(*table)
    return bytes(made.set_header(max_probe=2).seal())


REFUSED = [
    (
        "BAD_SECTION_CRC",
        bytes(ImageBytes(IMAGE).set_entry(BYTES, crc32=1).seal_header()),
        Kind.TOKEN_BYTES,
        0,
    ),
    ("BAD_TOKEN_OFFSET", edited(INDEX, 8, words(2)), Kind.TOKEN_INDEX, 1),
    ("BAD_TOKEN_TYPE", edited(INDEX, 8 * 4 + 6, b"\0\0"), Kind.TOKEN_INDEX, 4),
    ("BAD_TOKEN_TYPE", edited(INDEX, 8 * 4 + 6, b"\7\0"), Kind.TOKEN_INDEX, 4),
    ("BAD_TOKEN_BYTES", edited(INDEX, 8 * 19 + 4, b"\1\0"), Kind.TOKEN_BYTES, 0),
    ("WRONG_N_BASE", header(n_base=12), 0, 0),
    ("WRONG_MAX_TOKEN_BYTES", header(max_token_bytes=8), 0, 0),
    ("NORMAL_PAD", edited(INDEX, 8 * 18 + 6, b"\1\0"), Kind.TOKEN_INDEX, 18),
    ("BAD_MERGE_RANK", edited(MERGES, 16 + 12, words(2)), Kind.MERGE_TABLE, 1),
    ("BAD_MERGE_ID", edited(MERGES, 16, words(20)), Kind.MERGE_TABLE, 1),
    ("BAD_MERGE_ID", edited(MERGES, 4, words(2**32 - 1)), Kind.MERGE_TABLE, 0),
    ("BAD_MERGE_ID", edited(MERGES, 32 + 8, words(13)), Kind.MERGE_TABLE, 2),  # a control token
    ("BAD_MERGE_BYTES", edited(MERGES, 32 + 8, words(10)), Kind.MERGE_TABLE, 2),
    ("BAD_MERGE_BYTES", edited(MERGES, 32, words(3)), Kind.MERGE_TABLE, 2),
    ("BAD_MERGE_BYTES", edited(MERGES, 32 + 4, words(10)), Kind.MERGE_TABLE, 2),  # too long
    ("WRONG_RANK_FLAG", header(flags=3), 0, 0),
    ("BAD_BYTE_TOKEN", edited(MAP, 4 * ord("b"), words(2)), Kind.BYTE_TOKEN_MAP, ord("b")),
    ("BAD_BYTE_TOKEN", edited(MAP, 4 * ord("b"), words(NONE)), Kind.BYTE_TOKEN_MAP, ord("b")),
    ("BAD_BYTE_TOKEN", edited(MAP, 0, words(20)), Kind.BYTE_TOKEN_MAP, 0),
    ("BAD_BYTE_TOKEN", edited(MAP, 0, words(10)), Kind.BYTE_TOKEN_MAP, 0),
    ("BAD_PAIR_SLOTS", with_slots(len(slots()) + 16), Kind.MERGE_PAIR_INDEX, 0),
    ("BAD_PAIR_SLOT", swapped_slots(), Kind.MERGE_PAIR_INDEX, None),
    ("BAD_PAIR_SLOT", edited(PAIRS, 0, words(0x3FFFF)), Kind.MERGE_PAIR_INDEX, 0),
    ("BAD_PAIR_SLOT", edited(PAIRS, 0, words(0xFFFC0000)), Kind.MERGE_PAIR_INDEX, 0),
    ("REPEATED_PAIR", repeated_merge(), Kind.MERGE_PAIR_INDEX, None),
    ("MISSING_PAIR", without_a_slot(), Kind.MERGE_PAIR_INDEX, 0),
    ("WRONG_MAX_PROBE", header(max_probe=16), 0, 0),
    ("BAD_SPECIAL_ID", edited(SPECIALS, 32 + 4, words(20)), Kind.SPECIAL_TOKEN_INDEX, 1),
    ("BAD_SPECIAL_ID", edited(SPECIALS, 32, words(0)), Kind.SPECIAL_TOKEN_INDEX, 0),
    ("BAD_SPECIAL_ID", edited(SPECIALS, 32, words(18)), Kind.SPECIAL_TOKEN_INDEX, 0),  # a pad
    ("BAD_SPECIAL_ORDER", edited(SPECIALS, 32, words(13)), Kind.SPECIAL_TOKEN_INDEX, 1),
    ("BAD_SPECIAL_ORDER", edited(SPECIALS, 32 + 4, words(14, 13)), Kind.SPECIAL_TOKEN_INDEX, 2),
    ("BAD_SPECIAL_ORDER", edited(SPECIALS, 32 + 8, words(16, 14)), Kind.SPECIAL_TOKEN_INDEX, 3),
    ("BAD_SPECIAL_BITMAP", edited(SPECIALS, 0, b"\1"), Kind.SPECIAL_TOKEN_INDEX, 0),
    ("BAD_SPECIAL_BITMAP", edited(SPECIALS, 31, b"\x80"), Kind.SPECIAL_TOKEN_INDEX, 0),
]


def padded(at):
    made = bytearray(IMAGE)
    assert made[at] == 0
    made[at] = 1
    return bytes(made)


def missing_special():
    """One more added token than the index and the header know: a normal token changed its type."""
    made = ImageBytes(IMAGE)
    at = made.section(INDEX).start + 8 * 3 + 6
    made.raw[at : at + 2] = b"\3\0"
    made.set_header(n_base=made.header("n_base") - 1)
    spot = made.section(MAP).start + 4 * ord("d")
    made.raw[spot : spot + 4] = words(NONE)
    return bytes(made.seal())


def gaps():
    made = ImageBytes(IMAGE)
    stops = [HEADER_BYTES + 6 * ENTRY_BYTES] + [made.section(number).stop for number in range(6)]
    starts = [made.section(number).start for number in range(6)] + [len(IMAGE)]
    return [at for stop, start in zip(stops, starts, strict=True) if start > stop for at in (stop, start - 1)]


def test_the_image_is_fine(driver):
    requests = Requests()
    for image in (IMAGE, grown().image(), grown("a|a", "aa|aa").image(), SmallVocabulary([(b"", 1)]).image()):
        requests.verify(image)
    assert [answer[:4] for answer in driver("sanitized").run(requests)] == [(0, 0, 0, 0)] * 4


@pytest.mark.parametrize("kind", KINDS)
def test_refusals(driver, kind):
    requests = Requests()
    for _, image, _, _ in REFUSED:
        requests.verify(image)
        requests.set_image(image)
    answers = driver(kind).run(requests)
    for (name, image, section, row), found, opened in zip(REFUSED, answers[::2], answers[1::2], strict=True):
        assert opened == 0
        assert (found.status, found.section) == (STATUS[name], section), name
        assert row is None or found.row == row, name
        if section:
            entry = next(number for number in range(6) if ImageBytes(image).entry(number, "kind") == section)
            made = ImageBytes(image)
            size = made.entry(entry, "record_bytes")
            assert found.offset == made.entry(entry, "offset") + found.row * size, name
        with pytest.raises(FormatError):
            verify_image(image)


def test_padding_that_is_not_zero(driver):
    requests = Requests()
    places = gaps()
    assert len(places) == 8
    for at in places:
        requests.verify(padded(at))
    for at, found in zip(places, driver("sanitized").run(requests), strict=True):
        assert found[:4] == (STATUS["BAD_PADDING"], 0, 0, at)


def test_an_added_token_that_the_index_lacks(driver):
    requests = Requests()
    requests.verify(missing_special())
    (found,) = driver("sanitized").run(requests)
    assert found[:3] == (STATUS["MISSING_SPECIAL"], Kind.SPECIAL_TOKEN_INDEX, 0)


def test_every_status_of_verifying_is_provoked():
    known = {name for name, value in STATUS.items() if value >= 96}
    assert known == {name for name, *_ in REFUSED} | {"BAD_PADDING", "MISSING_SPECIAL"} | OF_FAST | OF_COMPACT


def test_damage_to_a_section_that_is_not_known(driver):
    made = ImageBytes(VOCABULARY.image(align=512))
    offset = len(made.raw)
    made.raw += bytes(512)
    made.set_header(total_bytes=offset + 512)
    made.add_entry(kind=99, flags=1, offset=offset, length=70).seal()
    requests = Requests()
    requests.verify(bytes(made))
    made.raw[offset + 69] = 1
    requests.verify(bytes(made))
    fine, damaged = driver("sanitized").run(requests)
    assert fine.status == 0
    assert damaged[:4] == (STATUS["BAD_SECTION_CRC"], 99, 0, offset)


def test_every_flipped_bit_is_found(driver):
    requests = Requests()
    for bit in range(8 * len(IMAGE)):
        changed = bytearray(IMAGE)
        changed[bit // 8] ^= 1 << bit % 8
        requests.verify(bytes(changed))
    answers = driver("gcc").run(requests)
    made = ImageBytes(IMAGE)
    for bit, found in enumerate(answers):
        at = bit // 8
        assert found.status != 0, at
        inside = [
            number for number in range(6) if made.section(number).start <= at < made.section(number).stop
        ]
        assert found.section == (made.entry(inside[0], "kind") if inside else 0), at


def test_random_damage_is_judged_as_by_the_packer_s_own_verification(driver):
    """Bytes changed anywhere, checksums made to hold: both find the image good, or both refuse it."""
    chance = random.Random(91)
    images = []
    for _ in range(1_200):
        made = ImageBytes(IMAGE)
        for _ in range(chance.randint(1, 2)):
            at = chance.randrange(HEADER_BYTES, len(made.raw))
            made.raw[at] = chance.choice([0, 1, 2, 3, 4, 13, 0xFF, made.raw[at] ^ 1 << chance.randrange(8)])
        images.append(bytes(made.seal()))
    requests = Requests()
    for image in images:
        requests.verify(image)
    good = 0
    for image, found in zip(images, driver("sanitized").run(requests), strict=True):
        try:
            verify_image(image)
        except FormatError:
            assert found.status != 0
        else:
            good += 1
            assert found.status == 0
    assert 0 < good < 600


def test_checksums_of_any_length(driver):
    """Section lengths from 0 to 40 beyond words: the checksum is that of zlib."""
    requests = Requests()
    for size in range(41):
        text = bytes(range(65, 65 + size))
        image = SmallVocabulary([(text, 1)]).image()
        assert ImageBytes(image).entry(BYTES, "crc32") == zlib.crc32(text)
        requests.verify(image)
    for kind in KINDS:
        assert [answer.status for answer in driver(kind).run(requests)] == [0] * 41


@pytest.mark.parametrize("kind", ["gcc", "aarch64"])
def test_the_real_image(driver, each_image, kind):
    image = each_image.read_bytes()
    made = bytearray(image)
    made[len(made) // 2] ^= 1
    requests = Requests()
    requests.verify(image)
    requests.verify(bytes(made))
    fine, damaged = driver(kind).run(requests)
    assert fine[:4] == (0, 0, 0, 0)
    assert damaged.status == STATUS["BAD_SECTION_CRC"]
