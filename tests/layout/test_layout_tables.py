"""Bulk tables: the numpy dtype that a record gives, and reading, building and refusing by column."""

from enum import IntEnum

import construct
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import attempt, refusal

from formats.layout import (
    Blob,
    Counted,
    Field,
    Place,
    Record,
    at_most,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)
from formats.layout.dtypes import dtype_of
from formats.layout.tables import Table


class Kind(IntEnum):
    PLAIN = 1
    BOLD = 4


# struct row { uint32_t at; int16_t shift; uint16_t kind; };
ROW = Record(
    "row",
    "A row.",
    Field("at", u32, "where", rule=at_most(1000)),
    Field("shift", i16, "by how much"),
    Field("kind", u16, "how", names=Kind),
)
ROWS_HEX = "07 00 00 00 FE FF 01 00   E8 03 00 00 01 00 04 00"
PLACE = Place("rows.bin", "rows", 16)


@pytest.mark.parametrize(
    ("layout", "dtype"),
    [
        (u8, "u1"), (u16, "<u2"), (u32, "<u4"), (u64, "<u8"),
        (i8, "i1"), (i16, "<i2"), (i32, "<i4"), (i64, "<i8"),
        (f32, "<f4"), (f64, "<f8"),
        (Counted(3, u16), ("<u2", (3,))),
        (construct.Bytes(5), ("u1", (5,))),
    ],
)  # fmt: skip
def test_the_dtype_of_a_part(layout, dtype):
    assert dtype_of(layout) == np.dtype(dtype)
    assert dtype_of(layout).itemsize == layout.sizeof()


def test_the_dtype_of_a_record_is_packed_and_keeps_names():
    # struct mixed { uint8_t a; double b; uint16_t c[2]; struct row d; char e[3]; };
    mixed = Record(
        "mixed",
        "Odd places.",
        Field("a", u8, "a"),
        Field("b", f64, "b"),
        Field("c", Counted(2, u16), "c"),
        Field("d", ROW, "d"),
        Field("e", construct.Bytes(3), "e"),
    )
    dtype = mixed.dtype
    assert dtype.names == ("a", "b", "c", "d", "e")
    assert [dtype.fields[name][1] for name in dtype.names] == [0, 1, 9, 13, 21]
    assert dtype.itemsize == mixed.size == 24
    assert dtype["d"] == ROW.dtype
    data = bytes(range(1, 9)) + bytes.fromhex("00 00 00 00 00 00 F8 3F") + bytes(8)
    row = np.frombuffer(data[:0] + b"\x05" + data[8:16] + bytes(15), dtype)[0]
    assert (row["a"], row["b"]) == (5, 1.5)


@pytest.mark.parametrize(
    "layout",
    [
        Blob("n"),
        Counted("n", u8),
        construct.GreedyBytes,
        Record("r", "R.", Field("t", construct.GreedyBytes, "t")),
    ],
)
def test_what_varies_in_size_has_no_dtype(layout):
    with pytest.raises((TypeError, construct.SizeofError)):
        dtype_of(layout)


def test_a_table_is_read_in_place():
    data = bytearray.fromhex(ROWS_HEX)
    table = Table.read(ROW, data, PLACE)
    assert len(table) == 2
    assert table["at"].tolist() == [7, 1000]
    assert table["shift"].tolist() == [-2, 1]
    assert table["kind"].tolist() == [Kind.PLAIN, Kind.BOLD]
    assert table.tobytes() == bytes(data)
    data[0] = 8
    assert table["at"].tolist() == [8, 1000]
    assert len(Table.read(ROW, b"", PLACE)) == 0


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (
            ROWS_HEX + "FF",
            "rows[2] at offset 0x20 (32): expected a whole record of 8 bytes, found 1 bytes before the end",
        ),
        ("00" * 7, "rows[0] at offset 0x10 (16): expected a whole record of 8 bytes, found 7 bytes before the end"),
        (ROWS_HEX.replace("E8", "E9"), "rows[1].at at offset 0x18 (24): expected at most 1000, found 1001"),
        (
            ROWS_HEX.replace("04 00", "00 04"),
            "rows[1].kind at offset 0x1E (30): expected one of 1 plain, 4 bold, found 1024",
        ),
    ],
)  # fmt: skip
def test_the_first_row_that_breaks_a_rule_is_named(data, line):
    assert refusal(Table.read, ROW, bytes.fromhex(data), PLACE) == f"rows.bin: {line}"


def test_a_table_is_built_from_columns():
    columns = {"at": [7, 1000], "shift": np.array([-2, 1], np.int64), "kind": (1, 4)}
    assert Table.build(ROW, columns, PLACE).tobytes() == bytes.fromhex(ROWS_HEX)
    assert Table.build(ROW, {"at": [], "shift": [], "kind": []}, PLACE).tobytes() == b""


@pytest.mark.parametrize(
    ("column", "values", "line"),
    [
        ("at", [7, 2**32], "rows[1].at at offset 0x18 (24): expected 0 to 4294967295, found 4294967296"),
        ("at", [-1, 0], "rows[0].at at offset 0x10 (16): expected 0 to 4294967295, found -1"),
        ("at", [0, 1001], "rows[1].at at offset 0x18 (24): expected at most 1000, found 1001"),
        (
            "at",
            [0, 2**80],
            "rows[1].at at offset 0x18 (24): expected 0 to 4294967295, found 1208925819614629174706176",
        ),
        ("shift", [0, -32769], "rows[1].shift at offset 0x1C (28): expected -32768 to 32767, found -32769"),
        (
            "shift",
            np.array([0, 2**64 - 1], np.uint64),
            "rows[1].shift at offset 0x1C (28): expected -32768 to 32767, found 18446744073709551615",
        ),
        ("kind", [4, 2], "rows[1].kind at offset 0x1E (30): expected one of 1 plain, 4 bold, found 2"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_never_wrapped(column, values, line):
    columns = {"at": [7, 8], "shift": [0, 1], "kind": [1, 4]}
    assert refusal(Table.build, ROW, {**columns, column: values}, PLACE) == f"rows.bin: {line}"


@pytest.mark.parametrize("layout", [u8, u16, u32, u64, i8, i16, i32, i64])
def test_the_lowest_and_the_highest_number_fit_and_the_next_ones_do_not(layout):
    one = Record("one", "One number.", Field("n", layout, "the number"))
    limits = np.iinfo(dtype_of(layout))
    low, high = int(limits.min), int(limits.max)
    built = Table.build(one, {"n": np.array([low, high], object)}, Place())
    assert built["n"].tolist() == [low, high]
    for beyond in (low - 1, high + 1):
        line = refusal(Table.build, one, {"n": np.array([low, beyond], object)}, Place())
        assert line.endswith(f": expected {low} to {high}, found {beyond}")


@pytest.mark.parametrize("shift", [[1], 1, [[1, 2]], [1, 2, 3], []])
def test_columns_of_another_length_are_a_mistake_of_the_caller(shift):
    with pytest.raises(ValueError, match=r"row.shift: shape \(.*\), not \(2,\)"):
        Table.build(ROW, {"at": [1, 2], "shift": shift, "kind": [1, 4]}, PLACE)


def test_a_check_of_ones_own_names_row_field_and_what_was_expected():
    table = Table.read(ROW, bytes.fromhex(ROWS_HEX), PLACE)
    table.require("at", table["at"] > 0, "anything")
    line = "rows.bin: rows[1].shift at offset 0x1C (28): expected a negative number, found 1"
    assert refusal(table.require, "shift", table["shift"] < 0, "a negative number") == line
    line = "rows.bin: rows[1].at at offset 0x18 (24): expected 8, found 1000"
    assert refusal(table.require, "at", table["at"] == [7, 8], [7, 8]) == line


VALUES = st.fixed_dictionaries(
    {"at": st.integers(0, 1000), "shift": st.integers(-(2**15), 2**15 - 1), "kind": st.sampled_from(Kind)}
)


@given(rows=st.lists(VALUES, max_size=20))
def test_columns_and_construct_give_the_same_bytes(rows):
    columns = {name: [row[name] for row in rows] for name in ("at", "shift", "kind")}
    data = Table.build(ROW, columns, PLACE).tobytes()
    assert data == construct.Array(len(rows), ROW).build(rows)
    table = Table.read(ROW, data, PLACE)
    parsed = construct.Array(len(rows), ROW).parse(data)
    assert table.rows.tolist() == [(row.at, row.shift, row.kind) for row in parsed]


@given(data=st.binary(max_size=40))
def test_columns_and_construct_refuse_the_same_bytes(data):
    table, refused = attempt(Table.read, ROW, data, PLACE)
    rows, refused_by_construct = attempt(construct.GreedyRange(ROW).parse, data)
    whole = len(data) % ROW.size == 0 and len(rows or ()) * ROW.size == len(data)
    assert refused_by_construct is None  # it stops at the first row that it cannot read
    assert (refused is None) == whole
    if table is not None:
        assert table.rows.tolist() == [(row.at, row.shift, row.kind) for row in rows]
