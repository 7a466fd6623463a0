"""Where in a text the tokens of its NFC form came from."""

from __future__ import annotations

import pytest
from bpe_texts import nasty_texts, real_texts

from pipeline.bpe.encoder import Encoder
from pipeline.bpe.nfc import changes, is_nfc
from pipeline.bpe.offsets import SourceMap


def source_map(text):
    return SourceMap(text, changes(text))


def test_nothing_changed():
    source = source_map("abé")
    assert [source.start(at) for at in range(5)] == [source.end(at) for at in range(5)] == list(range(5))


#  text    x | e U+0301 | y | U+212B | A U+030A | z     bytes 1 3 1 3 3 1
#  offset  0   1          4   5        8          11 12
#  NFC     x | é        | y | Å      | Å        | z     bytes 1 2 1 2 2 1
#  offset  0   1          3   4        6          8  9
TEXT = "xe\u0301y\u212bA\u030az"


@pytest.mark.parametrize(("normal", "text"), {0: 0, 1: 1, 2: 1, 3: 4, 8: 11, 9: 12}.items())
def test_start(normal, text):
    assert source_map(TEXT).start(normal) == text


@pytest.mark.parametrize(("normal", "text"), {0: 0, 1: 1, 2: 4, 3: 4, 4: 5, 8: 11, 9: 12}.items())
def test_end(normal, text):
    assert source_map(TEXT).end(normal) == text


def test_neighbouring_changes_keep_apart():
    source = source_map("e\u0301e\u0301")  # bytes 0..3 and 3..6 become 0..2 and 2..4
    assert [source.start(at) for at in range(5)] == [0, 0, 3, 3, 6]
    assert [source.end(at) for at in range(5)] == [0, 3, 3, 6, 6]


def test_pieces(qwen3):
    encoder = Encoder(qwen3)
    pieces = encoder.pieces("Hi <think>Ae\u0301!")
    assert [tuple(piece) for piece in pieces] == [
        (13048, b"Hi", 0, 2),
        (220, b" ", 2, 3),
        (151667, b"<think>", 3, 10),
        (32, b"A", 10, 11),
        (963, "é".encode(), 11, 14),
        (0, b"!", 14, 15),
    ]


@pytest.mark.parametrize("specials", ["all", "user", "none"])
def test_pieces_tell_where_they_came_from(qwen3, specials):
    encoder = Encoder(qwen3, specials=specials)
    for text in [*real_texts().values(), *nasty_texts(3_000, seed=63)]:
        pieces = encoder.pieces(text)
        data = text.encode()
        assert [piece.token for piece in pieces] == encoder.encode(text)
        places = [(piece.start, piece.end) for piece in pieces]
        assert places == sorted(places)
        assert [0, *(end for _, end in places)][-1] == len(data)
        assert all(
            start <= before for (_, before), (start, _) in zip([(0, 0), *places], places, strict=False)
        )
        if is_nfc(text):
            assert all(data[piece.start : piece.end] == piece.data for piece in pieces)
            assert b"".join(piece.data for piece in pieces) == data
