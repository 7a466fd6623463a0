"""Profile fast in the C library: refusals of its sections, hostile tries, scratch, and going back to merging."""

from __future__ import annotations

import random
import struct
from string import ascii_uppercase

import pytest
from bpe_texts import nasty_texts
from firmware_driver import ENOUGH, OK, STATUS, Requests
from firmware_refusals import assert_refused
from image_bytes import ImageBytes
from small_vocabulary import CONTROL, USER_DEFINED, grown

from formats.errors import FormatError
from formats.q25tokrt import payloads
from formats.q25tokrt.fast_records import TRIE_TERMINAL
from formats.q25tokrt.layout import Kind, Profile
from formats.q25tokrt.verify import verify_image

KINDS = ["gcc", "sanitized", "aarch64"]
VOCABULARY = grown(
    "a|b", "ab|c", "c|a", "a|a", "aa|aa", "=|=", "==|==", "====|=",
    added=[("<s>", CONTROL), ("<u>", USER_DEFINED)], pads=2,
)  # fmt: skip
IMAGE = VOCABULARY.image(profile=Profile.FAST)
STANDARD = VOCABULARY.image()
MERGES, INDEX, TRIE, PREFIXES, BITMAP = 2, 4, 6, 7, 8
"""Numbers of the directory entries."""
AB, ABC = 256, 257


def edited(section, row, value):
    made = ImageBytes(IMAGE)
    at = made.section(section).start + 4 * row
    made.raw[at : at + 4] = struct.pack("<I", value)
    return bytes(made.seal())


def with_bitmap(change):
    """The image with another bitmap: `change` takes the bytes of this one and gives those of that."""
    made = ImageBytes(IMAGE)
    place = made.section(BITMAP)
    made.raw[place] = change(bytes(made.raw[place]))
    return bytes(made.seal())


def one_bit_more(bits):
    """Set another bit in the last byte; no two merges of this image share one."""
    assert sum(byte.bit_count() for byte in bits) == len(VOCABULARY.merges)
    return bits[:-1] + bytes([bits[-1] | bits[-1] + 1])


def trie():
    data = IMAGE[ImageBytes(IMAGE).section(TRIE)]
    return struct.unpack(f"<{len(data) // 4}I", data)


def slot_of(text):
    base = 0
    for byte in text:
        place = base + byte + 1
        base = trie()[place] >> 11
    return place


def underivable(monkeypatch, *merges):
    """An image whose packer proved nothing."""
    monkeypatch.setattr(payloads.derivation, "prove", lambda *_: None)
    return grown(*merges).image(profile=Profile.FAST)


@pytest.mark.parametrize("kind", KINDS)
def test_refusals_of_verifying(driver, kind, monkeypatch):
    empty = next(at for at, slot in enumerate(trie()) if slot == 0 and at > 256)
    cases = [
        ("BAD_TRIE_TOKEN", edited(TRIE, slot_of(b"ab"), 0), Kind.TOKEN_INDEX, AB),
        ("BAD_TRIE_TOKEN", edited(TRIE, slot_of(b"z"), 0), Kind.TOKEN_INDEX, ord("z")),
        ("BAD_TRIE_SLOTS", edited(TRIE, empty, TRIE_TERMINAL), Kind.TOKEN_TRIE, 0),
        ("BAD_PREFIX", edited(PREFIXES, ABC, 0), Kind.TOKEN_PREFIXES, ABC),
        ("BAD_PREFIX", edited(PREFIXES, ABC, 2 << 21 | 97), Kind.TOKEN_PREFIXES, ABC),
        ("BAD_PREFIX", edited(PREFIXES, ord("q"), 1 << 21 | 97), Kind.TOKEN_PREFIXES, ord("q")),
        ("BAD_PAIR_BITMAP", with_bitmap(lambda bits: bytes(len(bits))), Kind.MERGE_TABLE, 0),
        ("BAD_PAIR_BITMAP", with_bitmap(lambda bits: b"\xff" * len(bits)), Kind.MERGE_PAIR_BITMAP, 0),
        ("BAD_PAIR_BITMAP", with_bitmap(one_bit_more), Kind.MERGE_PAIR_BITMAP, 0),
        ("BAD_DERIVATION", underivable(monkeypatch, "b|c", "a|b", "ab|c"), Kind.MERGE_TABLE, 2),
        ("BAD_DERIVATION", underivable(monkeypatch, "a|a", "a|aa"), Kind.MERGE_TABLE, 1),
    ]
    monkeypatch.undo()
    assert_refused(driver(kind), IMAGE, cases)


def test_random_damage_is_judged_as_by_the_packer_s_own_verification(driver):
    chance = random.Random(171)
    places = [
        at
        for number in (TRIE, PREFIXES, BITMAP)
        for at in range(*ImageBytes(IMAGE).section(number).indices(len(IMAGE))[:2])
    ]
    images = []
    for _ in range(1_000):
        made = ImageBytes(IMAGE)
        at = chance.choice(places)
        made.raw[at] ^= 1 << chance.randrange(8)
        images.append(bytes(made.seal()))
    requests = Requests()
    for image in images:
        requests.verify(image)
    accepted = sum(found.status == OK for found in driver("sanitized").run(requests))
    # What the trie and the bitmap hold besides is left to the checksums here; Python makes them again.
    assert accepted < 300
    for image in images[:50]:
        with pytest.raises(FormatError):
            verify_image(image)


def test_hostile_tries_are_harmless(driver):
    """Whatever the three sections say, encoding ends, stays inside, and verification was not asked for."""
    chance = random.Random(172)
    texts = ["abc" * 40, "a" * 300, "=" * 500, "zz \u4e2d<s>\n" * 9, "e\u0301" * 40]
    requests = Requests()
    for _ in range(400):
        made = ImageBytes(IMAGE)
        for number in (TRIE, PREFIXES, BITMAP):
            place = made.section(number)
            for _ in range(chance.choice([1, 3, 40])):
                at = place.start + 4 * chance.randrange((place.stop - place.start) // 4)
                value = chance.choice([chance.getrandbits(32), 0, 0xFFFFFFFF, chance.choice(trie())])
                made.raw[at : at + 4] = struct.pack("<I", value)
        requests.set_image(bytes(made.seal()))
        for text in texts:
            requests.encode(
                text, 2, capacity=chance.choice([ENOUGH, 5, 200]), scratch=chance.choice([ENOUGH, 0])
            )
    answers = driver("sanitized").run(requests)
    encoded = [answer for answer in answers if answer != 0]
    assert len(encoded) == 2_000
    assert all(answer.intact for answer in encoded)


def test_a_trie_that_leads_in_circles(driver):
    """Every slot a token with children at its own place: the turns run out, and text is merged."""
    made = ImageBytes(IMAGE)
    place = made.section(TRIE)
    for at in range((place.stop - place.start) // 4):
        slot = 97 + 1 | 3 << 9 | max(0, at - 98) << 11
        made.raw[place.start + 4 * at : place.start + 4 * at + 4] = struct.pack("<I", slot)
    requests = Requests()
    for image in (bytes(made.seal()), STANDARD):
        requests.set_image(image)
        requests.encode("a" * 20_000)
    _, circles, _, merged = driver("counting").run(requests)
    assert circles.status == merged.status == OK
    assert circles.steps < 300 * 20_000


def made_of(image, parts, bitmap=None):
    """An image of other merges, which verification would refuse: `parts` gives left and right by row."""
    made = ImageBytes(image)
    place = made.section(MERGES)
    for row, at in enumerate(range(place.start, place.stop, 16)):
        made.raw[at : at + 8] = struct.pack("<2I", *parts(row))
    if bitmap is not None:
        place = made.section(BITMAP)
        made.raw[place] = bitmap * (place.stop - place.start)
    return made


def test_merges_that_lead_in_circles(driver):
    """Each merge of its own token: what two tokens are made of has no end, but the turns have."""
    image = made_of(IMAGE, lambda row: (256 + row, 256 + row))
    text = "abcabc" * 1_000
    requests = Requests()
    requests.set_image(bytes(image.seal()))
    requests.encode(text)
    _, once = driver("counting").run(requests)
    assert once.status == OK
    assert once.ids == list(text.encode())
    assert once.steps < 300 * len(text)


def test_a_turn_is_a_look_up_at_most(driver):
    """Every pair may be merged, says the bitmap, and the index is full of what is not the pair."""
    image = made_of(IMAGE, lambda row: (256 + row, 256 + row), bitmap=b"\xff")
    place = image.section(INDEX)
    for at in range(place.start, place.stop, 4):
        image.raw[at : at + 4] = struct.pack("<I", 1 << 18 | 1)
    image.set_header(max_probe=16)
    requests = Requests()
    requests.set_image(bytes(image.seal()))
    requests.encode("abcabc" * 1_000)
    _, answer = driver("counting").run(requests)
    assert answer.status == OK
    assert 256 * 6_000 < answer.steps < (256 * 17 + 100) * 6_000


def test_what_is_kept_changes_nothing(driver):
    """A border that takes many turns takes them again, or the scratch that is there would tell what is needed."""
    pairs = [f"{left}|{right}" for left in ascii_uppercase for right in ascii_uppercase]
    vocabulary = grown(*pairs, "a|b")
    image = made_of(vocabulary.image(profile=Profile.FAST), lambda row: (255 + row, 255 + row))
    requests = Requests()
    requests.set_image(bytes(image.seal()))
    text = "ab" * 200
    for scratch in (8 * len(text), 16 * len(text), 100_000):
        requests.encode(text, scratch=scratch)
    _, least, some, much = driver("gcc").run(requests)
    assert least.status == STATUS["SCRATCH_TOO_SMALL"]
    assert some.status == much.status == OK
    assert least.scratch_needed == some.scratch_needed == much.scratch_needed > 8 * len(text)
    assert some.ids == much.ids


def test_what_is_needed_is_enough_where_room_is_scarce(driver):
    """A piece that lacks scratch takes up room for ids all the same, or later ones would seem to have more."""
    image = grown("a|a", "aa|aa", "aaaa|aaaa").image(profile=Profile.FAST)
    requests = Requests()
    texts = ["a" * 300 + "1" + "a" * 300, "e\u0301" * 60 + "\n1" + "a" * 300, "a" * 60 + "1" + "a" * 300]
    texts.append("e\u0301" * 60 + "\n1" + "a" * 3_000)
    capacities = (3_100, 310, 301, 300, 100, 80)
    requests.set_image(image)
    for text in texts:
        for capacity in capacities:
            requests.encode(text, scratch=0, capacity=capacity)
    _, *lacking = driver("sanitized").run(requests)
    requests = Requests()
    requests.set_image(image)
    cases = [(text, capacity) for text in texts for capacity in capacities]
    for (text, capacity), answer in zip(cases, lacking, strict=True):
        assert answer.status == STATUS["SCRATCH_TOO_SMALL"], (text, capacity)
        requests.encode(text, scratch=answer.scratch_needed, capacity=capacity)
    _, *enough = driver("sanitized").run(requests)
    assert {answer.status for answer in enough} <= {OK, STATUS["OUTPUT_TOO_SMALL"]}


def test_scratch_is_a_bit_for_each_byte_of_a_long_piece(driver, qwen_fast_image):
    texts = ["a" * size for size in (255, 256, 1_000, 100_000)]
    texts += ["\u4e2d" * 30_000, " " * 5_000, "/" * 3_000, "-" * 3_000, "etaoin" * 900]
    requests = Requests()
    for text in texts:
        requests.encode(text)
        requests.encode(text, scratch=len(text.encode()) // 8 + 64)
    answers = driver("gcc", qwen_fast_image).run(requests)
    for text, free, bounded in zip(texts, answers[::2], answers[1::2], strict=True):
        size = len(text.encode())
        assert free.status == bounded.status == OK
        assert free.ids == bounded.ids
        assert free.scratch_needed <= (size // 8 + 64 if size >= 256 else 0)


@pytest.mark.parametrize("kind", ["gcc", "sanitized"])
def test_output_that_may_be_too_small_is_merged(driver, qwen_fast_image, kind):
    """The same ids, of which the first ones are there, and the same count."""
    texts = [text.encode() for text in nasty_texts(200, seed=173, longest=60)] + [b"=" * 300, b"a" * 700]
    requests = Requests()
    for text in texts:
        requests.encode(text)
        requests.encode(text, capacity=3)
    answers = driver(kind, qwen_fast_image).run(requests)
    for full, cut in zip(answers[::2], answers[1::2], strict=True):
        assert full.status == OK
        assert cut.status == (OK if full.n_ids <= 3 else STATUS["OUTPUT_TOO_SMALL"])
        assert (cut.n_ids, cut.ids) == (full.n_ids, full.ids[:3])


def test_a_reader_without_it_reads_the_image_all_the_same(driver, qwen_fast_image):
    texts = list(nasty_texts(500, seed=174))
    requests = Requests()
    requests.verify(qwen_fast_image.read_bytes())
    (found,) = driver("without fast").run(requests)
    assert found.status == OK
    assert driver("without fast", qwen_fast_image).encode_all(texts) == driver(
        "gcc", qwen_fast_image
    ).encode_all(texts)
