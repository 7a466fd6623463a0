"""An image that cannot be used is named: what is wrong, in which section, row, and at which offset."""

from __future__ import annotations

import struct

import pytest
from image_bytes import ImageBytes
from metal_board import BAD_INPUT
from small_vocabulary import grown

from formats.q25tokrt.layout import Kind, Profile

SECTIONS = (
    "token_index",
    "token_bytes",
    "merge_table",
    "byte_token_map",
    "merge_pair_index",
    "special_token_index",
    "token_trie",
    "token_prefixes",
    "merge_pair_bitmap",
    "merge_low_bits",
    "merge_high_bits",
    "pair_multipliers",
    "pair_rows",
    "stored_token_index",
    "stored_token_bytes",
    "byte_values",
)
VOCABULARY = grown("a|b", "ab|c", "c|a", pads=2)
SMALL = VOCABULARY.image()


def refused(board, image):
    """What is printed of an image, which must be all."""
    run = board.run(bytes(image), b"not reached\n")
    assert run.code == BAD_INPUT
    (row,) = run.printed
    return row.removeprefix("image at 0x10000000: ")


def at(offset):
    return f"offset {offset} (0x{offset:08x})"


def test_no_image(board):
    """Memory is all zero then."""
    assert refused(board, b"\0") == f"BAD_MAGIC in header, row 0, {at(0)}"


@pytest.mark.parametrize(
    "fields", [{"n_tokens": 151_937}, {"flags": 0}, {"end_ids": b"\1"}, {"source_sha256": b"\1"}]
)
def test_a_changed_header(board, real_image, fields):
    image = ImageBytes(real_image).set_header(**fields)
    assert refused(board, bytes(image)) == f"BAD_HEADER_CRC in header, row 0, {at(0)}"


@pytest.mark.parametrize("number", range(6))
def test_a_bit_in_a_section(board, real_image, number):
    image = ImageBytes(real_image)
    place = image.section(number)
    image.raw[(place.start + place.stop) // 2] ^= 0x10
    assert refused(board, image) == f"BAD_SECTION_CRC in {SECTIONS[number]}, row 0, {at(place.start)}"


def test_a_bit_in_a_section_of_a_compact_image(board):
    whole = VOCABULARY.image(profile=Profile.COMPACT)
    for number in range(9):
        image = ImageBytes(whole)
        place = image.section(number)
        if place.start != place.stop:
            image.raw[place.start] ^= 1
            name = Kind(image.entry(number, "kind")).name.lower()
            assert name in SECTIONS
            assert refused(board, image) == f"BAD_SECTION_CRC in {name}, row 0, {at(place.start)}"


def test_a_bit_of_padding(board, real_image):
    image = ImageBytes(real_image)
    end = next(image.section(number).stop for number in range(6) if image.section(number).stop % 64)
    image.raw[end] = 1
    assert refused(board, image) == f"BAD_PADDING in header, row 0, {at(end)}"


@pytest.mark.parametrize("kept", [200, 256, 300, 442])
def test_an_image_of_a_part_of_its_header(board, real_image, kept):
    """Zeros follow where the file ends."""
    assert refused(board, real_image[:kept]) == f"BAD_HEADER_CRC in header, row 0, {at(0)}"


@pytest.mark.parametrize("kept", [448, 100_000, 4_000_000, -150])
def test_a_truncated_image(board, real_image, kept):
    """The first section that is not whole is named."""
    image = ImageBytes(real_image)
    number = next(number for number in range(6) if image.section(number).stop > kept % len(real_image))
    expected = f"BAD_SECTION_CRC in {SECTIONS[number]}, row 0, {at(image.section(number).start)}"
    assert refused(board, real_image[:kept]) == expected


@pytest.mark.parametrize(
    ("total", "status"),
    [(0, "BAD_TOTAL_BYTES"), (0x08000000, "BAD_TOTAL_BYTES"), (256, "BAD_DIRECTORY_SIZE")],
)
def test_a_size_that_cannot_be(board, total, status):
    """Not even where the checksum holds."""
    image = ImageBytes(SMALL).set_header(total_bytes=total).seal_header()
    assert refused(board, image) == f"{status} in header, row 0, {at(0)}"


def test_a_row_that_is_wrong_although_the_checksums_hold(board, real_image):
    image = ImageBytes(real_image)
    row = image.section(2).start + 16 * 70_000
    image.raw[row : row + 4] = struct.pack("<I", 5)
    assert refused(board, image.seal()) == f"BAD_MERGE_BYTES in merge_table, row 70000, {at(row)}"


def test_a_rule_that_is_not_served(board):
    """The image is in order, but nobody here can encode with it."""
    image = grown("a|b").image(pre_name="llama-bpe")
    assert refused(board, image) == f"UNKNOWN_PRETOKENIZER in header, row 0, {at(0)}"


def test_the_sections_are_named_as_in_the_format():
    assert [kind.name.lower() for kind in sorted(Kind)] == list(SECTIONS)
