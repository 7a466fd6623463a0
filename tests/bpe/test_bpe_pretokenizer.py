"""The split rule against the reference's regular expression."""

from __future__ import annotations

import pytest
from bpe_oracle import splitter
from bpe_texts import nasty_texts, real_texts

from pipeline.bpe.errors import PretokenizerError
from pipeline.bpe.pretokenizer import RULES, rule_for, split_qwen2
from pipeline.errors import ModelError

reference = splitter()


def reference_pieces(text):
    return [piece for piece, _ in reference.pre_tokenize_str(text)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("2024", "2|0|2|4"),
        ("a\xbd\xb2\u2167", "a|\xbd|\xb2|\u2167"),
        ("'Sx", "'S|x"),
        ("'\u017fx", "'\u017f|x"),
        (" !!!\n\n", " !!!\n\n"),
        ("a  b", "a| | b"),
        ("a\n\n b", "a|\n\n| b"),
        ("  \n  x", "  \n| | x"),
        ("\t\tx", "\t|\tx"),
        ("\r\n\r\nx", "\r\n\r\n|x"),
        ("_x", "_x"),
        ("don\u2019t", "don|\u2019t"),
        ("don't", "don|'t"),
        ("I'S", "I|'S"),
        ("(x):\n", "(x|):\n"),
        ("->", "->"),
        ("'re've'LL'd'M", "'re|'ve|'LL|'d|'M"),
        ("'r 'l 'v 'x", "'r| '|l| '|v| '|x"),
        ("a   ", "a|   "),
        ("   ", "   "),
        (" \n \n ", " \n \n| "),
        ("\x85x\u1680x\u2028x\u202fx\u3000x", "\x85x|\u1680x|\u2028x|\u202fx|\u3000x"),
        ("\u2028\u2028!", "\u2028|\u2028|!"),  # white space: not taken along as a blank is
        ("\x1c\x1c \u180e \u200b\ufeff", "\x1c\x1c| \u180e| \u200b\ufeff"),
        ("", ""),
    ],
)
def test_examples(text, pieces):
    expected = pieces.split("|") if pieces else []
    assert reference_pieces(text) == expected
    assert split_qwen2(text) == expected


@pytest.mark.parametrize("white", "\x85\u1680\u2028\u2029\u202f\u3000")
def test_white_space_is_white(white):
    for text in (f"a{white}{white}b", f"{white}!", f"1{white}"):
        assert split_qwen2(text) == reference_pieces(text)
    assert split_qwen2(f"a{white}{white}b") == ["a", white, f"{white}b"]


@pytest.mark.parametrize("sign", "\x1c\x1d\x1e\x1f\u180e\u200b\ufeff")
def test_what_only_looks_white_is_a_sign(sign):
    for text in (f"a{sign}{sign}b", f"{sign}!", f"1{sign}", f" {sign}\n"):
        assert split_qwen2(text) == reference_pieces(text)
    assert split_qwen2(f" {sign}\n") == [f" {sign}\n"]


def test_random_texts():
    for text in nasty_texts(20_000, seed=21):
        assert split_qwen2(text) == reference_pieces(text), ascii(text)


@pytest.mark.parametrize("name", real_texts())
def test_real_texts(name):
    text = real_texts()[name]
    assert split_qwen2(text) == reference_pieces(text)


@pytest.mark.parametrize("part", ["a", " ", "\n", " \n", "1", "!", "'", "\u3000", "a'", "  a", " !\n", "'l"])
def test_a_long_run_of_anything_ends(part):
    """Steps inside `re` cannot be counted; at 262,144 characters a quadratic rule would take minutes each."""
    text = part * ((1 << 18) // len(part))
    assert split_qwen2(text) == reference_pieces(text)


def test_rules_by_name():
    assert set(RULES) == {"qwen2", "deepseek-r1-qwen"}
    assert rule_for("qwen2") is rule_for("deepseek-r1-qwen") is split_qwen2


@pytest.mark.parametrize("name", ["llama-bpe", "Qwen2", "default", "gpt-2", "\x1b[31m"])
def test_unknown_rule(name):
    with pytest.raises(PretokenizerError) as caught:
        rule_for(name)
    assert isinstance(caught.value, ModelError)
    assert str(caught.value) == (
        f"pre-tokenizer {name!r} is not known here: its tables can be made, but encoding needs a known rule "
        "(qwen2, deepseek-r1-qwen); if the model splits text by one of them, "
        "say so in the manifest with model.pre"
    )


def test_no_rule_is_no_default():
    with pytest.raises(PretokenizerError, match=r"^the model names no pre-tokenizer: its tables can be made"):
        rule_for("")
