"""Ids to bytes: whole, one at a time, and without an image."""

from __future__ import annotations

import random
import re

import pytest
from bpe_texts import nasty_texts, real_texts
from firmware_driver import SKIP_CONTROL, SPECIALS, STATUS, STOP_AT_END, Requests
from image_bytes import ImageBytes
from small_vocabulary import CONTROL, UNKNOWN, USER_DEFINED, PlainTables, grown

from formats.byte_level import BYTE_AT_INDEX, INDEX_OF_BYTE
from formats.q25tokrt.layout import Kind
from pipeline.bpe.decoder import Decoder
from pipeline.bpe.nfc import nfc

KINDS = ["gcc", "sanitized"]
VOCABULARY = grown(
    "a|b",
    added=[("<s>", CONTROL), ("<u>", USER_DEFINED), ("<unk>", UNKNOWN), ("\u0111", USER_DEFINED)],
    pads=4,
)
TABLES = PlainTables(VOCABULARY)
IMAGE = VOCABULARY.image(end_ids=(257, 97))
SETTINGS = [0, SKIP_CONTROL, STOP_AT_END, SKIP_CONTROL | STOP_AT_END]


def decoded(ids, flags):
    ends = (257, 97) if flags & STOP_AT_END else ()
    return list(Decoder(TABLES, skip_control=bool(flags & SKIP_CONTROL), end_ids=ends).tokens(ids))


@pytest.mark.parametrize("kind", KINDS)
def test_random_ids(driver, kind):
    chance = random.Random(101)
    requests, expected = Requests(), []
    requests.set_image(IMAGE)
    for _ in range(2_000):
        ids = chance.choices(range(len(VOCABULARY.tokens)), k=chance.randint(0, 12))
        flags = chance.choice(SETTINGS)
        parts = decoded(ids, flags)
        size = len(b"".join(parts))
        capacity = chance.choice([size, size + 1, max(0, size - 1), 0])
        requests.detokenize(ids, flags, capacity)
        expected.append((parts, size, capacity))
    opened, *answers = driver(kind).run(requests)
    assert opened == 0
    for answer, (parts, size, capacity) in zip(answers, expected, strict=True):
        assert answer.status == STATUS["OK" if size <= capacity else "OUTPUT_TOO_SMALL"]
        assert answer.n_bytes == size
        assert answer.n_read == len(parts)
        assert answer.text == b"".join(parts)[:capacity]
        assert answer.intact


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_ids(driver, kind):
    n_tokens = len(VOCABULARY.tokens)
    requests = Requests()
    requests.set_image(IMAGE)
    for token in (n_tokens, 2**31, 2**32 - 1):
        requests.detokenize([97, 98, token, 99])
        requests.detokenize([98, 257, token], STOP_AT_END)
        requests.stream([token])
    _, *answers = driver(kind).run(requests)
    for refused, stopped, stream in zip(*[iter(answers)] * 3, strict=True):
        assert (refused.status, refused.n_bytes, refused.n_read) == (STATUS["UNKNOWN_ID"], 0, 2)
        assert (stopped.status, stopped.text, stopped.n_read) == (0, b"b", 1)
        assert [shown.status for shown in stream] == [STATUS["UNKNOWN_ID"], 0]


def test_joined_tokens_are_the_text_after_nfc(driver, each_image):
    """Special tokens as they are, NFC between them; one token at a time gives the same."""
    texts = [*real_texts().values(), *nasty_texts(2_000, seed=102)]
    encode, decode, one_by_one = Requests(), Requests(), Requests()
    for text in texts:
        encode.encode(text, SPECIALS["none"])
    answers = driver("gcc", each_image).run(encode)
    for answer in answers:
        decode.detokenize(answer.ids)
        one_by_one.stream(answer.ids)
    for text, answer in zip(texts, driver("gcc", each_image).run(decode), strict=True):
        assert answer.text == nfc(text).encode()
    for text, stream in zip(texts, driver("gcc", each_image).run(one_by_one), strict=True):
        assert b"".join(shown.text for shown in stream) == nfc(text).encode()
        for shown in stream:
            assert shown.text.decode() or not shown.text  # each part is whole characters


def test_joined_tokens_with_specials(driver, standard_image, qwen3):
    """Special tokens come out as they are, and NFC is of each stretch between them."""
    specials = sorted(
        (qwen3.token_bytes(token).decode() for token in qwen3.added_tokens), key=len, reverse=True
    )
    parts = re.compile("(" + "|".join(map(re.escape, specials)) + ")")
    texts = [text for text in nasty_texts(4_000, seed=104) if "<" in text]
    found = driver("gcc", standard_image).encode_all(texts, SPECIALS["all"])
    requests = Requests()
    for ids in found:
        requests.detokenize(ids)
    for text, answer in zip(texts, driver("gcc", standard_image).run(requests), strict=True):
        expected = "".join(part if part in specials else nfc(part) for part in parts.split(text))
        assert answer.text.decode() == expected


def test_one_token_at_a_time(driver, each_image):
    """Joined output of single calls is the output of one call."""
    ids = [151644, 9707, 151668, 0, 220, 151645, 126, 151700, 99, 13]
    requests = Requests()
    requests.detokenize(ids)
    for token in ids:
        requests.detokenize([token])
    whole, *parts = driver("sanitized", each_image).run(requests)
    assert whole.text == b"".join(part.text for part in parts)


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_holds_back_what_is_unfinished(driver, kind):
    chance = random.Random(103)
    requests, expected = Requests(), []
    requests.set_image(IMAGE)
    alphabet = [*b"a\x80\xbf\xc2\xc3\xe0\xe5\xed\xf0\xf4\xff\x90\xb0\xa0", 256, 257, 258, 260, 262]
    for _ in range(1_500):
        ids = chance.choices(alphabet, k=chance.randint(0, 14))
        flags = chance.choice([0, SKIP_CONTROL])
        requests.stream(ids, flags)
        decoder = Decoder(TABLES, skip_control=bool(flags))
        shown = [b"".join(decoder.stream(ids[: count + 1])) for count in range(len(ids))]
        expected.append((b"".join(decoder.tokens(ids)), [*decoder.stream(ids)], shown))
    _, *answers = driver(kind).run(requests)
    for stream, (joined, parts, _) in zip(answers, expected, strict=True):
        assert all(shown.status == 0 and shown.intact for shown in stream)
        assert b"".join(shown.text for shown in stream) == joined
        assert [shown.text for shown in stream if shown.text] == parts
        assert stream[-1].n_held == 0


def test_a_stream_short_of_room_is_as_before(driver):
    requests = Requests()
    requests.set_image(IMAGE)
    for capacity in range(8):
        requests.stream([0xE5, 0xB0, 259, 0xB1], capacity=capacity)
    _, *answers = driver("sanitized").run(requests)
    for capacity, (first, second, third, last, end) in enumerate(answers):
        assert (first.n_held, second.n_held) == ((1, 2) if capacity >= 2 else (min(capacity, 1),) * 2)
        held = second.n_held
        if capacity < held + 5:
            assert (third.status, third.n_bytes, third.n_held) == (STATUS["OUTPUT_TOO_SMALL"], held + 5, held)
            assert third.text == b""
        else:
            assert third.text == b"\xe5\xb0<unk>"
        if 3 <= capacity < 7:
            assert last.text == b"\xe5\xb0\xb1"
        assert end.status == 0
        assert all(shown.intact for shown in (first, second, third, last, end))


def test_token_records_that_point_beyond_the_token_bytes(driver):
    made = ImageBytes(IMAGE)
    at = made.section(0).start + 8 * 97
    assert made.entry(0, "kind") == Kind.TOKEN_INDEX
    requests = Requests()
    for record in (b"\xff\xff\xff\xff\1\0\1\0", b"\0\0\0\0\xff\xff\1\0", b"\xff\xff\xff\xff\xff\xff\1\0"):
        made.raw[at : at + 8] = record
        requests.set_image(bytes(made.seal()))
        requests.detokenize([98, 97, 98])
        requests.stream([98, 97, 98])
    for opened, decoded, stream in zip(*[iter(driver("sanitized").run(requests))] * 3, strict=True):
        assert opened == 0
        assert (decoded.status, decoded.n_read) == (STATUS["IMAGE_DAMAGED"], 1)
        assert [shown.status for shown in stream] == [0, STATUS["IMAGE_DAMAGED"], 0, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_without_an_image(driver, kind):
    text = bytes(range(1, 256))
    ids = [INDEX_OF_BYTE[byte] for byte in text]
    assert (ids[ord("A") - 1], ids[ord(" ") - 1]) == (32, 220)
    requests = Requests()
    for capacity in (255, 256, 254, 0):
        requests.to_byte_ids(text, capacity)
    for capacity in (256, 257, 255, 1, 0):
        requests.from_byte_ids(ids, capacity)
    requests.to_byte_ids(b"", 0)
    requests.from_byte_ids([], 1)
    requests.from_byte_ids([], 0)
    answers = driver(kind).run(requests)
    encoded, decoded, empty = answers[:4], answers[4:9], answers[9:]
    assert [answer.status for answer in encoded] == [
        0,
        0,
        STATUS["OUTPUT_TOO_SMALL"],
        STATUS["OUTPUT_TOO_SMALL"],
    ]
    assert {answer.count for answer in encoded} == {255}
    assert encoded[0].data == encoded[1].data == b"".join(token.to_bytes(4, "little") for token in ids)
    assert [answer.status for answer in decoded] == [0, 0, *[STATUS["OUTPUT_TOO_SMALL"]] * 3]
    assert {answer.count for answer in decoded} == {255}
    assert decoded[0].data == text + b"\0"
    assert [(answer.status, answer.count) for answer in empty] == [
        (0, 0),
        (0, 0),
        (STATUS["OUTPUT_TOO_SMALL"], 0),
    ]
    assert all(answer.intact for answer in answers)


def test_ids_that_are_no_bytes(driver):
    requests = Requests()
    for ids in ([32, 256], [32, 33, 2**32 - 1], [188], [0, 188, 5], [*range(188), *range(189, 256)]):
        requests.from_byte_ids(ids)
    answers = driver("sanitized").run(requests)
    not_a_byte, nul = STATUS["NOT_A_BYTE_TOKEN"], STATUS["NUL_BYTE"]
    assert [(answer.status, answer.count) for answer in answers] == [
        (not_a_byte, 1), (not_a_byte, 2), (nul, 0), (nul, 1), (0, 255),
    ]  # fmt: skip
    assert answers[-1].data == bytes(BYTE_AT_INDEX[token] for token in range(256) if token != 188) + b"\0"


def test_the_fallback_is_the_model_s_byte_tokens(qwen3):
    assert [qwen3.byte_token(byte) for byte in range(256)] == list(INDEX_OF_BYTE)
