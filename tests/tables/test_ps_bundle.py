"""The PS bundle's tables: built, read back, and every contradiction refused with its row."""

import construct
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal
from small_vocabulary import CONTROL, NORMAL, UNUSED, USER_DEFINED, SmallVocabulary, grown

from formats.byte_strings import ByteStrings
from formats.layout import Place
from formats.ps_bundle import (
    MERGE_RECORD,
    TOKEN_INDEX_RECORD,
    build_merge_table,
    build_token_index,
    first_repeat,
    read_merge_table,
    read_token_index,
    require_padding,
    token_strings,
)

TYPES = "one of 1 normal, 2 unknown, 3 control, 4 user_defined, 5 unused, 6 byte"

# Tokens a, b, ab, an empty one, <x> (control):
# struct token { uint32_t byte_offset; uint16_t byte_length; uint16_t token_type; };
INDEX_HEX = """
    00 00 00 00  01 00  01 00
    01 00 00 00  01 00  01 00
    02 00 00 00  02 00  01 00
    04 00 00 00  00 00  01 00
    04 00 00 00  03 00  03 00
"""
TOKENS = SmallVocabulary(
    [(b"a", NORMAL), (b"b", NORMAL), (b"ab", NORMAL), (b"", NORMAL), (b"<x>", CONTROL)], [(0, 1, 2)]
)
# struct merge { uint32_t left_id, right_id, out_id, rank; };
MERGE_HEX = "00 00 00 00  01 00 00 00  02 00 00 00  00 00 00 00"


def test_a_worked_example():
    index, token_bytes, merges = TOKENS.tables()
    assert index == bytes.fromhex(INDEX_HEX)
    assert token_bytes == b"abab<x>"
    assert merges == bytes.fromhex(MERGE_HEX)


def test_tables_are_read_in_place():
    index = read_token_index(bytes.fromhex(INDEX_HEX), 7)
    assert index["byte_offset"].tolist() == [0, 1, 2, 4, 4]
    assert index["byte_length"].tolist() == [1, 1, 2, 0, 3]
    assert index["token_type"].tolist() == [1, 1, 1, 1, 3]
    strings = token_strings(index, b"abab<x>")
    assert list(strings) == [b"a", b"b", b"ab", b"", b"<x>"]
    merges = read_merge_table(bytes.fromhex(MERGE_HEX), strings, index["token_type"])
    assert merges.rows.tolist() == [(0, 1, 2, 0)]


def test_no_tokens_and_no_merges():
    empty = ByteStrings.from_list([])
    assert build_token_index(empty, []) == build_merge_table([], [], []) == b""
    assert len(read_token_index(b"", 0)) == 0
    assert len(read_merge_table(b"", empty, np.empty(0, np.uint16))) == 0
    assert refusal(read_token_index, b"", 3) == (
        "token_index.bin: token_index at offset 0x0 (0): "
        "expected lengths that sum to the 3 token bytes, found a sum of 0"
    )


@pytest.mark.parametrize("size", [300, 65_535])
def test_long_tokens_are_fine(size):
    index = build_token_index(ByteStrings.from_list([b"a", b" " * size]), [1, 1])
    assert read_token_index(index, size + 1)["byte_length"].tolist() == [1, size]


@pytest.mark.parametrize("size", [65_536, 131_073])
def test_a_token_longer_than_u16_is_refused_with_id_and_length(size):
    tokens = ByteStrings.from_list([b"a", b" " * size, b" " * size])
    assert refusal(build_token_index, tokens, [1, 1, 1]) == (
        "token_index.bin: token_index[1].byte_length: expected tokens of at most 65535 bytes "
        f"(byte_length is a u16), found token 1 of {size} bytes"
    )


def test_more_than_four_gigabytes_are_refused():
    """All tokens view the same 64 KiB, so that no memory is needed."""
    count = 65_540
    strings = ByteStrings(
        np.zeros(65_535, np.uint8), np.zeros(count, np.int64), np.full(count, 65_535, np.int64)
    )
    first = -(-(2**32) // 65_535)
    assert refusal(build_token_index, strings, np.ones(count)) == (
        f"token_index.bin: token_index[{first}].byte_offset at offset 0x{8 * first:X} ({8 * first}): "
        f"expected 0 to 4294967295, found {first * 65_535}"
    )


@pytest.mark.parametrize("kind", [0, 7, -1, 65_536 + 1])
def test_an_unknown_type_is_not_wrapped(kind):
    expected = TYPES if 0 <= kind < 65_536 else "0 to 65535"
    assert refusal(build_token_index, ByteStrings.from_list([b"a", b"b"]), [1, kind]) == (
        f"token_index.bin: token_index[1].token_type at offset 0xE (14): expected {expected}, found {kind}"
    )


@pytest.mark.parametrize("types", [[1], [1, 1, 1], [], 1])
def test_types_of_another_number_are_not_repeated(types):
    with pytest.raises(ValueError, match=r"token_index_record\.token_type: shape"):
        build_token_index(ByteStrings.from_list([b"a", b"b"]), types)


def index_with(row, field, value):
    rows = np.frombuffer(bytes.fromhex(INDEX_HEX), TOKEN_INDEX_RECORD.dtype).copy()
    rows[row][field] = value
    return rows.tobytes()


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (
            bytes.fromhex(INDEX_HEX)[:-1],
            "[4] at offset 0x20 (32): expected a whole record of 8 bytes, found 7 bytes before the end",
        ),
        (
            bytes.fromhex(INDEX_HEX) + b"\0",
            "[5] at offset 0x28 (40): expected a whole record of 8 bytes, found 1 bytes before the end",
        ),
        (index_with(2, "token_type", 0), f"[2].token_type at offset 0x16 (22): expected {TYPES}, found 0"),
        (
            index_with(4, "token_type", 0x103),
            f"[4].token_type at offset 0x26 (38): expected {TYPES}, found 259",
        ),
        (index_with(0, "byte_offset", 1), "[0].byte_offset at offset 0x0 (0): expected 0, found 1"),
        (index_with(2, "byte_offset", 1), "[2].byte_offset at offset 0x10 (16): expected 2, found 1"),
        (index_with(2, "byte_offset", 3), "[2].byte_offset at offset 0x10 (16): expected 2, found 3"),
        (index_with(1, "byte_length", 2), "[2].byte_offset at offset 0x10 (16): expected 3, found 2"),
        (
            index_with(4, "byte_length", 4),
            " at offset 0x0 (0): expected lengths that sum to the 7 token bytes, found a sum of 8",
        ),
        (
            bytes.fromhex(INDEX_HEX)[:-8],
            " at offset 0x0 (0): expected lengths that sum to the 7 token bytes, found a sum of 4",
        ),
    ],
)
def test_an_index_that_does_not_tile_the_bytes(data, line):
    assert refusal(read_token_index, data, 7) == f"token_index.bin: token_index{line}"


def test_a_table_inside_another_file_is_named_by_its_place_there():
    place = Place("a.img", "sections.token_index", 4096)
    assert refusal(read_token_index, index_with(2, "byte_offset", 1), 7, place) == (
        "a.img: sections.token_index[2].byte_offset at offset 0x1010 (4112): expected 2, found 1"
    )


WORDS = grown("a|b", "ab|c", "c|d", "x|ab", added=[("<s>", CONTROL), ("xab", USER_DEFINED)], pads=2)


def merge_table_with(row, **fields):
    rows = np.frombuffer(WORDS.tables()[2], MERGE_RECORD.dtype).copy()
    for field, value in fields.items():
        rows[row][field] = value
    return rows.tobytes()


A, B, C, AB, ABC, CD, XAB, S, USER, PAD = 97, 98, 99, 256, 257, 258, 259, 260, 261, 262


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (
            WORDS.tables()[2][:-3],
            "[3] at offset 0x30 (48): expected a whole record of 16 bytes, found 13 bytes before the end",
        ),
        (merge_table_with(1, rank=2), "[1].rank at offset 0x1C (28): expected 1, found 2"),
        (
            merge_table_with(0, left_id=264),
            "[0].left_id at offset 0x0 (0): expected a token id below 264, found 264",
        ),
        (
            merge_table_with(2, right_id=2**32 - 1),
            "[2].right_id at offset 0x24 (36): expected a token id below 264, found 4294967295",
        ),
        (
            merge_table_with(3, out_id=264),
            "[3].out_id at offset 0x38 (56): expected a token id below 264, found 264",
        ),
        (
            merge_table_with(3, left_id=S),
            "[3].left_id at offset 0x30 (48): expected the id of a normal token, found 260",
        ),
        (
            merge_table_with(3, right_id=PAD),
            "[3].right_id at offset 0x34 (52): expected the id of a normal token, found 262",
        ),
        (
            merge_table_with(3, out_id=USER),
            "[3].out_id at offset 0x38 (56): expected the id of a normal token, found 261",
        ),
        (
            merge_table_with(2, left_id=A, right_id=B, out_id=AB),
            "[2].left_id at offset 0x20 (32): expected each pair once, found the pair 97, 98 of row 0 again",
        ),
        (
            merge_table_with(2, out_id=AB),
            "[2].out_id at offset 0x28 (40): expected the token with bytes 63 64, found 256 with bytes 61 62",
        ),
        (
            merge_table_with(1, out_id=AB),
            "[1].out_id at offset 0x18 (24): expected the token with bytes 61 62 63, found 256 with bytes 61 62",
        ),
        (
            merge_table_with(1, right_id=B),
            "[1].out_id at offset 0x18 (24): expected the token with bytes 61 62 62, found 257 with bytes 61 62 63",
        ),
    ],
)
def test_a_merge_that_contradicts_the_tokens(data, line):
    assert refusal(read_merge_table, data, WORDS.strings, np.array(WORDS.types)) == (
        f"merge_table_u32.bin: merge_table{line}"
    )


def test_the_first_wrong_merge_is_named_whatever_is_wrong_with_it():
    """Row 1 differs in its bytes and row 3 in its length; the other way round as well."""
    for first, second in (({"right_id": B}, {"out_id": AB}), ({"out_id": AB}, {"right_id": 100})):
        rows = np.frombuffer(merge_table_with(1, **first), MERGE_RECORD.dtype).copy()
        for field, value in second.items():
            rows[3][field] = value
        line = refusal(read_merge_table, rows.tobytes(), WORDS.strings, np.array(WORDS.types))
        assert line.startswith("merge_table_u32.bin: merge_table[1].out_id")


def test_a_damaged_row_is_named_and_not_the_row_whose_pair_it_took():
    """Row 0 is made to hold the pair of row 1; its result is still `ab`."""
    data = merge_table_with(0, left_id=AB, right_id=C)
    assert refusal(read_merge_table, data, WORDS.strings, np.array(WORDS.types)) == (
        "merge_table_u32.bin: merge_table[0].out_id at offset 0x8 (8): "
        "expected the token with bytes 61 62 63, found 256 with bytes 61 62"
    )


def test_merges_with_an_empty_side_are_checked_too():
    """An empty token joins to anything; rows behind it are still named rightly."""
    tokens = SmallVocabulary(
        [(b"", NORMAL), (b"a", NORMAL), (b"aa", NORMAL), (b"ab", NORMAL)],
        [(0, 1, 1), (0, 0, 0), (1, 0, 1), (1, 1, 2)],
    )
    strings, types = tokens.strings, np.array(tokens.types)
    assert len(read_merge_table(tokens.tables()[2], strings, types)) == 4
    tokens.merges[3] = (1, 1, 3)
    assert refusal(read_merge_table, tokens.tables()[2], strings, types) == (
        "merge_table_u32.bin: merge_table[3].out_id at offset 0x38 (56): "
        "expected the token with bytes 61 61, found 3 with bytes 61 62"
    )


@given(pairs=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12))
def test_the_first_repeated_pair_of_any(pairs):
    first_of = {}
    expected = None
    for row, pair in enumerate(pairs):
        first = first_of.setdefault(pair, row)
        if first != row and expected is None:
            expected = (first, row)
    left, right = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    found = first_repeat(left, right, 5)
    assert (found is None) == (expected is None)
    if found is not None:
        assert found[1] == expected[1]  # the first row that repeats one before it
        assert pairs[found[0]] == pairs[found[1]]
        assert found[0] < found[1]


def test_padding_of_type_normal_is_refused():
    index = read_token_index(WORDS.tables()[0], len(WORDS.strings.joined()))
    require_padding(index, PAD)
    require_padding(index, len(index))
    require_padding(index, S)  # padding may have any other type
    assert refusal(require_padding, index, CD) == (
        "token_index.bin: token_index[258].token_type at offset 0x816 (2070): "
        "expected a type other than normal for padding, found 1"
    )


TOKEN = st.tuples(st.binary(max_size=5), st.sampled_from([NORMAL, CONTROL, USER_DEFINED, UNUSED]))


@given(tokens=st.lists(TOKEN, max_size=30))
def test_numpy_and_construct_agree_on_any_index(tokens):
    strings = ByteStrings.from_list(data for data, _ in tokens)
    index = build_token_index(strings, [kind for _, kind in tokens])
    parsed = construct.Array(len(tokens), TOKEN_INDEX_RECORD).parse(index)
    offset = 0
    for row, (data, kind) in zip(parsed, tokens, strict=True):
        assert (row.byte_offset, row.byte_length, row.token_type) == (offset, len(data), kind)
        offset += len(data)
    table = read_token_index(index, offset)
    assert list(token_strings(table, strings.joined())) == [data for data, _ in tokens]
    assert construct.Array(len(tokens), TOKEN_INDEX_RECORD).build(parsed) == index


IDS = st.integers(0, 2**32 - 1)


@given(merges=st.lists(st.tuples(IDS, IDS, IDS), max_size=20))
def test_numpy_and_construct_agree_on_any_merge_table(merges):
    columns = list(zip(*merges, strict=True)) or [(), (), ()]
    table = build_merge_table(*columns)
    parsed = construct.Array(len(merges), MERGE_RECORD).parse(table)
    rows = [(row.left_id, row.right_id, row.out_id, row.rank) for row in parsed]
    assert rows == [(*merge, rank) for rank, merge in enumerate(merges)]
    assert construct.Array(len(merges), MERGE_RECORD).build(parsed) == table
