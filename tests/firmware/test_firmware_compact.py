"""Profile compact in the C library: refusals of its sections, hostile merges, and a reader without it."""

from __future__ import annotations

import random
import struct

import pytest
from bpe_oracle import Oracle
from bpe_texts import nasty_texts
from bpe_vocabulary import ListTables
from firmware_driver import ENOUGH, OK, STATUS, Requests
from firmware_refusals import assert_refused
from image_bytes import ImageBytes
from small_vocabulary import CONTROL, USER_DEFINED, grown

from formats.errors import FormatError
from formats.q25tokrt import payloads
from formats.q25tokrt.layout import SECTIONS, Kind, Profile
from formats.q25tokrt.verify import verify_image

KINDS = ["gcc", "sanitized", "aarch64"]
VOCABULARY = grown(
    "a|b", "ab|c", "c|a", "a|a", "aa|aa", "=|=", "==|==", "====|=", "b|c", "=|b", "x|y", "y|z",
    added=[("<s>", CONTROL), ("<u>", USER_DEFINED)], pads=2,
)  # fmt: skip
IMAGE = VOCABULARY.image(profile=Profile.COMPACT)
STANDARD = VOCABULARY.image()
N_MERGES, FIRST_STORED = 12, 268
NUMBER = {kind: number for number, kind in enumerate(SECTIONS[Profile.COMPACT])}
"""Of the directory entry of each kind."""
DAMAGED = STATUS["IMAGE_DAMAGED"]


def edited(kind, offset, data, base=IMAGE, **header):
    made = ImageBytes(base)
    at = made.section(NUMBER[kind]).start + offset
    made.raw[at : at + len(data)] = data
    return bytes(made.set_header(**header).seal())


def parts(*ids):
    return struct.pack(f"<{len(ids)}H", *ids)


def payload(kind):
    return IMAGE[ImageBytes(IMAGE).section(NUMBER[kind])]


def slots():
    data = payload(Kind.PAIR_ROWS)
    return [int.from_bytes(data[at : at + 3], "little") for at in range(0, len(data), 3)]


def slot_of(row):
    return next(at for at, slot in enumerate(slots()) if slot & 0x3FFFF == row)


EMPTY = slots().index(0x3FFFF)


def unproved(monkeypatch, *merges):
    """An image whose packer proved nothing."""
    with monkeypatch.context() as patch:
        patch.setattr(payloads.compact_tables, "prove", lambda *_: None)
        return grown(*merges).image(profile=Profile.COMPACT)


def comb(depth):
    """Merges of a token that begins with ever longer ones: so many parts wait."""
    texts = ["a" + "b" * count for count in range(depth)]
    return [f"{text}|b" for text in texts]


def refused(monkeypatch):
    a, b = ord("a"), ord("b")
    yield "BAD_BYTE_TOKEN", edited(Kind.BYTE_TOKEN_MAP, 4 * a, struct.pack("<I", 256)), Kind.BYTE_TOKEN_MAP, a
    yield "BAD_BYTE_VALUE", edited(Kind.BYTE_TOKEN_MAP, 4 * b, struct.pack("<I", a)), Kind.BYTE_VALUES, a
    yield "BAD_BYTE_VALUE", edited(Kind.BYTE_VALUES, b, b"a"), Kind.BYTE_VALUES, b
    yield "BAD_MERGE_ID", edited(Kind.MERGE_LOW_BITS, 4, parts(257)), Kind.MERGE_LOW_BITS, 1
    yield "BAD_MERGE_ID", edited(Kind.MERGE_LOW_BITS, 2, parts(0xFFFF)), Kind.MERGE_LOW_BITS, 0
    yield "WRONG_MAX_TOKEN_BYTES", edited(Kind.BYTE_VALUES, 0, b"", max_token_bytes=4), 0, 0
    yield "WRONG_MAX_TOKEN_BYTES", edited(Kind.BYTE_VALUES, 0, b"", max_token_bytes=9), 0, 0
    yield "BAD_MERGE_DEPTH", unproved(monkeypatch, *comb(33)), Kind.MERGE_LOW_BITS, 32
    yield (
        "BAD_PAIR_MULTIPLIER",
        edited(Kind.PAIR_MULTIPLIERS, 2, parts(6)),
        Kind.PAIR_MULTIPLIERS,
        1,
    )
    # A row that the index has twice, one it has not, and rows that lie where they do not belong.
    row = slot_of(3)
    entry = payload(Kind.PAIR_ROWS)[3 * row : 3 * row + 3]
    empty = b"\xff\xff\x03"
    yield "BAD_PAIR_SLOT", edited(Kind.PAIR_ROWS, 3 * EMPTY, entry), Kind.PAIR_ROWS, EMPTY
    yield "BAD_PAIR_SLOT", edited(Kind.PAIR_ROWS, 3 * EMPTY, b"\xff\xff\x07"), Kind.PAIR_ROWS, EMPTY
    yield (
        "BAD_PAIR_SLOT",
        edited(Kind.PAIR_ROWS, 3 * row, bytes([N_MERGES, 0, entry[2]])),
        Kind.PAIR_ROWS,
        row,
    )
    yield "BAD_PAIR_SLOT", edited(Kind.PAIR_ROWS, 3 * row + 2, bytes([entry[2] ^ 4])), Kind.PAIR_ROWS, row
    yield "MISSING_PAIR", edited(Kind.PAIR_ROWS, 3 * row, empty), Kind.PAIR_ROWS, 0
    stored = Kind.STORED_TOKEN_INDEX
    yield "BAD_TOKEN_OFFSET", edited(stored, 8, struct.pack("<I", 2)), stored, 1
    yield "BAD_TOKEN_TYPE", edited(stored, 6, parts(7)), stored, 0
    yield "BAD_TOKEN_BYTES", edited(stored, 3 * 8 + 4, parts(1)), Kind.STORED_TOKEN_BYTES, 0
    yield "NORMAL_PAD", edited(stored, 2 * 8 + 6, parts(1)), stored, 2
    yield "NORMAL_PAD", edited(stored, 0, b"", first_pad_id=FIRST_STORED - 1), 0, 0
    yield "WRONG_N_BASE", edited(stored, 0, b"", n_base=FIRST_STORED + 1), 0, 0
    special = Kind.SPECIAL_TOKEN_INDEX
    yield "BAD_SPECIAL_ID", edited(special, 32, struct.pack("<I", 97)), special, 0
    yield "BAD_SPECIAL_BITMAP", edited(special, 0, b"\1"), special, 0


@pytest.mark.parametrize("kind", KINDS)
def test_refusals_of_verifying(driver, kind, monkeypatch):
    assert_refused(driver(kind), IMAGE, list(refused(monkeypatch)))


def test_more_bytes_than_tokens_may_have_together(driver, monkeypatch):
    """A token of 2^15 letters, and more than 500 that are one longer each."""
    half = [f"{'a' * (1 << count)}|{'a' * (1 << count)}" for count in range(15)]
    image = unproved(monkeypatch, *half, *(f"b|{'b' * count}{'a' * (1 << 15)}" for count in range(520)))
    requests = Requests()
    requests.verify(image)
    (found,) = driver("gcc").run(requests)
    assert found[:2] == (STATUS["BAD_MADE_BYTES"], Kind.MERGE_LOW_BITS)
    with pytest.raises(FormatError, match="tokens of at most 16777216 bytes together"):
        verify_image(image)


def test_random_damage_is_judged_as_by_the_packer_s_own_verification(driver):
    """Bits of its sections, checksums made to hold: where one finds the image good, so does the other."""
    chance = random.Random(181)
    places = [
        at
        for number in NUMBER.values()
        for at in range(*ImageBytes(IMAGE).section(number).indices(len(IMAGE))[:2])
    ]
    requests, images = Requests(), []
    for _ in range(400):
        made = ImageBytes(IMAGE)
        made.raw[chance.choice(places)] ^= 1 << chance.randrange(8)
        images.append(bytes(made.seal()))
        requests.verify(images[-1])
    good = 0
    for image, found in zip(images, driver("sanitized").run(requests), strict=True):
        try:
            verify_image(image)
        except FormatError:
            # That another multiplier would have served, or served another empty bucket, only the packer knows.
            good += found.status == OK
        else:
            assert found.status == OK
    assert good < 10


@pytest.mark.parametrize("kind", ["gcc", "sanitized"])
def test_hostile_sections_are_harmless(driver, kind):
    """Merges in circles, of ids that are none, slots of rubbish: encoding and decoding end, and stay inside."""
    chance = random.Random(182)
    kinds = [
        Kind.MERGE_LOW_BITS, Kind.PAIR_MULTIPLIERS, Kind.PAIR_ROWS, Kind.BYTE_VALUES, Kind.BYTE_TOKEN_MAP,
        Kind.STORED_TOKEN_INDEX, Kind.STORED_TOKEN_BYTES, Kind.SPECIAL_TOKEN_INDEX,
    ]  # fmt: skip
    requests = Requests()
    for _ in range(250):
        made = ImageBytes(IMAGE)
        for number in chance.sample([NUMBER[known] for known in kinds], chance.choice([1, 2, 8])):
            place = made.section(number)
            for _ in range(chance.choice([1, 5, 200])):
                at = place.start + chance.randrange((place.stop - place.start) // 2) * 2
                made.raw[at : at + 2] = parts(chance.choice([chance.getrandbits(16), 0, 260, 266, 0xFFFF]))
        made.set_header(max_token_bytes=chance.choice([9, 100, 0xFFFF]))
        requests.set_image(bytes(made.seal()))
        requests.encode("abcab <s><u>" + "abc" * 40, capacity=chance.choice([ENOUGH, 3]))
        requests.detokenize([*range(256, 272), *chance.choices(range(272), k=9)], capacity=1 << 10)
        requests.stream(chance.choices(range(250, 272), k=9))
    known = {OK, DAMAGED, STATUS["BYTE_WITHOUT_TOKEN"], STATUS["OUTPUT_TOO_SMALL"], STATUS["BAD_ARGUMENT"]}
    for opened, encoded, decoded, stream in zip(*[iter(driver(kind).run(requests))] * 4, strict=True):
        assert opened == OK
        assert {encoded.status, decoded.status, *(shown.status for shown in stream)} <= known
        assert encoded.intact
        assert decoded.intact
        assert all(shown.intact for shown in stream)


def test_tokens_that_never_end(driver):
    """Circles to the left run out of room for parts that wait, circles to the right out of bytes."""
    a = ord("a")
    requests = Requests()
    for pair in ((256, a), (a, 256), (256, 256), (a, 300)):
        requests.set_image(edited(Kind.MERGE_LOW_BITS, 0, parts(*pair), max_token_bytes=1000))
        requests.detokenize([98, 256, 98])
        requests.stream([98, 256, 98])
    for _, decoded, stream in zip(*[iter(driver("counting").run(requests))] * 3, strict=True):
        assert (decoded.status, decoded.n_bytes, decoded.n_read) == (DAMAGED, 0, 1)
        assert [shown.status for shown in stream] == [OK, DAMAGED, OK, OK]


def test_the_deepest_tokens_that_are_packed(driver):
    """32 parts wait; what is nested to the right does not count."""
    deep = grown(*comb(32), *(f"c|{'c' * count}" for count in range(1, 90)), added=[("<s>", CONTROL)])
    requests = Requests()
    image = deep.image(profile=Profile.COMPACT)
    requests.verify(image)
    requests.set_image(image)
    requests.detokenize([256 + 31, 256 + 32 + 88, 256 + 32 + 89])
    verified, _, decoded = driver("sanitized").run(requests)
    assert verified.status == OK
    assert decoded.text == b"a" + b"b" * 32 + b"c" * 90 + b"<s>"


@pytest.mark.parametrize("kind", ["gcc", "sanitized"])
def test_random_vocabularies(driver, kind):
    """Merges of any two tokens, of which many are not what merging makes of their bytes."""
    chance = random.Random(183)
    requests, wanted = Requests(), []
    for _ in range(40):
        texts, merges = list("abc"), []
        for _ in range(chance.choice([1, 2, 9, 60])):
            left, right = chance.choice(texts), chance.choice(texts)
            if left + right not in texts:
                texts.append(left + right)
                merges.append(f"{left}|{right}")
        vocabulary = grown(*merges, added=[("<s>", CONTROL)])
        requests.set_image(vocabulary.image(profile=Profile.COMPACT))
        wanted.append(0)
        samples = ["".join(chance.choices("abc", k=chance.randint(1, 90))) for _ in range(6)]
        reference = Oracle(ListTables(vocabulary.tokens, vocabulary.merges), "all")
        for text, ids in zip(samples, reference.encode_all(samples), strict=True):
            requests.encode(text)
            requests.detokenize(ids)
            wanted += [ids, text.encode()]
    for answer, known in zip(driver(kind).run(requests), wanted, strict=True):
        if known == 0:
            assert answer == OK
        else:
            assert (answer.text if isinstance(known, bytes) else answer.ids) == known


def test_every_token_of_the_real_vocabulary(driver, standard_image, qwen_compact_image):
    """One in seven of them, with the same text and the same refusals."""
    requests = Requests()
    for token in range(0, 151_937, 7):
        requests.detokenize([token], capacity=128)
        requests.detokenize([token, 9707, token], capacity=7)
    requests.stream(list(range(151_300, 151_936)))
    whole, compact = (driver("gcc", image).run(requests) for image in (standard_image, qwen_compact_image))
    assert compact == whole


def test_scratch_and_statistics_are_those_of_profile_standard(driver, standard_image, qwen_compact_image):
    requests = Requests()
    for text in nasty_texts(300, seed=184, longest=400):
        requests.encode(text)
        requests.encode(text, capacity=9, scratch=400)
    whole, compact = (driver("gcc", image).run(requests) for image in (standard_image, qwen_compact_image))
    assert compact == whole


def test_a_reader_without_it_refuses_the_image_and_reads_others(driver):
    requests = Requests()
    for image in (IMAGE, STANDARD):
        requests.set_image(image)
        requests.verify(image)
    requests.encode("abc <s>")
    refused, judged, opened, verified, encoded = driver("without compact").run(requests)
    assert refused == judged.status == STATUS["BAD_PROFILE"]
    assert opened == verified.status == encoded.status == OK
