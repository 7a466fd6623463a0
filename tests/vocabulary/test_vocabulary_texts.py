"""Byte-level texts decoded all at once, against decoding each by itself."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from refusals import attempt

from formats.byte_level import BYTE_OF_GLYPH, GLYPHS, decode, encode
from formats.byte_strings import ByteStrings
from formats.layout import Place
from pipeline.vocabulary.byte_text import decode_texts


def decoded(texts, encoded):
    strings = ByteStrings.from_list(texts)
    mask = np.array(encoded, np.bool_)
    return decode_texts(strings, mask, lambda index: Place("t", f"[{index}]"))


def by_itself(data, encoded):
    """Decode one text; None where it is no byte-level text."""
    if not encoded:
        return data
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return decode(text) if all(char in BYTE_OF_GLYPH for char in text) else None


GLYPH_TEXT = st.text(st.sampled_from(GLYPHS), max_size=6).map(str.encode)
NEAR = st.lists(
    st.sampled_from([b"\xc2\xa1", b"\xc4\x80", b"\xc5\x83", b"\xc5\x84", b"\xc2", b"\xc4", b"\xa1", b"\x80",
                     b"\xe5", b"\xe5\x9b\x9e", b"\xff", b"\xc1\xa1", b"a", b" ", b"\n", b"\xdf\xbf"]),
    max_size=4,
).map(b"".join)  # fmt: skip
TEXTS = st.lists(st.tuples(st.one_of(GLYPH_TEXT, NEAR, st.binary(max_size=4)), st.booleans()), max_size=8)


@given(rows=TEXTS)
def test_all_at_once_is_as_one_by_one(rows):
    expected = [by_itself(*row) for row in rows]
    found, error = attempt(decoded, [data for data, _ in rows], [encoded for _, encoded in rows])
    if None in expected:
        assert str(error).startswith(f"t: [{expected.index(None)}] at offset 0x0 (0): expected ")
    else:
        assert list(found) == expected


@given(data=st.lists(st.binary(max_size=8), max_size=10))
def test_any_bytes_come_back(data):
    assert list(decoded([encode(item).encode() for item in data], [True] * len(data))) == data


def test_nothing_and_nothing_but_empty_texts():
    assert list(decoded([], [])) == []
    assert list(decoded([b"", b""], [True, False])) == [b"", b""]


def test_every_pair_of_bytes_as_a_text():
    """All 65,536 texts of two bytes: exactly those of two ASCII glyphs or of one wider glyph are taken."""
    glyphs = {glyph.encode() for glyph in GLYPHS}
    ascii_glyphs = {glyph for glyph in glyphs if len(glyph) == 1}
    pairs = [bytes([first, second]) for first in range(256) for second in range(256)]
    good = [
        pair for pair in pairs if pair in glyphs or {pair[:1], pair[1:]} <= ascii_glyphs
    ]  # fmt: skip
    assert len(good) == 94 * 94 + 162
    assert list(decoded(good, [True] * len(good))) == [decode(pair.decode()) for pair in good]
    for pair in sorted(set(pairs) - set(good))[::17]:
        assert attempt(decoded, [pair], [True])[0] is None
