"""Ids back to bytes: types, padding, ends, bad ids, and the form that shows whole characters."""

from __future__ import annotations

import itertools
import random

import pytest
from bpe_texts import nasty_texts, real_texts
from bpe_vocabulary import ListTables, small_tables

from pipeline.bpe.decoder import Decoder, unfinished
from pipeline.bpe.encoder import Encoder
from pipeline.bpe.errors import TokenIdError
from pipeline.bpe.nfc import nfc
from pipeline.errors import UsageError

TABLES = ListTables(
    [(bytes([byte]), 1) for byte in range(256)]
    + [("đem".encode(), 4), ("<|é|>".encode(), 3), (b"<unk>", 2), (b"[PAD259]", 5), (b"[PAD260]", 4)],
    first_pad_id=259,
)


def test_added_tokens_are_plain_text():
    assert Decoder(TABLES).decode([256, 257]) == bytes.fromhex("C4 91 65 6D 3C 7C C3 A9 7C 3E")


def test_control_tokens_can_be_left_out():
    ids = [65, 256, 257, 258, 66]
    assert Decoder(TABLES).decode(ids) == "Ađem<|é|><unk>B".encode()
    assert Decoder(TABLES, skip_control=True).decode(ids) == "AđemB".encode()


def test_padding_is_nothing():
    assert Decoder(TABLES).decode([65, 259, 260, 66]) == b"AB"


def test_ends():
    ids = [65, 66, 257, 67, 9999]
    assert Decoder(TABLES, end_ids=[257, 258]).decode(ids) == b"AB"  # what follows is not looked at
    assert Decoder(TABLES, end_ids=[65]).decode(ids) == b""
    assert list(Decoder(TABLES, end_ids={257}).tokens(ids)) == [b"A", b"B"]


@pytest.mark.parametrize("token", [-1, 261, 1 << 40])
def test_ids_out_of_range(token):
    with pytest.raises(TokenIdError) as caught:
        Decoder(TABLES).decode([65, 66, token, 67])
    assert isinstance(caught.value, UsageError)
    assert caught.value.index == 2
    assert str(caught.value) == f"id {token} at index 2: expected an id from 0 to 260"


def test_stream_shows_whole_characters():
    data = "aé就😀b".encode()
    shown = list(Decoder(TABLES).stream(data))
    assert [chunk.decode() for chunk in shown] == ["a", "é", "就", "😀", "b"]


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"\xe5\xb0", [b"\xe5\xb0"]),  # unfinished at the end
        (b"\xe5\xb0a", [b"\xe5\xb0a"]),  # can no longer be finished
        (b"\xff\x80a", [b"\xff", b"\x80", b"a"]),
        (b"\xed\xa0\x80", [b"\xed\xa0", b"\x80"]),  # half of a surrogate pair is no character
        (b"\xc3\xc3\xa9", [b"\xc3", b"\xc3\xa9"]),
        (b"\xf4\x90\x80\x80", [b"\xf4\x90", b"\x80", b"\x80"]),  # past U+10FFFF
        (b"", []),
    ],
)
def test_stream_passes_on_what_is_no_character(data, shown):
    assert list(Decoder(TABLES).stream(data)) == shown


CONTINUATIONS = (0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF)
TAILS = [bytes(tail) for size in (1, 2, 3) for tail in itertools.product(CONTINUATIONS, repeat=size)]


def could_begin_a_character(data):
    """By trying: some one, two or three continuation bytes make it a character."""
    if data[0] < 0xC0 or any(byte not in range(0x80, 0xC0) for byte in data[1:]):
        return False
    return any(is_character(data + tail) for tail in TAILS)


def is_character(data):
    try:
        return len(data.decode()) == 1
    except UnicodeDecodeError:
        return False


def test_unfinished():
    leads = bytes.fromhex("C0 C1 C2 DF E0 E1 EC ED EE EF F0 F1 F3 F4 F5 FF")
    edges = [0x00, 0x7F, *CONTINUATIONS, *leads]
    begins = {
        bytes(head)
        for size in (1, 2, 3)
        for head in itertools.product(edges, repeat=size)
        if could_begin_a_character(bytes(head))
    }
    for data in map(bytes, itertools.product(edges, repeat=3)):
        held = next((length for length in (3, 2, 1) if data[-length:] in begins), 0)
        assert unfinished(data) == held, data.hex()
    assert unfinished(b"") == 0


def test_stream_takes_ids_as_they_come():
    taken = []

    def ids():
        for byte in "é!".encode():
            taken.append(byte)
            yield byte

    stream = Decoder(TABLES).stream(ids())
    assert next(stream) == "é".encode()
    assert len(taken) == 2


def test_stream_stops_at_an_end_with_a_character_unfinished():
    assert b"".join(Decoder(TABLES, end_ids=[257]).stream([65, 0xE5, 257, 0xB0])) == b"A\xe5"


def test_stream_is_decode_on_random_bytes():
    chance = random.Random(51)
    for _ in range(2_000):
        data = bytes(chance.choices([0x41, 0x80, 0xA0, 0xBF, 0xC3, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xFF], k=12))
        chunks = list(Decoder(TABLES).stream(data))
        assert b"".join(chunks) == data
        assert all(chunks)


def test_pieces_split_inside_a_character():
    tables = small_tables()
    decoder = Decoder(tables)
    ids = Encoder(tables).encode("就")
    assert len(ids) == 3
    assert list(decoder.tokens(ids)) == [b"\xe5", b"\xb0", b"\xb1"]
    assert decoder.decode(ids).decode() == "就"


def test_joined_output_is_the_text_after_nfc(qwen3):
    encoder, decoder = Encoder(qwen3, specials="none"), Decoder(qwen3)
    for text in [*real_texts().values(), *nasty_texts(2_000, seed=52)]:
        ids = encoder.encode(text)
        assert decoder.decode(ids) == b"".join(decoder.stream(ids)) == nfc(text).encode()
