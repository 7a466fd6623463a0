"""The merge-pair bitmap against its own words, and what it is for: few pairs that are not merged pass."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from image_bytes import ImageBytes
from real_models import FAMILIES, RealTables
from refusals import refusal
from small_vocabulary import grown

from formats.q25tokrt import pair_bitmap
from formats.q25tokrt.layout import Kind, Profile
from formats.q25tokrt.verify import verify_image

IDS = st.integers(0, 0x3FFFF)


def passes(bitmap, left, right):
    """Read the bitmap by the format's own words."""
    bits = len(bitmap).bit_length() + 2
    place = (left * 0x9E3779B1 + right * 0x85EBCA77) % 2**32 >> (32 - bits)
    return bitmap[place // 8] >> place % 8 & 1 == 1


def built(pairs):
    return pair_bitmap.build(*np.array(pairs, dtype=np.uint32).reshape(-1, 2).T)


@given(st.sets(st.tuples(IDS, IDS), max_size=60))
def test_the_bits_of_the_pairs_and_no_others(pairs):
    bitmap = built(sorted(pairs))
    assert all(passes(bitmap, *pair) for pair in pairs)
    assert sum(int(bits).bit_count() for bits in bitmap) <= len(pairs)


def test_a_byte_for_each_home_slot():
    assert [len(built([(1, 2)] * count)) for count in (0, 1, 2, 9, 10)] == [1, 2, 4, 16, 32]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_real_vocabularies(family):
    image = verify_image(RealTables.of(family).image(profile=Profile.FAST))
    bitmap = bytes(image.sections[Kind.MERGE_PAIR_BITMAP].data)
    merges = np.frombuffer(image.sections[Kind.MERGE_TABLE].data, "<u4").reshape(-1, 4)
    pairs = set(zip(merges[:, 0].tolist(), merges[:, 1].tolist(), strict=True))
    assert all(passes(bitmap, *pair) for pair in pairs)
    # Pairs of tokens that merges do have, since texts ask for those.
    chance = random.Random(22)
    left, right = (chance.choices(merges[:, side].tolist(), k=20_000) for side in (0, 1))
    others = [pair for pair in zip(left, right, strict=True) if pair not in pairs]
    assert len(others) > 19_000
    assert sum(passes(bitmap, *pair) for pair in others) < len(others) / 12


def test_every_changed_byte_is_refused():
    image = grown("a|b", "ab|c", "c|a").image(profile=Profile.FAST)
    section = verify_image(image).sections[Kind.MERGE_PAIR_BITMAP]
    for row in range(section.count):
        changed = ImageBytes(image)
        at = section.place.offset + row
        changed.raw[at] ^= 1 << row
        message = refusal(verify_image, bytes(changed.seal()), "t.img")
        assert message.startswith(
            f"t.img: sections.merge_pair_bitmap[{row}] at offset 0x{at:X} ({at}): expected 0x"
        ), message
