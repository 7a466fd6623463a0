"""NFC against the reference's own, and its cost."""

from __future__ import annotations

import random

import pytest
from bpe_steps import count_lines
from bpe_texts import INDIC, JAMO, MARKS, TIBETAN, nasty_texts, real_texts
from tokenizers import normalizers

from pipeline.bpe import nfc as module
from pipeline.bpe.nfc import Change, changes, is_nfc, nfc
from pipeline.bpe.unicode_tables import nfc_tables

reference = normalizers.NFC().normalize_str
reference_nfd = normalizers.NFD().normalize_str


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("", ""),
        ("abc\xff", "abc\xff"),
        ("A\u030a", "\xc5"),
        ("\u212b", "\xc5"),
        ("q\u0307\u0323", "q\u0323\u0307"),  # sorted by class, nothing to join
        ("s\u0307\u0323", "\u1e69"),  # sorted, then joined twice
        ("e\u0301\u0301", "\xe9\u0301"),  # the second is cut off by the first
        ("a\u0315\u0300", "\xe0\u0315"),  # sorted before it, so not cut off
        ("\u0301e", "\u0301e"),
        ("\u0344", "\u0308\u0301"),  # two marks, excluded from composition
        ("\u0958", "\u0915\u093c"),  # excluded from composition
        ("\u0cc6\u0cc2\u0cd5", "\u0ccb"),  # starters that join starters
        ("\u0b47\u0300\u0b3e", "\u0b47\u0300\u0b3e"),  # but not past a mark
        ("\u1112\u1161\u11ab", "\ud55c"),
        ("\uac00\u11a7", "\uac00\u11a7"),  # U+11A7 is no trailing consonant
        ("\uac01\u11a8", "\uac01\u11a8"),  # the syllable has one already
        ("\U00011935\U00011930", "\U00011935\U00011930"),  # a composite of Unicode 13
        ("\u0345\u0d3b\u0334", "\u0345\u0d3b\u0334"),  # a mark of Unicode 10 is a starter here
        ("\u0345\u1dfb\u0334", "\u0334\u1dfb\u0345"),  # a mark of Unicode 9 is sorted
    ],
)
def test_examples(text, normal):
    assert reference(text) == normal
    assert nfc(text) == normal
    assert is_nfc(normal)
    assert is_nfc(text) == (text == normal)


def test_random_texts():
    for text in nasty_texts(20_000, seed=11):
        assert nfc(text) == reference(text), ascii(text)


def test_random_runs_of_what_nfc_touches():
    chance = random.Random(12)
    alphabet = [*module._touchable().chars, *"aeou", *(MARKS + INDIC + TIBETAN + JAMO) * 4]
    for _ in range(20_000):
        text = "".join(chance.choices(alphabet, k=chance.randint(1, 12)))
        assert nfc(text) == reference(text), ascii(text)


@pytest.mark.parametrize("name", real_texts())
def test_real_texts_taken_apart(name):
    text = real_texts()[name]
    assert nfc(reference_nfd(text)) == reference(text)


def test_changes_say_where():
    text = "ae\u0301 A\u030a\u0327 o\u0300"
    assert list(changes(text)) == [
        Change(1, 3, "\xe9"),
        Change(4, 7, "\xc5\u0327"),
        Change(8, 10, "\xf2"),
    ]
    assert list(changes("\xe9\u0327")) == [Change(0, 2, "\u0229\u0301")]


def test_a_span_can_be_normalized_alone():
    """What lies outside the spans neither joins what is before it nor comes apart into what would."""
    tables = nfc_tables()
    touchable = module._touchable().chars
    for char, parts in tables.decompositions.items():
        if char not in touchable:
            assert parts[0] not in touchable
    assert all(pair[1] in touchable for pair in tables.compositions)
    assert min(touchable) >= module._SAFE


@pytest.mark.parametrize(
    "part",
    [
        "\u0345\u0300\u0316\u0334",
        "\u0301",
        "e\u0301",
        "\u1112\u1161\u11ab",
        "\u0b47\u0b3e",
        "abc \xe9",
        "\u4e2d\u3099",
    ],
)
def test_work_grows_with_the_text_only(part):
    small, large = (part * (size // len(part)) for size in (2_000, 16_000))
    nfc(large)  # tables are unpacked now
    assert count_lines(lambda: nfc(large)) < 8.5 * count_lines(lambda: nfc(small)) + 100


def test_many_marks():
    marks = "\u0345\u0300\u0316\u0334" * 32_000
    assert nfc("a" + marks) == reference("a" + marks)
