"""The token trie against a dictionary of all tokens, and its shape."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from image_bytes import ImageBytes
from real_models import FAMILIES, RealTables
from refusals import refusal
from small_vocabulary import CONTROL, grown

from formats.byte_strings import ByteStrings
from formats.q25tokrt import token_trie
from formats.q25tokrt.fast_records import MAX_PREFIX_BYTES, TRIE_INTERNAL, TRIE_TERMINAL, TRIE_VALUE_SHIFT
from formats.q25tokrt.layout import Kind, Profile
from formats.q25tokrt.verify import verify_image

BYTES = [bytes([value]) for value in range(256)]


def longest(slots, text):
    """Read a trie by the format's own words: (length, id) of the longest token, (0, None) without one."""
    base, found = 0, (0, None)
    for length, byte in enumerate(text, 1):
        place = base + byte + 1
        slot = slots[place] if place < len(slots) else 0
        if slot % 512 != byte + 1:
            break
        base = slot >> TRIE_VALUE_SHIFT
        if slot & TRIE_TERMINAL:
            found = (length, slots[base] >> TRIE_VALUE_SHIFT if slot & TRIE_INTERNAL else base)
        if not slot & TRIE_INTERNAL:
            break
    return found


def by_definition(ids, text):
    for length in range(len(text), 0, -1):
        if text[:length] in ids:
            return length, ids[text[:length]]
    return 0, None


def assert_reads(tokens, texts):
    trie = token_trie.build(ByteStrings.from_list(tokens))
    slots = trie.slots.tolist()
    ids = {data: token for token, data in enumerate(tokens)}
    for text in [*tokens, *texts]:
        assert longest(slots, text) == by_definition(ids, text), text
    for text, prefix in zip(tokens, trie.prefixes.tolist(), strict=True):
        length, token = by_definition(ids, text[:-1])
        assert prefix == (length << 21 | token if length else 0), text
    assert sum(slot & TRIE_TERMINAL != 0 for slot in slots) == len(tokens)


def test_small_ones():
    assert_reads([], [b"", b"a"])
    assert_reads(BYTES, [b"ab", b"\0\0"])
    assert_reads(
        [*BYTES, b"ab", b"abcd", b"\0\0", b"\xff\xff\xff"], [b"abc", b"abcde", b"\0\0\0", b"\xff\xff"]
    )
    assert_reads([b"a" * MAX_PREFIX_BYTES], [b"a" * (MAX_PREFIX_BYTES - 1), b"a" * 3001])
    assert_reads([b"a" * length for length in range(1, 300)], [b"a" * 500])


def test_a_token_that_is_too_long():
    message = refusal(token_trie.build, ByteStrings.from_list([b"a" * 2048]))
    assert message == (
        "token_trie: expected tokens of at most 2047 bytes, found one of 2048; "
        "profile standard serves any vocabulary"
    )


@given(st.sets(st.binary(min_size=1, max_size=5), max_size=60), st.lists(st.binary(max_size=8), max_size=20))
def test_any_tokens(tokens, texts):
    assert_reads(sorted(tokens, key=hash), texts)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_real_vocabularies(family):
    tokens = list(RealTables.of(family).vocabulary.tokens)[:151_643]
    ids = {data: token for token, data in enumerate(tokens)}
    section = RealTables.of(family).image(profile=Profile.FAST)
    slots = np.frombuffer(verify_image(section).sections[Kind.TOKEN_TRIE].data, "<u4").tolist()
    chance = random.Random(21)
    for token in chance.sample(range(len(tokens)), 20_000):
        text = tokens[token] + chance.choice(tokens)
        assert longest(slots, tokens[token]) == (len(tokens[token]), token)
        assert longest(slots, text) == by_definition(ids, text)
    assert len(slots) < 390_000


def test_the_same_every_time():
    tokens = ByteStrings.from_list([*BYTES, b"abc", b"abd", b"xyz"])
    assert np.array_equal(token_trie.build(tokens).slots, token_trie.build(tokens).slots)


def test_every_changed_slot_is_refused():
    vocabulary = grown("a|b", "ab|c", added=[("<s>", CONTROL)])
    image = vocabulary.image(profile=Profile.FAST)
    section = verify_image(image).sections[Kind.TOKEN_TRIE]
    for row in range(section.count):
        changed = ImageBytes(image)
        at = section.place.offset + 4 * row
        changed.raw[at] ^= 1
        message = refusal(verify_image, bytes(changed.seal()), "t.img")
        assert message.startswith(
            f"t.img: sections.token_trie[{row}] at offset 0x{at:X} ({at}): expected 0x"
        ), message


def test_a_fast_image_needs_its_trie():
    vocabulary = grown("a|b")
    standard, fast = vocabulary.image(), vocabulary.image(profile=Profile.FAST)
    flags = int.from_bytes(standard[20:24], "little")
    claimed = bytes(ImageBytes(standard).set_header(flags=flags | 1 << 8).seal_header())
    assert "expected a section token_trie, found none" in refusal(verify_image, claimed)
    plain = bytes(ImageBytes(fast).set_header(flags=flags).seal_header())
    assert verify_image(plain).profile is Profile.STANDARD  # the trie is one that may be skipped
    no_ranks = bytes(ImageBytes(fast).set_header(flags=(flags | 1 << 8) & ~1).seal_header())
    assert "expected bit 0 set, which profile fast needs" in refusal(verify_image, no_ranks)
