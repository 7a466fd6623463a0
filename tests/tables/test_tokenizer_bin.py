"""tokenizer.bin in its two layouts: worked examples, the way back, and every refusal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import attempt, refusal

from formats import tokenizer_bin
from formats.byte_level import GLYPHS, INDEX_OF_BYTE
from formats.byte_strings import ByteStrings
from formats.tokenizer_bin import ADDED_TOKEN, MERGE_PAIR, RECORDS, STRING

LAYOUTS = ("documented", "loader")
TEXTS = ("a", "Ġ", "aĠ", "<x>", "[PAD4]")
# struct { uint32_t vocab_size, n_merges, n_special; };          documented
# struct { uint32_t vocab_size, n_merges, n_special, longest; };  loader
COUNTS_HEX = "05 00 00 00  01 00 00 00  01 00 00 00"
LONGEST_HEX = "06 00 00 00"
# struct { uint32_t length; char text[length]; } vocab[vocab_size];
VOCAB_HEX = """
    01 00 00 00  61
    02 00 00 00  C4 A0
    03 00 00 00  61 C4 A0
    03 00 00 00  3C 78 3E
    06 00 00 00  5B 50 41 44 34 5D
"""
# struct { uint32_t left, right; } merges[n_merges];
MERGES_HEX = "00 00 00 00  01 00 00 00"
# struct { uint32_t id, length; char text[length]; } special[n_special];
SPECIAL_HEX = "03 00 00 00  03 00 00 00  3C 78 3E"


def whole(layout):
    """The worked example: documented ends in 256 indexes, loader in 256 strings."""
    body = bytes.fromhex(VOCAB_HEX + MERGES_HEX + SPECIAL_HEX)
    if layout == "documented":
        return bytes.fromhex(COUNTS_HEX) + body + bytes(INDEX_OF_BYTE)
    glyphs = b"".join(len(g.encode()).to_bytes(4, "little") + g.encode() for g in GLYPHS)
    return bytes.fromhex(COUNTS_HEX + LONGEST_HEX) + body + glyphs


def built(layout, texts=TEXTS, left=(0,), right=(1,), special=(3,)):
    strings = ByteStrings.from_list(text.encode() for text in texts)
    return tokenizer_bin.build(layout, strings, left, right, np.array(special, np.int64))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_worked_example(layout):
    assert built(layout) == whole(layout)
    read = tokenizer_bin.read(whole(layout), layout)
    assert read.layout == layout
    assert [text.decode() for text in read.vocab] == list(TEXTS)
    assert read.merges.rows.tolist() == [(0, 1)]
    assert read.special_ids.tolist() == [3]
    assert list(read.special) == [b"<x>"]
    parsed = RECORDS[layout].parse(whole(layout))
    assert [entry.text.decode() for entry in parsed.vocab] == list(TEXTS)
    assert RECORDS[layout].build(parsed) == whole(layout)


def test_the_alphabet_at_the_end():
    assert whole("documented")[-256:][0x20] == 220
    assert whole("documented")[-256:][0x21] == 0
    strings = RECORDS["loader"].parse(whole("loader")).byte_glyphs
    assert strings[0x20].text.decode() == "Ġ"
    assert [string.text.decode() for string in strings] == list(GLYPHS)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_added_tokens_no_merges_and_an_empty_text(layout):
    data = built(layout, texts=("",), left=(), right=(), special=())
    read = tokenizer_bin.read(data, layout)
    assert (list(read.vocab), len(read.merges), len(read.special)) == ([b""], 0, 0)
    nothing = built(layout, texts=(), left=(), right=(), special=())
    assert len(tokenizer_bin.read(nothing, layout).vocab) == 0
    for packed in (data, nothing):
        assert RECORDS[layout].build(RECORDS[layout].parse(packed)) == packed


@pytest.mark.parametrize("layout", LAYOUTS)
def test_texts_are_as_long_as_they_like(layout):
    texts = ("a", " " * 65_536, "b" * 300)
    data = built(layout, texts=texts, left=(), right=(), special=(1,))
    read = tokenizer_bin.read(data, layout)
    assert read.vocab.lengths.tolist() == [1, 65_536, 300]
    assert read.special[0] == b" " * 65_536


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_text_with_a_nul_is_not_packed(layout):
    assert refusal(built, layout, texts=("a", "", "b\0\x1b")) == (
        "tokenizer.bin: vocab[2]: expected a text without NUL (the engine keeps C strings), "
        "found token 2, bytes 62 00 1b"
    )


@pytest.mark.parametrize("layout", ["", "Documented", "a\x1b[0m", None])
def test_another_layout(layout):
    words = f"t.bin: expected the layout documented or loader, found {layout!r}"
    assert refusal(tokenizer_bin.read, whole("loader"), layout, "t.bin") == words
    assert refusal(built, layout) == words.replace("t.bin", "tokenizer.bin")


def changed(layout, at, data):
    raw = bytearray(whole(layout))
    raw[at : at + len(data)] = data
    return bytes(raw)


def u32(number):
    return number.to_bytes(4, "little")


HEAD = {"documented": 12, "loader": 16}
CASES = [
    # offset behind the header, what is put there, path and offset of the refusal, and how its words begin
    (
        4,
        b"\0",
        "vocab[0].text",
        4,
        "expected a text without NUL (the engine keeps C strings), found bytes 00",
    ),
    (9, b"\xc4\x61", "vocab[1].text", 9, "expected text in UTF-8, found bytes c4 61"),
    (15, b"\xa0a\xc4", "vocab[2].text", 15, "expected text in UTF-8, found bytes a0 61 c4"),
    (5, u32(2**32 - 1), "vocab[1].length", 5, "expected at most the"),
    (35, u32(5), "merges[0].left_id", 35, "expected a token id below 5, found 5"),
    (39, u32(2**31), "merges[0].right_id", 39, "expected a token id below 5, found 2147483648"),
    (43, u32(5), "special[0].token_id", 43, "expected a token id below 5, found 5"),
    (43, u32(2), "special[0].text", 51, "expected bytes 61 c4 a0, the text of token 2, found bytes 3c 78 3e"),
    (51, b"<y>", "special[0].text", 51, "expected bytes 3c 78 3e, the text of token 3, found bytes 3c 79 3e"),
    (47, u32(2**30), "special[0].length", 47, "expected at most the"),
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("at", "data", "path", "named", "words"), CASES)
def test_a_damaged_list_is_refused_where_it_is_damaged(layout, at, data, path, named, words):
    head = HEAD[layout]
    line = refusal(tokenizer_bin.read, changed(layout, head + at, data), layout, "t.bin")
    assert line.startswith(f"t.bin: {path} at offset 0x{head + named:X} ({head + named}): {words}")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("at", "count", "path"),
    [
        (0, 2**32 - 1, "vocab"),
        (0, 4, ""),
        (0, 6, ""),
        (4, 2**32 - 1, "merges"),
        (4, 2, ""),
        (8, 2**32 - 1, "special"),
        (8, 0, ""),
    ],
)
def test_a_wrong_count_is_refused(layout, at, count, path):
    line = refusal(tokenizer_bin.read, changed(layout, at, u32(count)), layout, "t.bin")
    assert line.startswith(f"t.bin: {path}")
    assert str(count) in line or not path or f"expected {8 * count} bytes" in line


@pytest.mark.parametrize(
    ("texts", "row"),
    [((b"a", b"\xc4", b"\xa0"), 1), ((b"\xe5\x9b", b"", b"\x9e"), 0), ((b"\xc4\xa0", b"\xa0"), 1)],
)
def test_texts_that_are_utf8_only_when_joined(texts, row):
    data = tokenizer_bin.build("documented", ByteStrings.from_list(texts), [], [], np.empty(0, np.int64))
    line = refusal(tokenizer_bin.read, data, "documented")
    assert line.startswith(f"tokenizer.bin: vocab[{row}].text at offset 0x")
    assert line.endswith(f": expected text in UTF-8, found bytes {texts[row].hex(' ')}")


def test_added_tokens_out_of_order_or_twice():
    for ids in ((3, 0), (3, 3)):
        data = built("documented", special=ids)
        before, second = ids
        assert refusal(tokenizer_bin.read, data, "documented") == (
            f"tokenizer.bin: special[1].token_id at offset 0x42 (66): "
            f"expected an id above {before} (ids in order), found {second}"
        )


@pytest.mark.parametrize("longest", [0, 5, 7, 2**32 - 1])
def test_a_wrong_longest_length(longest):
    assert refusal(tokenizer_bin.read, changed("loader", 12, u32(longest)), "loader") == (
        "tokenizer.bin: max_token_len at offset 0xC (12): "
        f"expected 6, the longest vocabulary string, found {longest}"
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_another_alphabet(layout):
    size = {"documented": 256, "loader": len(whole("loader")) - 70}[layout]
    name = {"documented": "byte_unicode_map", "loader": "byte_glyphs"}[layout]
    start = len(whole(layout)) - size
    for at in (0, 77, size - 1):
        data = changed(layout, start + at, bytes([whole(layout)[start + at] ^ 0x80]))
        byte = whole(layout)[start + at]
        assert refusal(tokenizer_bin.read, data, layout) == (
            f"tokenizer.bin: {name} at offset 0x{start + at:X} ({start + at}): "
            f"expected byte {byte:02X} (byte {at} of the byte alphabet), found {byte ^ 0x80:02X}"
        )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_length_but_the_whole_is_refused(layout):
    data = whole(layout)
    for size in range(len(data)):
        line = refusal(tokenizer_bin.read, data[:size], layout)
        assert " at offset 0x" in line
    end = len(data)
    assert refusal(tokenizer_bin.read, data + b"\0", layout) == (
        f"tokenizer.bin: offset 0x{end:X} ({end}): expected the end, found 1 bytes more"
    )


def test_neither_layout_reads_as_the_other():
    for layout, other in (LAYOUTS, LAYOUTS[::-1]):
        assert "tokenizer.bin: " in refusal(tokenizer_bin.read, whole(layout), other)


TEXT = st.text(st.sampled_from(GLYPHS), max_size=5)


@pytest.mark.parametrize("layout", LAYOUTS)
@given(data=st.data())
def test_the_fast_ways_agree_with_construct(layout, data):
    texts = data.draw(st.lists(TEXT, min_size=1, max_size=12))
    ids = st.integers(0, len(texts) - 1)
    merges = data.draw(st.lists(st.tuples(ids, ids), max_size=6))
    special = sorted(data.draw(st.sets(ids, max_size=4)))
    left, right = zip(*merges, strict=True) if merges else ((), ())
    packed = built(layout, texts, left, right, special)
    parsed = RECORDS[layout].parse(packed)
    assert RECORDS[layout].build(parsed) == packed
    read = tokenizer_bin.read(packed, layout)
    assert [entry.text for entry in parsed.vocab] == list(read.vocab) == [text.encode() for text in texts]
    assert [(row.left_id, row.right_id) for row in parsed.merges] == read.merges.rows.tolist() == merges
    assert [entry.token_id for entry in parsed.special] == read.special_ids.tolist() == special
    assert [entry.text for entry in parsed.special] == list(read.special)
    if layout == "loader":
        assert parsed.max_token_len == max(len(text.encode()) for text in texts)


@pytest.mark.parametrize("layout", LAYOUTS)
@given(data=st.data())
def test_any_damage_is_read_or_refused_in_one_line(layout, data):
    raw = bytearray(whole(layout))
    at = data.draw(st.integers(0, 80))
    raw[at : at + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=8))
    read, error = attempt(tokenizer_bin.read, bytes(raw), layout)
    if error is None:
        assert list(read.special) == [read.vocab[token] for token in read.special_ids]
    else:
        assert str(error).startswith("tokenizer.bin: ")
        assert 0 <= error.offset <= len(raw)


def test_sizes_of_the_declared_parts():
    assert (STRING.head().size, MERGE_PAIR.size, ADDED_TOKEN.head().size) == (4, 8, 8)
