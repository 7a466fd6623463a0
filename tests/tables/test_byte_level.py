"""The byte alphabet: 256 characters for 256 bytes, checked one by one."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats import byte_level
from formats.byte_level import BYTE_AT_INDEX, BYTE_OF_GLYPH, GLYPHS, INDEX_OF_BYTE, decode, encode


def test_glyphs_are_a_bijection():
    assert len(GLYPHS) == len(set(GLYPHS)) == len(BYTE_OF_GLYPH) == 256
    for byte in range(256):
        assert decode(encode(bytes([byte]))) == bytes([byte])
        assert BYTE_OF_GLYPH[GLYPHS[byte]] == byte


def test_glyphs_by_the_definition():
    """The printable bytes of Latin-1 stand for themselves, all others for U+0100 and on in order."""
    others = 0
    for byte in range(256):
        if 0x21 <= byte <= 0x7E or 0xA1 <= byte <= 0xAC or byte >= 0xAE:
            assert ord(GLYPHS[byte]) == byte
        else:
            assert ord(GLYPHS[byte]) == 0x100 + others
            others += 1
    assert others == 68


def test_glyphs_have_one_or_two_bytes_of_utf8():
    assert {len(glyph.encode()) for glyph in GLYPHS} == {1, 2}
    assert not any(glyph.isspace() for glyph in GLYPHS)


@pytest.mark.parametrize(
    ("byte", "glyph"),
    [(0x00, "Ā"), (0x0A, "Ċ"), (0x20, "Ġ"), (0x21, "!"), (0x7E, "~"), (0x7F, "ġ"), (0x80, "Ģ"), (0xA0, "ł"),
     (0xA1, "¡"), (0xAC, "¬"), (0xAD, "Ń"), (0xAE, "®"), (0xFF, "ÿ")],
)  # fmt: skip
def test_glyphs_that_are_easily_wrong(byte, glyph):
    assert GLYPHS[byte] == glyph


def test_the_index_of_a_byte_counts_printable_bytes_first():
    assert sorted(INDEX_OF_BYTE) == list(range(256))
    assert [BYTE_AT_INDEX[INDEX_OF_BYTE[byte]] for byte in range(256)] == list(range(256))
    # The ids of these bytes' tokens in Qwen's vocabulary.
    assert [INDEX_OF_BYTE[byte] for byte in b'!"~\n \x7f\xad\x00'] == [0, 1, 93, 198, 220, 221, 255, 188]


@pytest.mark.parametrize(("text", "data"), [("Ń", "AD"), ("ÃŃ", "C3 AD"), ("å°", "E5 B0"), ("±", "B1")])
def test_texts_of_tokens_and_their_bytes(text, data):
    assert decode(text) == bytes.fromhex(data)
    assert encode(bytes.fromhex(data)) == text


@given(data=st.binary(max_size=40))
def test_any_bytes_come_back(data):
    assert decode(encode(data)) == data


@pytest.mark.parametrize("char", [" ", "\n", "\xad", "\u0144", "回", "\x7f", "\xa0"])
def test_a_character_outside_the_alphabet(char):
    with pytest.raises(KeyError):
        decode(f"a{char}")


def test_examples_in_the_docstrings():
    assert doctest.testmod(byte_level) == (0, 2)
