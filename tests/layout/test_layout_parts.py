"""Lists, byte runs and choices whose size or shape an earlier field decides."""

import pytest
from refusals import refusal

from formats.layout import Blob, Choice, Counted, Field, Record, between, u8, u16, u32

# struct entry { uint16_t id; uint8_t n; char text[n]; };
ENTRY = Record(
    "entry",
    "An id and a text.",
    Field("id", u16, "the id", rule=between(1, 999)),
    Field("n", u8, "length"),
    Field("text", Blob("n"), "the text"),
)
# struct list { uint8_t n; struct entry entries[n]; uint16_t sums[2]; };
LIST = Record(
    "list",
    "Entries and two sums.",
    Field("n", u8, "entries"),
    Field("entries", Counted("n", ENTRY), "the entries"),
    Field("sums", Counted(2, u16), "sums"),
)
LIST_HEX = "02  01 00 02 61 62  03 01 00  05 00 06 00"
VALUES = {
    "n": 2,
    "entries": [{"id": 1, "n": 2, "text": b"ab"}, {"id": 259, "n": 0, "text": b""}],
    "sums": [5, 6],
}


def test_a_worked_example():
    data = bytes.fromhex(LIST_HEX)
    parsed = LIST.parse(data)
    assert [(entry.id, entry.text) for entry in parsed.entries] == [(1, b"ab"), (259, b"")]
    assert list(parsed.sums) == [5, 6]
    assert LIST.build(VALUES) == LIST.build(parsed) == data
    assert (LIST.fields[1].subcon.count_field, LIST.fields[2].subcon.count_field) == ("n", None)
    assert ENTRY.fields[2].subcon.length_field == "n"


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ("", "n at offset 0x0 (0): expected 1 bytes, found 0 bytes before the end"),
        ("02", "entries[0].id at offset 0x1 (1): expected 2 bytes, found 0 bytes before the end"),
        ("02 01 00 02 61", "entries[0].text at offset 0x4 (4): expected a whole value, found 1 bytes before the end"),
        ("02 01 00 02 61 62 00 00", "entries[1].id at offset 0x6 (6): expected 1 to 999, found 0"),
        ("FF" + "01 00 00" * 3, "entries[3].id at offset 0xA (10): expected 2 bytes, found 0 bytes before the end"),
        ("00 05 00 06", "sums[1] at offset 0x3 (3): expected 2 bytes, found 1 bytes before the end"),
        ("00", "sums[0] at offset 0x1 (1): expected 2 bytes, found 0 bytes before the end"),
    ],
)  # fmt: skip
def test_an_element_is_refused_with_its_index_and_its_own_offset(data, line):
    assert refusal(LIST.parse, bytes.fromhex(data)) == line


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"entries": VALUES["entries"][:1]}, "entries at offset 0x1 (1): expected 2 elements, found 1"),
        ({"entries": 5}, "entries at offset 0x1 (1): expected 2 elements, found 5"),
        ({"entries": None}, "entries at offset 0x1 (1): expected 2 elements, found None"),
        ({"entries": [VALUES["entries"][0], 5]}, "entries[1] at offset 0x6 (6): expected the fields of entry, found 5"),
        ({"sums": [5, 65536]}, "sums[1] at offset 0xB (11): expected a value that fits 2 bytes, found 65536"),
        ({"sums": [5, "a"]}, "sums[1] at offset 0xB (11): expected a value that fits 2 bytes, found 'a'"),
        ({"n": 300}, "n at offset 0x0 (0): expected a value that fits 1 bytes, found 300"),
        (
            {"entries": [{"id": 1, "n": 3, "text": b"ab"}] * 2},
            "entries[0].text at offset 0x4 (4): expected a value that fits a whole value, found bytes 61 62",
        ),
        (
            {"entries": [{"id": 1, "n": 2, "text": "ab"}] * 2},
            "entries[0].text at offset 0x4 (4): expected a value that fits a whole value, found 'ab'",
        ),
        (
            {"entries": [{"id": 1, "n": 1, "text": 300}] * 2},
            "entries[0].text at offset 0x4 (4): expected a value that fits a whole value, found 300",
        ),
    ],
)  # fmt: skip
def test_values_that_cannot_be_packed(change, line):
    assert refusal(LIST.build, {**VALUES, **change}) == line


@pytest.mark.parametrize("count", [2**32 - 1, 2**31])
def test_a_huge_count_stops_at_the_end_of_the_data(count):
    many = Record(
        "many", "Many bytes.", Field("n", u32, "how many"), Field("all", Counted("n", u8), "the bytes")
    )
    assert refusal(many.parse, count.to_bytes(4, "little") + b"ab") == (
        "all[2] at offset 0x6 (6): expected 1 bytes, found 0 bytes before the end"
    )


def test_a_choice_follows_an_earlier_field():
    # struct value { uint8_t type; union { uint8_t; uint32_t; struct entry; }; };
    value = Record(
        "value",
        "A number or an entry.",
        Field("type", u8, "1, 4 or 9", rule=between(1, 9)),
        Field("value", Choice("type", {1: u8, 4: u32, 9: ENTRY}), "the value"),
    )
    assert value.parse(bytes.fromhex("04 01 02 00 00")).value == 513
    assert value.parse(bytes.fromhex("09 07 00 01 61")).value.text == b"a"
    assert value.build({"type": 1, "value": 255}) == bytes.fromhex("01 FF")
    assert refusal(value.parse, bytes.fromhex("04 01 02")) == (
        "value at offset 0x1 (1): expected a whole value, found 2 bytes before the end"
    )
    assert refusal(value.parse, bytes.fromhex("09 07 00 02 61")) == (
        "value.text at offset 0x4 (4): expected a whole value, found 1 bytes before the end"
    )
    assert refusal(value.build, {"type": 1, "value": 256}) == (
        "value at offset 0x1 (1): expected a value that fits a whole value, found 256"
    )


def test_a_count_may_stand_in_the_record_around_or_be_given():
    # struct row { uint8_t cells[n]; }; struct grid { uint8_t n; struct row rows[2]; };
    row = Record("row", "A row.", Field("cells", Counted("n", u8), "n of them"))
    grid = Record(
        "grid", "Two rows.", Field("n", u8, "cells of a row"), Field("rows", Counted(2, row), "rows")
    )
    parsed = grid.parse(bytes.fromhex("02  01 02  03 04"))
    assert [list(part.cells) for part in parsed.rows] == [[1, 2], [3, 4]]
    assert grid.build(parsed) == bytes.fromhex("02  01 02  03 04")
    assert list(row.parse(b"\7\x08\x09", n=3).cells) == [7, 8, 9]
    with pytest.raises(KeyError):
        row.parse(b"\7")
