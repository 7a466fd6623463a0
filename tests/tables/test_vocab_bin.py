"""vocab.bin: the engine's rule for each glyph, the file, and every refusal."""

import construct
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import attempt, refusal
from small_vocabulary import CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED

from formats import vocab_bin
from formats.byte_level import GLYPHS
from formats.byte_strings import ByteStrings
from formats.vocab_bin import ENTRY, STORED, VOCAB_BIN


def packed(*tokens):
    return vocab_bin.build(ByteStrings.from_list(data for data, _ in tokens), [kind for _, kind in tokens])


def test_the_engines_rule_for_every_byte():
    """Written out from the rule's own words: by the glyph's code point, not by the byte."""
    for byte, glyph in enumerate(GLYPHS):
        code = ord(glyph)
        if glyph == "Ń":
            expected = b"\xad"
        elif glyph == "ġ":
            expected = b"\x7f"
        elif "Ģ" <= glyph <= "ł":
            expected = bytes([code - 0xA2])
            assert 0x80 <= code - 0xA2 <= 0xA0
        elif "¡" <= glyph <= "¬" or "®" <= glyph <= "ÿ":
            expected = bytes([code])
        else:
            expected = glyph.encode("utf-8")
        assert STORED[byte] == expected
    assert [byte for byte in range(256) if STORED[byte] != bytes([byte])] == list(range(0x21))


@pytest.mark.parametrize(
    ("data", "stored"),
    [
        (b" ", "C4 A0"),
        (b"\n", "C4 8A"),
        (b"\x00", "C4 80"),
        (b"\x7f", "7F"),
        (b"\xad", "AD"),
        (b" good", "C4 A0 67 6F 6F 64"),
        ("回答".encode(), "E5 9B 9E E7 AD 94"),
        (b"\xe5\xb0", "E5 B0"),
        (b"", ""),
    ],
)
def test_normal_tokens(data, stored):
    assert list(packed((data, NORMAL)).entries) == [bytes.fromhex(stored)]


@pytest.mark.parametrize("kind", [CONTROL, USER_DEFINED, UNKNOWN, UNUSED])
def test_added_tokens_are_plain_text(kind):
    assert list(packed(("đem \n".encode(), kind)).entries) == ["đem \n".encode()]


def test_a_worked_example():
    """The second record lies at an odd offset, so readers may not assume alignment."""
    # struct { uint32_t n; struct { uint32_t token_id; uint16_t length; char text[length]; } entries[n]; };
    made = packed((b"!", NORMAL), (b" a", NORMAL), ("é".encode(), NORMAL), (b"<|x|>", CONTROL))
    assert made.data == bytes.fromhex(
        "04 00 00 00"
        "00 00 00 00  01 00  21"
        "01 00 00 00  03 00  C4 A0 61"
        "02 00 00 00  02 00  C3 A9"
        "03 00 00 00  05 00  3C 7C 78 7C 3E"
    )
    assert list(vocab_bin.read(made.data)) == [b"!", b"\xc4\xa0a", b"\xc3\xa9", b"<|x|>"]
    # `é` is stored by its bytes, whose glyphs are `Ã©`: converted. The blank keeps its glyph's UTF-8.
    assert (made.converted, made.kept, made.special) == (1, 2, 1)


@pytest.mark.parametrize(
    ("data", "kind", "counts"),
    [
        (b"plain", NORMAL, (0, 1, 0)),
        (b" Gl", NORMAL, (0, 1, 0)),
        (b"\n\t\x00", NORMAL, (0, 1, 0)),
        (b"\x7f", NORMAL, (1, 0, 0)),
        (b"\x80", NORMAL, (1, 0, 0)),
        (b"a\xff", NORMAL, (1, 0, 0)),
        (b"", NORMAL, (0, 1, 0)),
        (b"\xff", CONTROL, (0, 0, 1)),
        (b"", UNUSED, (0, 0, 1)),
    ],
)
def test_a_token_counts_as_converted_where_its_bytes_differ_from_its_text(data, kind, counts):
    made = packed((b"a", NORMAL), (data, kind), (b"a", NORMAL))
    assert (made.converted, made.kept - 2, made.special) == counts


def test_no_tokens():
    assert packed().data == bytes(4)
    assert len(vocab_bin.read(bytes(4))) == 0


@pytest.mark.parametrize("size", [300, 65_535])
def test_long_tokens_are_fine(size):
    entries = vocab_bin.read(packed((b"x" * size, NORMAL), (b" " * size, CONTROL)).data)
    assert entries.lengths.tolist() == [size, size]


@pytest.mark.parametrize(
    ("data", "kind", "size"),
    [(b"x" * 65_536, NORMAL, 65_536), (b" " * 32_768, NORMAL, 65_536), (b" " * 70_000, CONTROL, 70_000)],
)
def test_a_token_whose_stored_bytes_are_too_many(data, kind, size):
    """A blank takes two bytes in the file, so that half as many of them are too many."""
    tokens = ByteStrings.from_list([b"a", data])
    assert refusal(vocab_bin.build, tokens, [NORMAL, kind]) == (
        "vocab.bin: entries[1].length: expected tokens of at most 65535 stored bytes (length is a u16), "
        f"found token 1 of {size} bytes"
    )


def test_more_tokens_than_the_engine_reads():
    one = ByteStrings.from_list([b"a"])
    most = one.take(np.zeros(151_936, np.int64))
    assert len(vocab_bin.read(vocab_bin.build(most, np.ones(151_936)).data)) == 151_936
    assert refusal(vocab_bin.build, one.take(np.zeros(151_937, np.int64)), np.ones(151_937)) == (
        "vocab.bin: n_entries at offset 0x0 (0): expected at most 151936 tokens (the engine's limit), found 151937"
    )


GOOD = packed((b"!", NORMAL), (b" a", NORMAL), (b"<|x|>", CONTROL)).data


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", "n_entries at offset 0x0 (0): expected 4 bytes, found 0 bytes before the end"),
        (GOOD[:3], "n_entries at offset 0x0 (0): expected 4 bytes, found 3 bytes before the end"),
        (
            (151_937).to_bytes(4, "little") + GOOD[4:],
            "n_entries at offset 0x0 (0): expected at most 151936, found 151937",
        ),
        (
            b"\6" + GOOD[1:],
            "entries at offset 0x4 (4): expected at most 4 elements of 6 bytes or more in the 27 bytes left, found 6",
        ),
        (
            b"\4" + GOOD[1:],
            "entries[3] at offset 0x1F (31): expected 6 bytes or more, found 0 bytes before the end",
        ),
        (b"\2" + GOOD[1:], "offset 0x14 (20): expected the end after 2 entries, found 11 bytes more"),
        (GOOD + b"\0", "offset 0x1F (31): expected the end after 3 entries, found 1 bytes more"),
        (GOOD[:-1], "entries[2].length at offset 0x18 (24): expected at most the 4 bytes left, found 5"),
        (GOOD[:22], "entries[2] at offset 0x14 (20): expected 6 bytes or more, found 2 bytes before the end"),
        (
            GOOD[:4] + b"\1" + GOOD[5:],
            "entries[0].token_id at offset 0x4 (4): expected 0 (ids in order, without holes), found 1",
        ),
        (
            GOOD[:20] + b"\3" + GOOD[21:],
            "entries[2].token_id at offset 0x14 (20): expected 2 (ids in order, without holes), found 3",
        ),
        (
            GOOD[:11] + b"\0\0\0\1" + GOOD[15:],
            "entries[1].token_id at offset 0xB (11): expected 1 (ids in order, without holes), found 16777216",
        ),
        (
            GOOD[:8] + b"\xff\xff" + GOOD[10:],
            "entries[0].length at offset 0x8 (8): expected at most the 21 bytes left, found 65535",
        ),
    ],
)
def test_a_damaged_file_is_refused_where_it_is_damaged(data, line):
    assert refusal(vocab_bin.read, data, "v.bin") == f"v.bin: {line}"


TOKEN = st.tuples(st.binary(max_size=6), st.sampled_from([NORMAL, CONTROL, USER_DEFINED]))


@given(tokens=st.lists(TOKEN, max_size=20))
def test_the_fast_ways_agree_with_construct(tokens):
    made = packed(*tokens)
    parsed = VOCAB_BIN.parse(made.data)
    stored = [entry.text for entry in parsed.entries]
    assert stored == list(made.entries) == list(vocab_bin.read(made.data))
    assert stored == [
        b"".join(STORED[byte] for byte in data) if kind == NORMAL else data for data, kind in tokens
    ]
    assert VOCAB_BIN.build(parsed) == made.data
    assert made.converted + made.kept + made.special == len(tokens)
    assert made.converted == sum(
        kind == NORMAL and entry != "".join(GLYPHS[byte] for byte in data).encode()
        for (data, kind), entry in zip(tokens, stored, strict=True)
    )


@given(data=st.data())
def test_damaged_files_are_refused_by_both_or_by_none(data):
    """construct leaves what follows the last entry alone, and does not know that ids are in order."""
    raw = bytearray(GOOD)
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    del raw[data.draw(st.integers(0, len(raw))) :]
    entries, error = attempt(vocab_bin.read, bytes(raw))
    parsed, refused = attempt(VOCAB_BIN.parse, bytes(raw))
    if error is None:
        assert list(entries) == [entry.text for entry in parsed.entries]
    elif refused is None:
        ids = [entry.token_id for entry in parsed.entries]
        assert ids != list(range(len(ids))) or len(VOCAB_BIN.build(parsed)) < len(raw)


def test_entries_are_views_of_the_file():
    data = bytearray(GOOD)
    entries = vocab_bin.read(data)
    data[10] = ord("?")
    assert entries[0] == b"?"
    assert construct.Array(2, ENTRY).parse(bytes(data[4:]))[0].text == b"?"
