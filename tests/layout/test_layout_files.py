"""Whole files by their declaration alone: read, and built back byte for byte."""

import pytest
from refusals import refusal

from formats.layout import (
    Blob,
    Blocks,
    BytesToEnd,
    Counted,
    Field,
    FileLayout,
    KeyedNumber,
    Placed,
    Record,
    Stated,
    ToEnd,
    u8,
    u16,
)
from formats.token_types import TokenType

# struct entry { uint8_t kind, offset, size, n; };
ENTRY = Record(
    "entry",
    "Where a part lies.",
    Field("kind", u8, "what it holds"),
    Field("offset", u8, "where"),
    Field("size", u8, "bytes"),
    Field("n", u8, "elements"),
)
PARTS = Placed(
    "entries",
    size=Stated("size"),
    align="align",
    kind_field="kind",
    kinds=TokenType,
    cases={TokenType.NORMAL: Counted("n", u16), TokenType.UNKNOWN: Blob("size")},
)
FILE = FileLayout(
    "file",
    "Two parts.",
    Field("align", u8, "alignment"),
    Field("n_entries", u8, "parts"),
    Field("entries", Counted("n_entries", ENTRY), "the directory"),
    Field("parts", PARTS, "the parts"),
    file_name="file.bin",
)
FILE_HEX = (
    "08 02  01 10 04 02  07 18 03 00  00 00 00 00 00 00  05 00 06 01  00 00 00 00  61 62 63  00 00 00 00 00"
)


def test_parts_lie_where_the_directory_says():
    data = bytes.fromhex(FILE_HEX)
    parsed = FILE.parse(data)
    assert [list(parsed.parts[0]), parsed.parts[1]] == [[5, 262], b"abc"]
    assert FILE.build(parsed) == data
    assert (FILE.name, FILE.file_name, FILE.signature) == ("file", "file.bin", b"")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ((3, 0x70), "parts[0][0] at offset 0x70 (112): expected 2 bytes, found 0 bytes before the end"),
        ((8, 0x60), "parts[1] at offset 0x18 (24): expected 96 bytes, found 8 before the end"),
        ((5, 0x60), "parts[0][8] at offset 0x20 (32): expected 2 bytes, found 0 bytes before the end"),
    ],
)
def test_parts_beyond_the_end_are_refused(change, line):
    data = bytearray.fromhex(FILE_HEX)
    data[change[0]] = change[1]
    assert refusal(FILE.parse, bytes(data)) == line


def test_parts_that_overlap_are_not_built():
    parsed = FILE.parse(bytes.fromhex(FILE_HEX))
    parsed.entries[1].offset = 0x12
    assert refusal(FILE.build, parsed) == (
        "parts at offset 0x12 (18): expected parts one behind the other, found an overlap of 2 bytes"
    )


def test_offsets_from_an_aligned_base_and_sizes_in_blocks():
    key = Record("key", "A key.", Field("n", u8, "bytes"), Field("text", Blob("n"), "the key"))
    pair = Record("pair", "A pair.", Field("key", key, "the key"), Field("value", u8, "the value"))
    entry = Record(
        "tensor",
        "A tensor.",
        Field("n_dims", u8, "dimensions"),
        Field("ne", Counted("n_dims", u8), "elements"),
        Field("type", u8, "type"),
        Field("offset", u8, "from the base"),
    )
    blocks = Blocks("type", "ne", 2, {1: (4, 3)})
    layout = FileLayout(
        "tensors",
        "Tensors.",
        Field("n", u8, "pairs"),
        Field("pairs", Counted("n", pair), "pairs"),
        Field("m", u8, "tensors"),
        Field("entries", Counted("m", entry), "the directory"),
        Field(
            "data",
            Placed("entries", size=blocks, align=KeyedNumber("pairs", "al", 4), from_aligned=True),
            "data",
        ),
        file_name="x",
    )
    stated = bytes.fromhex("01 02 61 6C 08  01  02 04 02 01 00  00 00 00 00 00") + b"abcdef" + bytes(2)
    parsed = layout.parse(stated)
    assert list(parsed.data) == [b"abcdef"]
    assert layout.build(parsed) == stated
    default = bytes.fromhex("01 02 61 6D 08  01  02 04 02 01 00  00") + b"abcdef" + bytes(2)
    assert list(layout.parse(default).data) == [b"abcdef"]
    assert blocks.of({"type": 9, "ne": [4]}) is None


def test_what_runs_to_the_end():
    rows = FileLayout("rows", "Rows.", Field("rows", ToEnd(u16), "rows"), file_name="x")
    assert list(rows.parse(bytes(6)).rows) == [0, 0, 0]
    assert rows.build({"rows": [1, 2]}) == bytes.fromhex("01 00 02 00")
    assert refusal(rows.parse, bytes(5)) == (
        "rows[2] at offset 0x4 (4): expected 2 bytes, found 1 bytes before the end"
    )
    run = FileLayout("run", "A run.", Field("data", BytesToEnd(), "bytes"), file_name="x")
    assert run.parse(b"abc").data == b"abc"
    assert run.build({"data": b"abc"}) == b"abc"
