"""Fields and records: worked examples with the C struct and its bytes, and every refusal's line."""

from enum import IntEnum

import construct
import pytest
from refusals import refusal

from formats.layout import (
    Field,
    Record,
    at_least,
    at_most,
    between,
    exactly,
    f32,
    f64,
    fixed_size,
    i8,
    i16,
    i32,
    i64,
    magic,
    odd,
    power_of_two,
    reserved,
    u8,
    u16,
    u32,
    u64,
)


class Kind(IntEnum):
    PLAIN = 1
    BOLD = 4


# struct page {
#     char     magic[4];     /* "PAGE" */
#     uint16_t version;      /* 2 or 3 */
#     uint8_t  kind;         /* 1 plain, 4 bold */
#     uint8_t  zero[3];
#     int16_t  shift;
#     uint32_t length;
# };
PAGE = Record(
    "page",
    "A page.",
    magic("magic", b"PAGE", "marks a page"),
    Field("version", u16, "version of the layout", rule=between(2, 3)),
    Field("kind", u8, "how it is set", names=Kind),
    reserved("zero", 3),
    Field("shift", i16, "upwards", unit="pixels"),
    Field("length", u32, "of the text", unit="bytes"),
)
PAGE_HEX = "50 41 47 45  03 00  04  00 00 00  FE FF  01 02 00 00"


def page(**changes):
    return {"version": 3, "kind": 4, "shift": -2, "length": 513, **changes}


def test_a_record_is_read_field_by_field():
    parsed = PAGE.parse(bytes.fromhex(PAGE_HEX))
    assert (parsed.magic, parsed.version, parsed.kind) == (b"PAGE", 3, Kind.BOLD)
    assert (parsed.zero, parsed.shift, parsed.length) == (bytes(3), -2, 513)
    assert PAGE.read(bytes.fromhex(PAGE_HEX)) == PAGE.read(b"12" + bytes.fromhex(PAGE_HEX), 2) == parsed


def test_a_record_is_built_from_its_values_and_what_never_differs_is_filled_in():
    assert PAGE.build(page()).hex(" ").upper() == " ".join(PAGE_HEX.split())
    assert PAGE.build(page(magic=b"PAGE", zero=bytes(3))) == bytes.fromhex(PAGE_HEX)
    assert PAGE.build(PAGE.parse(bytes.fromhex(PAGE_HEX))) == bytes.fromhex(PAGE_HEX)


def test_where_fields_lie():
    assert PAGE.size == 16
    assert [PAGE.offset_of(field.name) for field in PAGE.fields] == [0, 4, 6, 7, 10, 12]
    with pytest.raises(KeyError, match="page has no field width at a fixed place"):
        PAGE.offset_of("width")


@pytest.mark.parametrize(
    ("layout", "value", "data"),
    [
        # uint8_t ... uint64_t, int8_t ... int64_t, float, double: least byte first
        (u8, 0xFE, "FE"),
        (u16, 0x0102, "02 01"),
        (u32, 0x01020304, "04 03 02 01"),
        (u64, 0x0102030405060708, "08 07 06 05 04 03 02 01"),
        (i8, -2, "FE"),
        (i16, -2, "FE FF"),
        (i32, -2, "FE FF FF FF"),
        (i64, -2, "FE FF FF FF FF FF FF FF"),
        (f32, 1.5, "00 00 C0 3F"),
        (f64, 1.5, "00 00 00 00 00 00 F8 3F"),
    ],
)
def test_numbers_are_little_endian(layout, value, data):
    one = Record("one", "One number.", Field("n", layout, "the number"))
    assert one.build({"n": value}) == bytes.fromhex(data)
    assert one.parse(bytes.fromhex(data)).n == value
    assert one.size == fixed_size(layout) == len(bytes.fromhex(data))


@pytest.mark.parametrize(
    ("at", "data", "line"),
    [
        (0, "51", "magic at offset 0x0 (0): expected 'PAGE' (bytes 50 41 47 45), found bytes 51 41 47 45"),
        (4, "04", "version at offset 0x4 (4): expected 2 to 3, found 4"),
        (6, "02", "kind at offset 0x6 (6): expected one of 1 plain, 4 bold, found 2"),
        (8, "01", "zero at offset 0x7 (7): expected 3 zero bytes, found bytes 00 01 00"),
    ],
)
def test_a_value_that_breaks_its_rule_is_refused_where_it_lies(at, data, line):
    changed = bytearray.fromhex(PAGE_HEX)
    changed[at : at + 1] = bytes.fromhex(data)
    assert refusal(PAGE.parse, bytes(changed)) == line
    # In a file, offsets count from its start and the path from its outermost part.
    offset = int(line.split("(")[1].split(")")[0])
    name, _, rest = line.partition(" at ")
    words = rest.partition(": ")[2]
    expected = f"a.bin: pages[1].{name} at offset 0x{offset + 5:X} ({offset + 5}): {words}"
    assert refusal(PAGE.read, b"12345" + changed, 5, "a.bin", "pages[1]") == expected


@pytest.mark.parametrize(
    ("size", "line"),
    [
        (0, "a.bin: magic at offset 0x64 (100): expected 4 bytes, found 0 bytes before the end"),
        (3, "a.bin: magic at offset 0x64 (100): expected 4 bytes, found 3 bytes before the end"),
        (5, "a.bin: version at offset 0x68 (104): expected 2 bytes, found 1 bytes before the end"),
        (15, "a.bin: length at offset 0x70 (112): expected 4 bytes, found 3 bytes before the end"),
    ],
)
def test_data_that_ends_inside_a_field(size, line):
    assert refusal(PAGE.read, bytes(100) + bytes.fromhex(PAGE_HEX)[:size], 100, "a.bin") == line


def test_a_file_whose_name_would_break_the_line():
    line = refusal(PAGE.read, b"", 0, "a\nb\x1b[31m.bin")
    assert line.startswith(r"'a\nb\x1b[31m.bin': magic at offset 0x0 (0): ")


def test_a_start_beyond_the_end():
    line = "a.bin: page.magic at offset 0x9 (9): expected 4 bytes, found 0 bytes before the end"
    assert refusal(PAGE.read, bytes(3), 9, "a.bin", "page") == line


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (page(version=1), "version at offset 0x4 (4): expected 2 to 3, found 1"),
        (page(version="3"), "version at offset 0x4 (4): expected 2 to 3, found '3'"),
        (page(version=None), "version at offset 0x4 (4): expected 2 to 3, found None"),
        (page(kind=2), "kind at offset 0x6 (6): expected one of 1 plain, 4 bold, found 2"),
        (page(shift=32768), "shift at offset 0xA (10): expected a value that fits 2 bytes, found 32768"),
        (page(shift="x\x1b"), r"shift at offset 0xA (10): expected a value that fits 2 bytes, found 'x\x1b'"),
        (page(length=-1), "length at offset 0xC (12): expected a value that fits 4 bytes, found -1"),
        (page(length=1.5), "length at offset 0xC (12): expected a value that fits 4 bytes, found 1.5"),
        (page(magic=b"page"), "magic at offset 0x0 (0): expected 'PAGE' (bytes 50 41 47 45), found bytes 70 61 67 65"),
        (page(zero=b"\0\0"), "zero at offset 0x7 (7): expected 3 zero bytes, found bytes 00 00"),
        ({"version": 3}, "kind at offset 0x0 (0): expected a value, found none"),
        ([1, 2], "offset 0x0 (0): expected the fields of page, found [1, 2]"),
        (None, "offset 0x0 (0): expected the fields of page, found None"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_packed_is_refused_with_its_field(values, line):
    assert refusal(PAGE.build, values) == line


# struct book { struct page cover; uint8_t n; struct page back; };
BOOK = Record(
    "book",
    "Two pages.",
    Field("cover", PAGE, "the first"),
    Field("n", u8, "pages between"),
    Field("back", PAGE, "the last"),
)


def test_records_inside_records():
    data = BOOK.build({"cover": page(), "n": 7, "back": page(kind=1)})
    assert data == bytes.fromhex(PAGE_HEX + "07" + PAGE_HEX.replace("04  00", "01  00"))
    assert BOOK.parse(data).back.kind == Kind.PLAIN
    assert (BOOK.size, BOOK.offset_of("back")) == (33, 17)
    assert refusal(BOOK.parse, data[:23] + b"\x09" + data[24:]) == (
        "back.kind at offset 0x17 (23): expected one of 1 plain, 4 bold, found 9"
    )
    assert refusal(BOOK.parse, data[:20]) == (
        "back.magic at offset 0x11 (17): expected 4 bytes, found 3 bytes before the end"
    )
    assert refusal(BOOK.build, {"cover": page(), "n": 7, "back": page(shift=99999)}) == (
        "back.shift at offset 0x1B (27): expected a value that fits 2 bytes, found 99999"
    )
    assert refusal(BOOK.build, {"cover": 5, "n": 7, "back": page()}) == (
        "cover at offset 0x0 (0): expected the fields of page, found 5"
    )


def test_the_head_is_what_lies_before_the_first_field_of_varying_size():
    assert [field.name for field in BOOK.head().fields] == ["cover", "n", "back"]
    text = Record(
        "text",
        "A text and a number.",
        Field("n", u8, "size"),
        Field("t", construct.GreedyBytes, "text"),
        Field("last", u8, "behind the text"),
    )
    assert [field.name for field in text.head().fields] == ["n"]
    assert text.offset_of("t") == 1
    with pytest.raises(KeyError, match="text has no field last at a fixed place"):
        text.offset_of("last")
    assert fixed_size(text) is None
    with pytest.raises(TypeError, match="text has no fixed size"):
        _ = text.size


@pytest.mark.parametrize(
    ("rule", "good", "bad", "words"),
    [
        (exactly(7), [7], [6, 8, "7", None], "7"),
        (exactly(b"ab"), [b"ab"], [b"a", b"abc", "ab", None], "bytes 61 62"),
        (between(2, 4), [2, 3, 4], [1, 5, "3", None, [3]], "2 to 4"),
        (at_least(2), [2, 99], [1, -5, "3"], "at least 2"),
        (at_most(2), [2, 0, -9], [3, "1"], "at most 2"),
        (odd(), [1, 3, -1], [0, 2, "1", 1.0], "an odd number"),
        (power_of_two(4, 64), [4, 8, 64], [0, 1, 2, 6, 48, 65, 128, -4, 8.0], "a power of two from 4 to 64"),
    ],
)
def test_rules_take_any_value(rule, good, bad, words):
    assert [rule.passes(value) for value in good] == [True] * len(good)
    assert [rule.passes(value) for value in bad] == [False] * len(bad)
    assert rule.words == words


def test_a_rule_of_its_own_comes_before_the_enumeration():
    narrow = Field("kind", u8, "a kind", names=Kind, rule=exactly(4))
    assert refusal(Record("r", "R.", narrow).parse, b"\x01") == "kind at offset 0x0 (0): expected 4, found 1"
