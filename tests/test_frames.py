"""The one pass over records of varying length, held to the construct layout it stands beside."""

import construct
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.errors import FormatError
from formats.frames import scan_frames
from formats.layout import Blob, Field, Place, Record, u8, u16, u32, u64

NAME = Record(
    "name", "A length and a text.", Field("length", u64, "length"), Field("text", Blob("length"), "text")
)
ENTRY = Record(
    "entry",
    "An id, a length, a flag and a text.",
    Field("id", u32, "id"),
    Field("length", u16, "length"),
    Field("flag", u8, "flag"),
    Field("text", Blob("length"), "text"),
)
ROWS = [(7, b"ab"), (8, b""), (2**32 - 1, bytes(range(256)))]


def packed(rows):
    return b"".join(
        ENTRY.build({"id": id_, "length": len(text), "flag": id_ & 1, "text": text}) for id_, text in rows
    )


def refusal(*args):
    with pytest.raises(FormatError) as caught:
        scan_frames(*args)
    return str(caught.value)


def test_a_worked_example():
    data = bytes.fromhex("EE") + packed(ROWS) + bytes.fromhex("FF FF")
    frames = scan_frames(data, 1, 3, ENTRY, Place())
    assert list(frames.strings) == [b"ab", b"", bytes(range(256))]
    assert frames.strings.starts.tolist() == [8, 17, 24]
    assert frames.end == len(data) - 2
    headers = frames.headers()
    assert headers["id"].tolist() == [7, 8, 2**32 - 1]
    assert headers["length"].tolist() == [2, 0, 256]
    assert headers["flag"].tolist() == [1, 0, 1]


def test_no_records():
    frames = scan_frames(b"abc", 3, 0, NAME, Place())
    assert (len(frames.strings), frames.end, len(frames.headers())) == (0, 3, 0)
    assert scan_frames(b"", 0, 0, NAME, Place()).end == 0


@given(rows=st.lists(st.tuples(st.integers(0, 2**32 - 1), st.binary(max_size=20)), max_size=20))
def test_the_pass_agrees_with_the_layout(rows):
    data = packed(rows)
    frames = scan_frames(data, 0, len(rows), ENTRY, Place())
    parsed = construct.Array(len(rows), ENTRY).parse(data)
    assert list(frames.strings) == [row.text for row in parsed]
    assert frames.headers().tolist() == [(row.id, row.length, row.flag) for row in parsed]
    assert frames.end == len(data)


def test_a_length_beyond_the_end_names_its_record():
    place = Place("v.bin", "entries", 100)
    assert refusal(packed(ROWS)[:-1], 0, 3, ENTRY, place) == (
        "v.bin: entries[2].length at offset 0x78 (120): expected at most the 255 bytes left, found 256"
    )
    data = NAME.build({"length": 1, "text": b"a"}) + (2**64 - 8).to_bytes(8, "little") + b"tail"
    assert refusal(data, 0, 2, NAME, Place("g", "keys")) == (
        "g: keys[1].length at offset 0x9 (9): expected at most the 4 bytes left, found 18446744073709551608"
    )


def test_a_cut_header_names_its_record():
    assert refusal(packed(ROWS[:2]) + bytes(5), 0, 3, ENTRY, Place("v.bin", "entries")) == (
        "v.bin: entries[2] at offset 0x10 (16): expected 7 bytes or more, found 5 bytes before the end"
    )


@pytest.mark.parametrize("count", [4, 2**40, 2**64 - 1])
def test_a_count_beyond_the_end_is_refused_before_any_work(count):
    assert refusal(bytes(31), 0, count, NAME, Place("g", "keys", 24)) == (
        "g: keys at offset 0x18 (24): expected at most 3 elements of 8 bytes or more in the 31 bytes left, "
        f"found {count}"
    )
    assert "in the 0 bytes left" in refusal(bytes(3), 3, 1, NAME, Place())


@pytest.mark.parametrize("count", [0, 1])
def test_a_start_beyond_the_end_is_refused(count):
    assert refusal(bytes(3), 4, count, NAME, Place("g", "keys", 4)) == (
        "g: keys at offset 0x4 (4): expected a start inside the 3 bytes, found a start at 4"
    )


def test_a_record_without_a_string_is_a_mistake_of_the_caller():
    with pytest.raises(TypeError, match="plain does not end in a string"):
        scan_frames(b"", 0, 0, Record("plain", "No string.", Field("a", u8, "a")), Place())
