"""The RK3588 engine's encoder: known ids of every variant, each rule by an example, and a plain double."""

import json
import random

import pytest
from engine_oracles import greedy
from hypothesis import given
from hypothesis import strategies as st
from real_models import GOLDEN

from formats.byte_strings import ByteStrings
from pipeline.engines.greedy import SPECIALS_FIRST, VARIANTS, GreedyEncoder, GreedyRules, How

NAMES = {"engine": "base", "A": "A", "AB": "AB", "specials_first": "specials_first"}
"""The variants by the names that the known sequences have for them."""


def facts():
    return json.loads((GOLDEN / "probes.json").read_text(encoding="utf-8"))


def known_sequences():
    found = facts()
    return [
        pytest.param(NAMES[name], probe["text"], probe[name], id=f"{name}-{ascii(probe['text'])[1:-1]}")
        for probe in found["probes"] + found["more_probes"]
        for name in NAMES
        if name in probe
    ]


@pytest.fixture(scope="module")
def encoders(qwen3_entries):
    encoder = GreedyEncoder(qwen3_entries)
    return {name: encoder.with_rules(rules) for name, rules in VARIANTS.items()}


@pytest.mark.parametrize(("variant", "text", "ids"), known_sequences())
def test_known_ids(encoders, variant, text, ids):
    assert encoders[variant].encode(text.encode()) == ids


def test_there_are_known_ids_of_every_variant():
    assert len(known_sequences()) == 46
    assert set(NAMES.values()) == set(VARIANTS)
    assert [text.decode() for text in SPECIALS_FIRST] == facts()["specials_first_list"]


def made(*texts, **rules):
    entries = ByteStrings.from_list(text if isinstance(text, bytes) else text.encode() for text in texts)
    return GreedyEncoder(entries, GreedyRules(**rules))


def hows(encoder, text):
    return [(token.token, text[token.start : token.end], token.how) for token in encoder.tokens(text)]


SMALL = ("!", "a", "b", "ab", "abc", "Ġ", "Ġa", "Ġab", "Ċ", "ĊĊ", "<s>", "c<", "<", "s", ">")


def test_the_longest_entry_and_where_it_came_from():
    assert hows(made(*SMALL), b"abca  ab b") == [
        (4, b"abc", How.ENTRY),
        (1, b"a", How.ENTRY),
        (7, b" ab", How.AFTER_BLANK),
        (2, b"b", How.ENTRY),
    ]


def test_a_blank_counts_only_behind_a_token():
    assert made(*SMALL).encode(b" a a") == [1, 6]
    assert made(*SMALL, blank_needs_token=False).encode(b" a a") == [6, 6]


def test_a_lone_blank():
    texts = [b" b", b"a b", b"a  b", b"a b ", b"a ", b"  ", b"a \n"]
    plain, repaired = made(*SMALL, blank_needs_token=False), made(
        *SMALL, blank_needs_token=False, lone_blank=True
    )  # fmt: skip
    assert [plain.encode(text) for text in texts] == [[2], [1, 2], [1, 2], [1, 2], [1], [], [1, 8]]
    assert [repaired.encode(text) for text in texts] == [
        [5, 2], [1, 5, 2], [1, 5, 2], [1, 5, 2], [1], [], [1, 5, 8],
    ]  # fmt: skip
    assert made("!", "b", blank_needs_token=False, lone_blank=True).encode(b"b b") == [1, 1]


def test_newlines_and_unmatched_bytes():
    assert hows(made(*SMALL), b"\n\n\t") == [
        (8, b"\n", How.NEWLINE),
        (8, b"\n", How.NEWLINE),
        (0, b"\t", How.UNMATCHED),
    ]
    assert made(*SMALL, newline_run=8).encode(b"\n" * 5) == [9, 9, 8]
    assert made("!", "ĊĊĊ", newline_run=2).encode(b"\n\n\n") == [0, 0, 0]
    assert made("!").encode(b"\nz") == [0, 0]


def test_specials_first():
    encoder = made(*SMALL, specials=(b"<s>", b"<s", b"<absent>"))
    assert made(*SMALL).encode(b"abc<s>") == [4, 10]
    assert made(*SMALL).encode(b"ac<s>") == [1, 11, 13, 14]
    assert hows(encoder, b"ac<s> a<s <s>") == [
        (1, b"a", How.ENTRY),
        (0, b"c", How.UNMATCHED),
        (10, b"<s>", How.SPECIAL),
        (6, b" a", How.AFTER_BLANK),
        (12, b"<", How.ENTRY),
        (13, b"s", How.ENTRY),
        (10, b"<s>", How.SPECIAL),
    ]
    assert encoder.encode(b"a <s>a") == [1, 10, 1]


def test_equal_entries_give_the_lowest_id():
    assert made("!", "ab", "a", "ab", "a").encode(b"aba") == [1, 2]


def test_what_is_looked_at_after_a_blank_has_an_end():
    fits, longer = "Ġ" + "x" * 509, "Ġ" + "x" * 510
    encoder = made("!", "x", fits, longer)
    assert len(fits.encode()) == 511
    assert encoder.encode(b"x " + b"x" * 600) == [1, 2, *[1] * 91]
    assert made("!", "x", longer).encode(b"x " + b"x" * 600) == [1] * 601
    assert made("!", "x" * 600).encode(b"x" * 600) == [1], "only behind a blank"


def test_no_text_and_no_entries():
    assert made(*SMALL).encode(b"") == []
    assert made().encode(b"a b") == [0, 0]
    assert made("").encode(b"a") == [0], "an empty entry matches nothing"


def test_fences_stop_a_match():
    encoder = made(*SMALL, blank_needs_token=False)
    assert [token.token for token in encoder.tokens(b"abc ab", fences=[2, 3, 5])] == [3, 0, 6, 2]
    assert [token.token for token in encoder.tokens(b"abc ab", fences=[])] == [4, 7]


def test_decoding_shows_the_stored_bytes():
    encoder = made(*SMALL)
    assert encoder.decode(encoder.encode(b"ab ab\n")) == "abĠabĊ".encode()
    with pytest.raises(IndexError):
        encoder.decode([len(SMALL)])


RULES = [
    {},
    {"gate": False},
    {"gate": False, "lone": True},
    {"specials": (b"<s>", b"<s>a", b"a<"), "run": 3},
    {"gate": False, "lone": True, "specials": (b"<s>",), "run": 8},
]
WORDS = {"gate": "blank_needs_token", "lone": "lone_blank", "run": "newline_run", "specials": "specials"}
PIECES = ["a", "b", "c", "Ġ", "Ċ", "<", "s", ">", "ā", "中", "\t"]


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: "-".join(rules) or "base")
@given(data=st.data())
def test_like_its_double(rules, data):
    entries = data.draw(
        st.lists(st.text(st.sampled_from(PIECES), max_size=7).map(str.encode), max_size=30)
        | st.lists(st.binary(max_size=3), max_size=30)
    )
    entries = [*entries, b"<s>", b"<s>a", b"a<"]
    text = "".join(data.draw(st.lists(st.sampled_from([*PIECES, " ", "\n", "<s>"]), max_size=40))).encode()
    encoder = made(*entries, **{WORDS[name]: value for name, value in rules.items()})
    assert encoder.encode(text) == greedy(entries, text, **rules)


def test_the_tokens_lie_in_the_text_one_behind_the_other(encoders):
    chance = random.Random(5)
    for encoder in encoders.values():
        text = "".join(
            chance.choices(["<think>", "a", " ", "\n", "  x", "中国", "\t", "é", "12"], k=400)
        ).encode()
        at = 0
        for token in encoder.tokens(text):
            assert at <= token.start < token.end <= len(text)
            assert set(text[at : token.start]) <= {0x20}
            at = token.end


@pytest.mark.parametrize(
    "unit", [b"a", b" ", b"\n", b"<", b" a", "中".encode(), b"\x00", b"<|im_start|>", b"\xff"]
)
def test_long_runs_take_linear_time(encoders, unit):
    """A quadratic way would take many minutes. These two variants have every rule."""
    text = unit * (40_000 // len(unit))
    for name in ("AB", "specials_first"):
        assert len(encoders[name].encode(text)) <= len(text)
