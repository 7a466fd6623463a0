"""The script of a character, held against the names that Unicode gives characters."""

import itertools
import unicodedata

import pytest

from pipeline.report.elements import share_words, tag, visible
from pipeline.report.scripts import _RANGES, kind_of, script_of

IN_NAMES = {"Han": "CJK"}
"""What stands in names where that is not the script's own name."""


def test_letters_are_in_the_script_that_their_names_say():
    wrong = []
    for script, ranges in _RANGES.items():
        for char in (chr(code) for first, last in ranges for code in range(first, last + 1)):
            assert script_of(char) == script
            name = unicodedata.name(char, "")
            is_letter = unicodedata.category(char).startswith("L")
            if is_letter and IN_NAMES.get(script, script).upper() not in name:
                wrong.append(name)
    # Modifier letters name no script, nor do a few marks.
    assert [name for name in wrong if not name.startswith("MODIFIER LETTER")] == [
        "FEMININE ORDINAL INDICATOR",
        "MASCULINE ORDINAL INDICATOR",
        "KELVIN SIGN",
        "ANGSTROM SIGN",
        "IDEOGRAPHIC ITERATION MARK",
    ]


def test_every_script_of_the_basic_plane_is_whole():
    """A letter whose name begins with a listed script's is in it; these are not, and seldom."""
    names = {IN_NAMES.get(script, script).upper(): script for script in _RANGES}
    missing = [
        unicodedata.name(chr(code))
        for code in range(0x10000)
        if unicodedata.category(chr(code)).startswith("L")
        and names.get(unicodedata.name(chr(code)).split()[0]) not in (None, script_of(chr(code)))
    ]
    assert missing == ["GREEK NUMERAL SIGN", "ARABIC TATWEEL"]


@pytest.mark.parametrize("script", _RANGES)
def test_ranges_are_in_order_and_apart(script):
    ranges = _RANGES[script]
    assert all(first <= last for first, last in ranges)
    assert all(before[1] < after[0] for before, after in itertools.pairwise(ranges))


def test_scripts_share_no_character():
    taken = sorted(found for ranges in _RANGES.values() for found in ranges)
    assert all(before[1] < after[0] for before, after in itertools.pairwise(taken))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"", "white space"),
        (b" the", "Latin"),
        ("naïve".encode(), "Latin"),
        ("中文".encode(), "Han"),
        ("中a".encode(), "several scripts"),
        ("हिन्दी".encode(), "Devanagari"),
        (b"123", "numbers"),
        (b"0x", "Latin"),
        (b" \n\t", "white space"),
        (b"();\n", "punctuation and symbols"),
        ("😀".encode(), "punctuation and symbols"),
        ("😀".encode()[:2], "part of a character"),
        (b"\xff", "part of a character"),
        ("ᚠ".encode(), "other letters"),
    ],
)
def test_the_kind_of_a_token(text, kind):
    assert kind_of(text) == kind


def test_text_is_escaped_where_elements_are_made():
    assert tag("p", "<b>", tag("b", "&"), ["x", tag("i", '"')], title="a\"'<\x00") == (
        '<p title="a&quot;&#x27;&lt;\\x00">&lt;b&gt;<b>&amp;</b>x<i>&quot;</i></p>'
    )
    assert visible("\ud800\x7f\u2028é") == "\\ud800\\x7f\\u2028é"
    assert (share_words(1, 0), share_words(0, 0), share_words(5, 5)) == ("0 %", "0 %", "100.0 %")
