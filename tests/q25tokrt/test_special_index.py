"""The special-token index and the byte-token map: worked examples and random vocabularies."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal
from small_vocabulary import CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED

from formats.byte_strings import ByteStrings
from formats.q25tokrt import byte_map, special_index
from formats.q25tokrt.layout import NONE, SPECIAL_TOKEN_INDEX


def built(tokens, first_pad_id=None):
    strings = ByteStrings.from_list(data for data, _ in tokens)
    types = np.array([kind for _, kind in tokens], np.uint16)
    return special_index.build(strings, types, len(tokens) if first_pad_id is None else first_pad_id)


def test_a_worked_example():
    # struct { uint8_t first_bytes[32]; uint32_t token_ids[n_added]; };
    tokens = [
        (b"a", NORMAL),
        (b"<x>", CONTROL),
        (b"<long>", USER_DEFINED),
        (b"b", UNKNOWN),
        (b"<y>", CONTROL),
    ]
    assert built(tokens) == bytes.fromhex(
        "00 00 00 00 00 00 00 10  00 00 00 00 04 00 00 00"  # 3C is bit 4 of byte 7, 62 bit 2 of byte 12
        "00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00"
        "02 00 00 00  01 00 00 00  04 00 00 00  03 00 00 00"
    )


def test_bytes_beyond_ascii_and_the_last_bit():
    data = built([(b"\xff", CONTROL), (b"\x00", CONTROL), ("đem".encode(), USER_DEFINED)])
    assert data[0] == 1
    assert data[31] == 0x80
    assert data[0xC4 // 8] == 1 << 0xC4 % 8
    assert struct.unpack("<3I", data[32:]) == (1, 2, 0)


def test_none_at_all():
    assert built([(b"a", NORMAL)]) == bytes(32)
    assert built([(b"a", NORMAL), (b"[PAD1]", CONTROL)], first_pad_id=1) == bytes(32)


@pytest.mark.parametrize(
    ("kind", "added"), [(NORMAL, 0), (UNKNOWN, 1), (CONTROL, 1), (USER_DEFINED, 1), (UNUSED, 0)]
)
def test_which_types_are_matched_in_text(kind, added):
    assert len(special_index.added_ids(np.array([1, kind]), 2)) == added
    assert len(built([(b"a", NORMAL), (b"x", kind)])) == 32 + 4 * added


def test_padding_is_none_of_them_whatever_its_type():
    types = np.array([CONTROL, NORMAL, USER_DEFINED, CONTROL, USER_DEFINED, UNUSED])
    assert special_index.added_ids(types, 3).tolist() == [0, 2]
    assert special_index.added_ids(types, 0).tolist() == []
    assert special_index.added_ids(types, 6).tolist() == [0, 2, 3, 4]


def test_an_added_token_without_bytes():
    assert refusal(built, [(b"<", CONTROL), (b"", CONTROL), (b"", USER_DEFINED)]) == (
        "special_token_index: expected added tokens of at least one byte, found token 1 without any"
    )
    assert built([(b"<", CONTROL), (b"", NORMAL), (b"", UNUSED)])[32:] == bytes(4)


TOKENS = st.lists(
    st.tuples(
        st.one_of(st.sampled_from([b"<", b"<a", b"<ab", b"a", b"\xff"]), st.binary(min_size=1, max_size=4)),
        st.sampled_from([NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED]),
    ),
    min_size=1,
    max_size=20,
)


@given(tokens=TOKENS)
def test_any_tokens_are_sorted_by_first_byte_then_the_longest_then_the_id(tokens):
    added = [token for token, (_, kind) in enumerate(tokens) if kind in (UNKNOWN, CONTROL, USER_DEFINED)]
    expected = sorted(added, key=lambda token: (tokens[token][0][0], -len(tokens[token][0]), token))
    data = built(tokens)
    parsed = SPECIAL_TOKEN_INDEX.parse(data, count=len(added))
    assert list(parsed.token_ids) == expected
    first = {tokens[token][0][0] for token in added}
    assert {byte for byte in range(256) if parsed.first_bytes[byte // 8] >> byte % 8 & 1} == first


@given(tokens=TOKENS)
def test_the_byte_map_has_the_lowest_normal_token_of_each_byte(tokens):
    strings = ByteStrings.from_list(data for data, _ in tokens)
    table = byte_map.build(strings, np.array([kind for _, kind in tokens]))
    assert table.dtype == np.dtype("<u4")
    for byte in range(256):
        ids = [token for token, row in enumerate(tokens) if row == (bytes([byte]), NORMAL)]
        assert table[byte] == (ids[0] if ids else NONE)


def test_the_byte_map_without_tokens():
    empty = byte_map.build(ByteStrings.from_list([]), np.empty(0, np.uint16))
    assert empty.tolist() == [NONE] * 256
    assert byte_map.build(ByteStrings.from_list([b"", b"ab"]), np.array([1, 1])).tolist() == [NONE] * 256
