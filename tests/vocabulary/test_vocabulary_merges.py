"""Merges from "left right" texts: what is taken, and each refusal with its index."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import attempt, refusal
from tiny_model import CONTROL, NORMAL, USER_DEFINED
from vocabulary_files import MERGES_KEY, gguf_of, offset_of, vocabulary_of

from formats.byte_strings import ByteStrings
from formats.layout import Place
from pipeline.vocabulary.merges import as_lines, read_merges
from pipeline.vocabulary.vocabulary import read_vocabulary

ROWS = [
    *[(text, NORMAL) for text in ("a", "b", "c", "d", "ab", "cd", "abc", "aa", "aaa", "Ġ", "Ġa", "#", "#a")],
    ("<x>", CONTROL),
    ("b<x>", USER_DEFINED),
]


def merges_of(*texts):
    merges = vocabulary_of(rows=ROWS, merges=texts).merges
    return list(zip(merges.left.tolist(), merges.right.tolist(), merges.out.tolist(), strict=True))


def test_sides_and_results_are_looked_up_by_text():
    assert merges_of("c d", "a b", "ab c", "Ġ a", "# a", "a a", "aa a", "a aa") == [
        (2, 3, 5), (0, 1, 4), (4, 2, 6), (9, 0, 10), (11, 0, 12), (0, 0, 7), (7, 0, 8), (0, 7, 8),
    ]  # fmt: skip


def test_columns_are_64_bit_whatever_the_machine():
    merges = vocabulary_of(rows=ROWS, merges=["a b"]).merges
    assert {column.dtype for column in (merges.left, merges.right, merges.out)} == {np.dtype(np.int64)}
    assert len(merges) == 1


NO_BLANK = "expected two tokens parted by a blank, found"
NO_MERGE = "expected a merge of two normal tokens to a third, found"


@pytest.mark.parametrize(
    ("texts", "index", "words"),
    [
        (["a b", "x b"], 1, f"{NO_MERGE} 'x b', whose left side is none"),
        (["a b", "a x"], 1, f"{NO_MERGE} 'a x', whose right side is none"),
        (["a b", "b a"], 1, f"{NO_MERGE} 'b a', whose result is none"),
        (["a <x>"], 0, f"{NO_MERGE} 'a <x>', whose right side is none"),
        (["b <x>"], 0, f"{NO_MERGE} 'b <x>', whose right side is none"),
        (["ab"], 0, f"{NO_BLANK} 'ab'"),
        (["aa"], 0, f"{NO_BLANK} 'aa'"),
        ([""], 0, f"{NO_BLANK} ''"),
        ([" "], 0, f"{NO_MERGE} ' ', whose left side is none"),
        ([" a"], 0, f"{NO_MERGE} ' a', whose left side is none"),
        (["a "], 0, f"{NO_MERGE} 'a ', whose right side is none"),
        (["a  b"], 0, f"{NO_MERGE} 'a  b', whose right side is none"),
        (["a b c"], 0, f"{NO_MERGE} 'a b c', whose right side is none"),
        (["a b\n"], 0, rf"{NO_MERGE} 'a b\n', whose right side is none"),
        (["a\nb"], 0, rf"{NO_BLANK} 'a\nb'"),
        (["#version: 0.2", "a b"], 0, f"{NO_MERGE} '#version: 0.2', whose left side is none"),
        (["a\u3000b"], 0, rf"{NO_BLANK} 'a\u3000b'"),
        (
            ["a \x1b[31m"],
            0,
            r"expected a merge of two normal tokens to a third, found 'a \x1b[31m', whose right side is none",
        ),
        # Blanks that are missing here and too many there: the sum is right.
        (["a", "b c d"], 0, f"{NO_BLANK} 'a'"),
        (["c d", "a", "b a b"], 1, f"{NO_BLANK} 'a'"),
        (["a b c", "d"], 0, f"{NO_MERGE} 'a b c', whose right side is none"),
        (["a\nb", "c d", "a a"], 0, rf"{NO_BLANK} 'a\nb'"),
    ],
)
def test_what_is_no_merge_is_refused_with_its_index(texts, index, words):
    gguf = gguf_of(rows=ROWS, merges=texts)
    assert refusal(read_vocabulary, gguf) == (
        f"t.gguf: key '{MERGES_KEY}'[{index}] at {offset_of(gguf, MERGES_KEY, index)}: {words}"
    )


def test_a_merge_that_is_not_utf8():
    gguf = gguf_of(rows=ROWS, merges=[b"a b", b"a \xff\xc4"])
    assert refusal(read_vocabulary, gguf).endswith(r"found 'a \\xff\\xc4', whose right side is none")


def test_a_pair_that_occurs_twice():
    gguf = gguf_of(rows=ROWS, merges=["c d", "a b", "ab c", "a b", "c d"])
    assert refusal(read_vocabulary, gguf) == (
        f"t.gguf: key '{MERGES_KEY}'[3] at {offset_of(gguf, MERGES_KEY, 3)}: expected each pair once, since "
        "engines differ in which of two ranks counts, found 'a b', which stands at [1] already"
    )


def test_two_merges_to_the_same_token_are_fine():
    assert merges_of("a aa", "aa a") == [(0, 7, 8), (7, 0, 8)]


def test_lines_of_merges():
    assert as_lines(ByteStrings.from_list([b"a b", b"ab c"])) == b"a b\nab c\n"


TOKENS = ("a", "b", "ab", "ba", "aba", "bab", "abab")
IDS = {text.encode(): token for token, text in enumerate(TOKENS)}
PARTS = st.sampled_from(["a", "b", "ab", "ba", "aba", " ", "\n", "", "x"])
GOOD = [f"{left} {right}" for left in TOKENS for right in TOKENS if left + right in TOKENS]
TEXTS = st.lists(
    st.one_of(st.sampled_from(GOOD), st.lists(PARTS, max_size=5).map("".join)), min_size=1, max_size=5
)


@given(texts=TEXTS)
def test_any_texts_are_read_as_one_by_one(texts):
    """Held to a loop that parts each text by itself."""
    rows = []
    for text in texts:
        left, blank, right = text.encode().partition(b" ")
        known = bool(blank) and {left, right, left + right} <= IDS.keys()
        rows.append((IDS[left], IDS[right], IDS[left + right]) if known else None)
    strings = ByteStrings.from_list(text.encode() for text in texts)
    merges, error = attempt(read_merges, strings, IDS, len(TOKENS), lambda index: Place("", f"[{index}]"))
    if None in rows:
        assert str(error).startswith(f"[{rows.index(None)}] at offset")
    elif len({row[:2] for row in rows}) < len(rows):
        assert "each pair once" in str(error)
    else:
        assert list(zip(merges.left, merges.right, merges.out, strict=True)) == rows
