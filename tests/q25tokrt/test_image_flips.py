"""Every flipped bit of an image is found, and the refusal names the place where it was flipped."""

import random
import re

import pytest
from image_bytes import ENTRY_BYTES, HEADER_BYTES, ImageBytes
from refusals import refusal
from small_vocabulary import CONTROL, USER_DEFINED, grown

from formats.q25tokrt.image import open_image
from formats.q25tokrt.layout import SECTIONS, Kind, Profile
from formats.q25tokrt.verify import verify_image

SMALL = grown(
    "a|b", "ab|c", added=[("<s>", CONTROL), ("<t>", USER_DEFINED)], pads=3, byte_values=b"abc<>s"
).image(end_ids=(8,))
OFFSET = re.compile(r"offset 0x[0-9A-F]+ \((\d+)\)")


def where(image, at):
    """Name the part of an image that a byte is in, as refusals name it."""
    made = ImageBytes(image)
    count = made.header("section_count")
    if at < HEADER_BYTES:
        return "header"
    if at < HEADER_BYTES + count * ENTRY_BYTES:
        return "directory"
    for number in range(count):
        part = made.section(number)
        name = Kind(made.entry(number, "kind")).name.lower()
        if part.start <= at < part.stop:
            return f"sections.{name}"
        if at < part.start:
            break
    return "padding"


def assert_found(image, bit):
    """Flip one bit; the line must name the part it is in, and for tables the very row."""
    at = bit // 8
    changed = bytearray(image)
    changed[at] ^= 1 << bit % 8
    line = refusal(verify_image, bytes(changed), "t.img")
    part = where(image, at)
    if part in ("header", "directory"):
        # One checksum serves both; a header field may also break its own rule.
        assert line.startswith("t.img: header."), (at, line)
        return
    assert line.startswith(f"t.img: {part}"), (at, line)
    named = int(OFFSET.search(line)[1])
    if part == "padding" or "map[" in line or "index[" in line or "table[" in line:
        # The next row may be where a wrong length shows; never an earlier one.
        assert at - 16 <= named <= at + 16, (at, line)


def test_the_image_is_fine_as_it_is():
    assert verify_image(SMALL).header.n_tokens == 13
    parts = {where(SMALL, at) for at in range(len(SMALL))}
    assert parts == {
        "header",
        "directory",
        "padding",
        *(f"sections.{kind.name.lower()}" for kind in SECTIONS[Profile.STANDARD]),
    }


def test_a_bit_of_every_byte_of_a_small_image():
    """Every seventh: each byte has one, and each place in a byte is met; all of them take minutes, see below."""
    for bit in range(0, 8 * len(SMALL), 7):
        assert_found(SMALL, bit)


@pytest.mark.long
@pytest.mark.parametrize("align", [64, 4096])
def test_every_single_bit_of_a_whole_small_image(align):
    vocabulary = grown("a|b", "b|c", "ab|c", added=[("<s>", CONTROL)], pads=2, byte_values=b"abc")
    image = vocabulary.image(align)
    bits = range(8 * len(image))
    for bit in bits if align == 64 else random.Random(7).sample(bits, 20_000):
        assert_found(image, bit)


def ends_of_parts(image):
    """First and last byte of every part, and of the gaps between."""
    made = ImageBytes(image)
    ends = {0, HEADER_BYTES - 1, HEADER_BYTES, HEADER_BYTES + 6 * ENTRY_BYTES - 1, len(image) - 1}
    for number in range(6):
        part = made.section(number)
        ends |= {part.start, part.stop - 1, *({part.start - 1, part.stop} & set(range(len(image))))}
    return sorted(ends)


def test_bits_at_the_ends_of_the_real_images_parts(qwen3_tables):
    image = qwen3_tables.image()
    for at in ends_of_parts(image):
        assert_found(image, 8 * at + at % 8)


def test_random_bits_of_the_real_image(qwen3_tables):
    image = qwen3_tables.image()
    chance = random.Random(20)
    for bit in chance.sample(range(8 * len(image)), 60):
        assert_found(image, bit)


@pytest.mark.long
def test_thousands_of_random_bits_of_the_real_images(real):
    image = real.image(4096)
    chance = random.Random(21)
    for bit in chance.sample(range(8 * len(image)), 3_000):
        assert_found(image, bit)


@pytest.mark.parametrize("count", [2, 3, 9])
def test_several_flipped_bits(count):
    chance = random.Random(count)
    for _ in range(150):
        changed = bytearray(SMALL)
        for bit in chance.sample(range(8 * len(SMALL)), count):
            changed[bit // 8] ^= 1 << bit % 8
        assert refusal(verify_image, bytes(changed), "t.img").startswith("t.img: ")


def test_every_length_but_the_whole():
    for size in range(0, len(SMALL), 3):
        assert refusal(verify_image, SMALL[:size], "t.img").startswith("t.img: header.")
    for more in (1, 63, 64, 4096):
        assert refusal(verify_image, SMALL + bytes(more)).startswith("header.total_bytes")


def test_bytes_that_are_swapped():
    """Two neighbouring records exchanged: the sums of all bytes stay the same."""
    image = open_image(SMALL)
    for kind, size in ((Kind.TOKEN_INDEX, 8), (Kind.MERGE_TABLE, 16), (Kind.BYTE_TOKEN_MAP, 4)):
        start = image.sections[kind].place.offset
        start += 4 * ord("a") if kind is Kind.BYTE_TOKEN_MAP else 0
        changed = bytearray(SMALL)
        changed[start : start + 2 * size] = (
            SMALL[start + size : start + 2 * size] + SMALL[start : start + size]
        )
        line = refusal(verify_image, bytes(changed), "t.img")
        assert line.startswith(f"t.img: sections.{kind.name.lower()}[")
