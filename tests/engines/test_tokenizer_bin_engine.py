"""The engine of tokenizer.bin: its hash, its table, its way of cutting text, and the reference library."""

import random

import numpy as np
import pytest
from engine_oracles import ASCII_PIECES, library
from hypothesis import given
from hypothesis import strategies as st
from small_vocabulary import CONTROL, USER_DEFINED, grown

from formats import byte_level, tokenizer_bin
from formats.byte_strings import ByteStrings
from pipeline.engines.approximate_split import approximate_split
from pipeline.engines.string_table import StringTable, fnv1a, fnv1a_all
from pipeline.engines.tokenizer_bin import TokenizerBinEngine


@pytest.mark.parametrize(
    ("data", "value"), [(b"", 0x811C9DC5), (b"a", 0xE40C292C), (b"b", 0xE70C2DE5), (b"foobar", 0xBF9CF968)]
)
def test_the_published_values_of_fnv1a(data, value):
    assert fnv1a(data) == value


STRINGS = st.lists(st.binary(max_size=5), max_size=40)


@given(strings=STRINGS)
def test_all_hashes_at_once(strings):
    assert fnv1a_all(ByteStrings.from_list(strings)).tolist() == [fnv1a(text) for text in strings]


@given(strings=STRINGS, others=STRINGS)
def test_the_table_finds_the_lowest_of_equal_strings(strings, others):
    table = StringTable(ByteStrings.from_list(strings))
    assert table.n_buckets.bit_count() == 1
    assert table.n_buckets >= len(strings)
    for text in strings + others:
        assert table.find(text) == (strings.index(text) if text in strings else None)


def test_the_table_of_a_real_vocabulary(qwen3_tables):
    texts = qwen3_tables.vocabulary.texts
    table = StringTable(texts)
    assert table.n_buckets == 262_144
    for token in range(0, len(texts), 97):
        assert table.find(texts[token]) == token
    chained = np.concatenate((table.heads[table.heads >= 0], table.following[table.following >= 0]))
    assert sorted(chained.tolist()) == list(range(len(texts)))


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Hello world", ["Hello", " world"]),
        ("I'm you'RE he'd x's 'tis", ["I", "'m", " you", "'RE", " he", "'d", " x", "'s", " ", "'t", "is"]),
        ("2024", ["2", "0", "2", "4"]),
        ("a 1", ["a", " ", "1"]),
        ("(x) -> !!\n\n", ["(", "x", ")", " ", "->", " ", "!!", "\n\n"]),
        ("a  b", ["a", "  ", "b"]),
        ("\n x\t\t y", ["\n ", "x", "\t\t ", "y"]),
        ("中国é", ["中", "国", "é"]),
        (" é\u00a0", [" ", "é", "\u00a0"]),
        ("'é'", ["'", "é", "'"]),
        ("a\x00\x7f\x01b", ["a", "\x00", "\x7f", "\x01", "b"]),
        ("😀😀", ["😀", "😀"]),
        ("\u017f'\u017f", ["\u017f", "'", "\u017f"]),
        ("", []),
    ],
)
def test_pieces(text, pieces):
    assert approximate_split(text.encode()) == [piece.encode() for piece in pieces]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (b"\x80\xbf", [b"\x80", b"\xbf"]),
        (b"\xe4\xb8", [b"\xe4\xb8"]),
        (b"\xe4ab1", [b"\xe4ab", b"1"]),
        (b"\xf0\x9f", [b"\xf0\x9f"]),
        (b"\xff\xfe", [b"\xff", b"\xfe"]),
        (b"\xc3", [b"\xc3"]),
    ],
)
def test_pieces_of_what_is_no_utf8(text, pieces):
    """The first byte states a length, which the end of the text limits; nothing else is checked."""
    assert approximate_split(text) == pieces


@given(text=st.binary(max_size=60))
def test_pieces_joined_are_the_text(text):
    assert b"".join(approximate_split(text)) == text


def engine_of(vocabulary, layout="documented"):
    texts = ByteStrings.from_list(
        byte_level.encode(data).encode() if kind == 1 else data for data, kind in vocabulary.tokens
    )
    left, right, _ = zip(*vocabulary.merges, strict=True) if vocabulary.merges else ([], [], [])
    special = [token for token, (_, kind) in enumerate(vocabulary.tokens) if kind in (CONTROL, USER_DEFINED)]
    data = tokenizer_bin.build(layout, texts, list(left), list(right), np.array(special, np.int64))
    return TokenizerBinEngine(tokenizer_bin.read(data, layout))


CHARS = ["a", "b", "'", "s", "re", " ", "\n", "1", "é", "中", "-", ".", "  ", "\u017f", "\x00", "\u3000"]


def random_vocabulary(chance):
    texts = ["a", "b", "s", "r", "e", " ", "-", ".", "'", "1", "\n"]
    merges = []
    for _ in range(chance.randint(0, 30)):
        left, right = chance.choice(texts), chance.choice(texts)
        if left + right not in texts:
            texts.append(left + right)
            merges.append(f"{left}|{right}")
    return grown(*merges)


@pytest.mark.parametrize("layout", ["documented", "loader"])
def test_against_the_library(layout):
    chance = random.Random(82)
    for _ in range(60):
        vocabulary = random_vocabulary(chance)
        oracle = library([data for data, _ in vocabulary.tokens], vocabulary.merges, ASCII_PIECES)
        engine = engine_of(vocabulary, layout)
        for _ in range(20):
            text = "".join(chance.choices(CHARS, k=chance.randint(0, 60)))
            assert engine.encode(text.encode()) == oracle(text), ascii(text)
            assert engine.decode(engine.encode(text.encode())) == text.encode()


def test_with_a_real_vocabulary(qwen3_engine):
    assert qwen3_engine.encode(b"Hello world") == [9707, 1879]
    assert qwen3_engine.encode("你好".encode()) == [56568, 52801], (
        "one character at a time: 108386 is out of reach"
    )
    assert qwen3_engine.encode(b"ab", bos_id=151643) == [151643, 370]
    text = "I'm  (here)\n<think> đ".encode()
    assert qwen3_engine.decode(qwen3_engine.encode(text)) == text
    assert 151667 not in qwen3_engine.encode(text), "special tokens are not looked for"


def test_decoding_added_tokens():
    """They are plain text: `đ` in one is a letter, and in a normal token it is the byte 91's glyph."""
    vocabulary = grown("a|b", added=[("đem", USER_DEFINED), ("<s>", CONTROL)])
    engine = engine_of(vocabulary)
    assert engine.decode([256, 257, 258, 0x91]) == "abđem<s>".encode() + b"\x91"
    with pytest.raises(IndexError):
        engine.decode([259])


def test_a_merge_whose_result_is_no_string_is_never_done():
    tokens = [byte_level.encode(bytes([byte])).encode() for byte in range(256)]
    texts = ByteStrings.from_list([*tokens, b"abc"])
    data = tokenizer_bin.build("documented", texts, [97, 97], [98, 99], np.array([], np.int64))
    engine = TokenizerBinEngine(tokenizer_bin.read(data, "documented"))
    assert engine.encode(b"abc ac") == [97, 98, 99, 32, 97, 99]


def test_bytes_without_a_string_are_left_out():
    texts = ByteStrings.from_list([b"a", b"b", b"ab"])
    data = tokenizer_bin.build("documented", texts, [0], [1], np.array([], np.int64))
    engine = TokenizerBinEngine(tokenizer_bin.read(data, "documented"))
    assert engine.encode(b"a?b") == [0, 1]
    assert engine.encode(b"ab") == [2]


@pytest.mark.parametrize("unit", ["a", " ", "中", "-", "'s", "<"])
def test_long_runs(qwen3_engine, unit):
    """A quadratic way would take many minutes."""
    text = (unit * (50_000 // len(unit.encode()))).encode()
    assert qwen3_engine.decode(qwen3_engine.encode(text)) == text
