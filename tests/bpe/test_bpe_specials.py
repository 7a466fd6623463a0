"""Special tokens in a text: leftmost, then longest, in linear time."""

from __future__ import annotations

import random

import pytest
from bpe_steps import count_lines
from bpe_vocabulary import added_tokens

from pipeline.bpe.specials import Match, SpecialMatcher


def by_definition(ids, text):
    matches, at = [], 0
    while at < len(text):
        here = [special for special in ids if special and text.startswith(special, at)]
        if here:
            longest = max(here, key=len)
            matches.append(Match(at, at + len(longest), ids[longest]))
            at += len(longest)
        else:
            at += 1
    return matches


@pytest.mark.parametrize(
    ("specials", "text", "found"),
    [
        (["ab"], "xababa", [(1, 3), (3, 5)]),
        (["ab", "abc"], "ababc", [(0, 2), (2, 5)]),
        (["bc", "abd", "abce"], "abcabd", [(1, 3), (3, 6)]),  # nothing begins at 0 after all
        (["a", "aaaa"], "aaaaaaa", [(0, 4), (4, 5), (5, 6), (6, 7)]),
        (["abcd", "bc"], "abcabcd", [(1, 3), (3, 7)]),
        (["<|a|>", "|>"], "<|a|><|b|>", [(0, 5), (8, 10)]),
        (["é", "e"], "\u0301éee\u0301", [(1, 2), (2, 3), (3, 4)]),
        (["]", "^", "\\", "-"], "a]^\\-b", [(1, 2), (2, 3), (3, 4), (4, 5)]),
        ([""], "abc", []),
        ([], "abc", []),
        (["ab"], "", []),
    ],
)
def test_examples(specials, text, found):
    ids = {special: number for number, special in enumerate(specials)}
    matches = SpecialMatcher(ids).find(text)
    assert matches == by_definition(ids, text)
    assert [(match.start, match.end) for match in matches] == found


def test_random_texts():
    chance = random.Random(41)
    for _ in range(3_000):
        ids = {
            "".join(chance.choices("<|>a", k=chance.randint(1, 6))): number
            for number in range(chance.randint(1, 8))
        }
        matcher = SpecialMatcher(ids)
        for _ in range(4):
            text = "".join(chance.choices("<|>ab", k=chance.randint(0, 40)))
            assert matcher.find(text) == by_definition(ids, text), (ids, text)


@pytest.mark.parametrize("part", ["<", ">", "|>", "<|im_start|", "im_end|>", "k>", "<think>", "x"])
def test_work_does_not_depend_on_how_many_specials_there_are(part):
    ids = {text: number for number, (text, _) in enumerate(added_tokens("qwen3"))}
    more = ids | {f"<|extra_{number}|>": number + 100 for number in range(1_000)}
    text = part * (20_000 // len(part))
    few, many = (SpecialMatcher(table) for table in (ids, more))
    assert few.find(text) == many.find(text)
    lines = count_lines(lambda: few.find(text))
    assert lines <= 16 * len(text)
    assert count_lines(lambda: many.find(text)) <= 16 * len(text)


@pytest.mark.parametrize("special", ["a" * 500 + "b", "b" + "a" * 500, "a" * 500])
def test_work_does_not_depend_on_how_long_a_special_is(special):
    text = "a" * 10_000
    matcher = SpecialMatcher({special: 1, "aa": 2})
    assert matcher.find(text) == by_definition({special: 1, "aa": 2}, text)
    assert count_lines(lambda: matcher.find(text)) <= 20 * len(text)
