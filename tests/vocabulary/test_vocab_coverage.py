"""The check that people run after packing a vocab.bin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.byte_strings import ByteStrings
from pipeline.vocab_coverage import COMMON_HAN, count_containing, coverage_lines


def entries(*texts):
    return ByteStrings.from_list(text.encode() for text in texts)


def test_what_is_there():
    assert coverage_lines(entries(*COMMON_HAN, "Ġ", "Ċ", "Ġgood", "你好", "xĊĊ", "回", "答")) == [
        f"space Ġ: yes, newline Ċ: yes, common Chinese characters: {len(COMMON_HAN)} of {len(COMMON_HAN)}",
        "entries that contain 回答 0, 你好 1, Ġgood 1, Ċ 2",
    ]


def test_what_is_missing_is_listed():
    some = [char for char in COMMON_HAN if char not in "的了"]
    assert coverage_lines(entries(*some, "的是", "a")) == [
        f"space Ġ: no, newline Ċ: no, common Chinese characters: {len(some)} of {len(COMMON_HAN)}, missing 的了",
        "entries that contain 回答 0, 你好 0, Ġgood 0, Ċ 0",
    ]


@pytest.mark.parametrize("texts", [(), ("",), ("", "", "")])
def test_nothing_at_all(texts):
    assert coverage_lines(entries(*texts))[1] == "entries that contain 回答 0, 你好 0, Ġgood 0, Ċ 0"


def test_characters_are_distinct_and_of_three_bytes():
    assert len(set(COMMON_HAN)) == len(COMMON_HAN)
    assert {len(char.encode()) for char in COMMON_HAN} == {3}


@given(
    texts=st.lists(st.text("ab", max_size=5), max_size=12),
    text=st.text("ab", min_size=1, max_size=3),
)
def test_entries_that_contain_a_text_are_counted_once_each(texts, text):
    """Not across the border of two entries, and not twice within one."""
    assert count_containing(entries(*texts), text.encode()) == sum(text in entry for entry in texts)
