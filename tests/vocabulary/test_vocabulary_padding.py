"""Where padding starts: llama.cpp's numbering and Ollama's, and real tokens that look like pads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.byte_strings import ByteStrings
from pipeline.vocabulary.padding import first_pad

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED = 1, 2, 3, 4, 5


def start(*texts, kinds=None):
    types = np.array(kinds or [UNUSED if text.startswith("[PAD") else NORMAL for text in texts], np.int32)
    return first_pad(ByteStrings.from_list(text.encode() for text in texts), types)


def test_llama_cpp_names_a_pad_by_its_id():
    assert start("a", "b", "[PAD2]", "[PAD3]") == 2
    assert start("a", "[PAD1]") == 1


def test_ollama_counts_from_zero():
    assert start("a", "b", "[PAD0]", "[PAD1]", "[PAD2]") == 2
    assert start("a", "[PAD0]") == 1


def test_nothing_is_padded():
    assert start("a", "b") == 2
    assert start("a", "[PAD0]", "b") == 3
    assert start() == 0


def test_nothing_but_padding():
    assert start("[PAD0]", "[PAD1]") == 0


@pytest.mark.parametrize("kind", [CONTROL, USER_DEFINED, UNUSED])
def test_the_type_of_a_pad_differs_between_writers(kind):
    assert start("a", "[PAD1]", "[PAD2]", kinds=[NORMAL, kind, kind]) == 1


@pytest.mark.parametrize("kind", [NORMAL, UNKNOWN])
def test_a_token_of_another_type_is_no_pad(kind):
    assert start("a", "[PAD1]", "[PAD2]", kinds=[NORMAL, UNUSED, kind]) == 3
    assert start("a", "[PAD1]", "[PAD2]", kinds=[NORMAL, kind, UNUSED]) == 2


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (("a", "[PAD5]", "b", "[PAD3]", "[PAD4]"), 3),  # a real token in the middle
        (("a", "[PAD1]", "b", "[PAD3]"), 3),  # one whose name happens to be its id
        (("a", "[PAD7]", "[PAD2]", "[PAD3]"), 2),  # right before the pads, with another number
        (("a", "[PAD7]", "[PAD0]", "[PAD1]"), 2),
        (("a", "[PAD0]", "[PAD0]", "[PAD1]"), 2),
        (("a", "[PAD2]"), 2),  # a number that fits neither way of counting
        (("a", "b", "[PAD1]", "[PAD2]"), 4),
        (("a", "[PAD3]", "[PAD4]"), 3),
        (("a", "[PAD0]", "[PAD2]"), 2),  # a gap: only the end can be padding, named by its id
        (("a", "[PAD0]", "[PAD1]", "[PAD3]"), 3),
    ],
)
def test_names_that_are_out_of_line(texts, first):
    assert start(*texts) == first


@pytest.mark.parametrize(
    "text",
    ["[PAD]", "[PAD01]", "[PAD1] ", " [PAD1]", "[pad1]", "[PAD-1]", "[PAD１]", "[PAD1]\n", "[PAD1.0]", "[PAD0x1]",
     "[PAD" + "1" * 5000 + "]", "[PAD99999999999]"],
)  # fmt: skip
def test_names_that_only_look_alike(text):
    assert start("a", text, kinds=[NORMAL, UNUSED]) == 2


def test_names_of_the_largest_ids():
    assert start("a", "[PAD9999999999]", kinds=[NORMAL, UNUSED]) == 2


@given(real=st.integers(0, 12), pads=st.integers(0, 12), by_id=st.booleans())
def test_any_run_at_the_end(real, pads, by_id):
    texts = [f"t{token}" for token in range(real)]
    texts += [f"[PAD{(real if by_id else 0) + pad}]" for pad in range(pads)]
    assert start(*texts) == real
