"""Byte strings in one buffer: selection, joining and framing against plain Python lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats import byte_strings
from formats.byte_strings import ByteStrings

LISTS = st.lists(st.binary(max_size=12), max_size=30)


def view(data, runs):
    starts = np.array([start for start, _ in runs], dtype=np.int64)
    lengths = np.array([length for _, length in runs], dtype=np.int64)
    return ByteStrings(np.frombuffer(data, dtype=np.uint8), starts, lengths)


@pytest.fixture
def tiny_blocks(monkeypatch):
    monkeypatch.setattr(byte_strings, "_BLOCK", 5)


def test_a_worked_example():
    strings = view(b"..ab...cde", [(7, 3), (2, 2), (0, 0)])
    assert len(strings) == 3
    assert strings[0] == b"cde"
    assert strings[-1] == b""
    assert list(strings) == [b"cde", b"ab", b""]
    assert strings.joined() == b"cdeab"
    assert strings.offsets().tolist() == [0, 3, 5, 5]
    assert (
        strings.framed(np.array([[1, 3], [2, 2], [3, 0]], dtype=np.uint8)) == b"\x01\x03cde\x02\x02ab\x03\x00"
    )
    assert list(strings.take([1, 1, 0])) == [b"ab", b"ab", b"cde"]
    assert list(strings.take(np.array([False, True, True]))) == [b"ab", b""]


def test_headers_may_be_packed_records():
    headers = np.array([(7, 2), (8, 1)], dtype=[("id", "<u4"), ("size", "<u2")])
    framed = ByteStrings.from_list([b"ab", b"c"]).framed(headers)
    assert framed == bytes.fromhex("07000000 0200") + b"ab" + bytes.fromhex("08000000 0100") + b"c"


def test_nothing_at_all():
    empty = ByteStrings.from_list([])
    assert (len(empty), list(empty), empty.joined(), empty.offsets().tolist()) == (0, [], b"", [0])
    assert empty.framed(np.empty((0, 4), dtype=np.uint8)) == b""
    assert list(empty.take([])) == []
    assert list(ByteStrings.from_list([b"a"]).take([])) == []


@given(items=LISTS)
def test_a_list_comes_back(items):
    strings = ByteStrings.from_list(items)
    assert list(strings) == items
    assert [strings[index] for index in range(len(items))] == items
    assert strings.joined() == b"".join(items)


@given(items=LISTS, data=st.data())
def test_any_selection_joins_and_frames_like_a_list(items, data):
    ids = data.draw(st.lists(st.integers(0, len(items) - 1), max_size=20)) if items else []
    picked = [items[index] for index in ids]
    strings = ByteStrings.from_list(items).take(ids)
    headers = np.arange(len(ids) * 3, dtype=np.uint8).reshape(-1, 3)
    assert strings.joined() == b"".join(picked)
    assert strings.framed(headers) == b"".join(
        headers[row].tobytes() + item for row, item in enumerate(picked)
    )


@pytest.mark.usefixtures("tiny_blocks")
@pytest.mark.parametrize(
    "sizes",
    [[5, 5, 5], [6], [1, 9, 1, 1], [0, 0, 6, 0, 5, 0], [4, 2, 4, 2], [0], [11, 12, 0, 13]],
    ids=str,
)
def test_blocks_meet_without_a_seam(sizes):
    items = [bytes([65 + row]) * size for row, size in enumerate(sizes)]
    strings = ByteStrings.from_list(items)
    assert strings.joined() == b"".join(items)
    headers = np.array([[255, size] for size in sizes], dtype=np.uint8)
    assert strings.framed(headers) == b"".join(b"\xff" + bytes([len(item)]) + item for item in items)


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ([(0, 2), (3, 2)], "string 1: 2 bytes at 3 lie outside the buffer of 4 bytes"),
        ([(-1, 1)], "string 0: 1 bytes at -1 lie outside"),
        ([(1, -1)], "string 0: -1 bytes at 1 lie outside"),
        ([(2**63 - 1, 2**63 - 1)], "string 0: 9223372036854775807 bytes"),
    ],
)
def test_a_string_outside_the_buffer_is_refused(runs, words):
    with pytest.raises(ValueError, match=words):
        view(b"abcd", runs)


def test_wrong_columns_are_refused():
    data, ok = np.zeros(4, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    with pytest.raises(ValueError, match="lengths: int32 of shape"):
        ByteStrings(data, ok, ok.astype(np.int32))
    with pytest.raises(ValueError, match="data: float64 of shape"):
        ByteStrings(np.zeros(4), ok, ok)
    with pytest.raises(ValueError, match="1 starts and 2 lengths"):
        ByteStrings(data, ok, np.zeros(2, dtype=np.int64))


def test_a_header_for_each_string():
    with pytest.raises(ValueError, match="1 headers for 2 strings"):
        ByteStrings.from_list([b"a", b"b"]).framed(np.zeros((1, 4), dtype=np.uint8))
