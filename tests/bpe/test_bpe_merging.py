"""Merges by rank: both ways against the definition, and their cost."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from bpe_steps import count_lines
from bpe_vocabulary import small_tables

from pipeline.bpe.merging import SHORT, merge, merge_long, merge_short

WAYS = [merge_short, merge_long]


def by_definition(tokens, lookup):
    """Do the merge of the lowest rank, at its leftmost place, until there is none."""
    tokens = list(tokens)
    while True:
        found = [(*lookup(*pair), at) for at, pair in enumerate(pairwise(tokens)) if lookup(*pair)]
        if not found:
            return tokens
        rank = min(found)[0]
        _, out, at = next(entry for entry in found if entry[0] == rank)
        tokens[at : at + 2] = [out]


def merged(way, tables, text):
    return [tables.token_bytes(token).decode() for token in way(list(text.encode()), tables.merge)]


@pytest.mark.parametrize("way", WAYS)
def test_order_of_ranks_decides_not_length(way):
    tables = small_tables("c|d", "a|b", "ab|c")
    assert merged(way, tables, "abcd") == ["ab", "cd"]
    assert merged(way, tables, "abc") == ["abc"]


@pytest.mark.parametrize("way", WAYS)
def test_leftmost_of_equals(way):
    tables = small_tables("a|a", "aa|a")
    assert merged(way, tables, "aaa") == ["aaa"]
    assert merged(way, tables, "aaaa") == ["aa", "aa"]
    assert merged(way, tables, "aaaaa") == ["aa", "aaa"]


@pytest.mark.parametrize("way", WAYS)
def test_a_merge_can_make_an_earlier_one_possible(way):
    tables = small_tables("x|y", "b|c", "a|bc", "xy|abc", "xyabc|d")
    assert merged(way, tables, "xyabcd") == ["xyabcd"]
    late = small_tables("a|b", "b|c", "ab|bc")
    assert merged(way, late, "abbc") == ["abbc"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tokens", [[], [97], [97, 98]])
def test_nothing_to_merge(way, tokens):
    assert way(tokens, small_tables("b|a").merge) == tokens


def random_merges(chance):
    """A lookup over tokens 0..3 and up to 40 merges of random earlier tokens, in random order of rank."""
    pairs = {}
    for out in range(4, 4 + chance.randint(1, 40)):
        pair = (chance.randrange(out), chance.randrange(out))
        pairs.setdefault(pair, out)
    ranks = list(range(len(pairs)))
    chance.shuffle(ranks)
    table = {pair: (rank, out) for (pair, out), rank in zip(pairs.items(), ranks, strict=True)}
    return lambda left, right: table.get((left, right))


def test_random_merges():
    chance = random.Random(31)
    for _ in range(3_000):
        lookup = random_merges(chance)
        tokens = [chance.randrange(4) for _ in range(chance.randint(0, 60))]
        expected = by_definition(tokens, lookup)
        assert merge_short(tokens, lookup) == merge_long(tokens, lookup) == merge(tokens, lookup) == expected


def test_input_is_left_alone():
    tokens = [97, 98]
    for way in WAYS:
        assert way(tokens, small_tables("a|b").merge) == [256]
    assert tokens == [97, 98]


def counted(tables):
    calls = 0

    def lookup(left, right):
        nonlocal calls
        calls += 1
        return tables.merge(left, right)

    return lookup, lambda: calls


@pytest.mark.parametrize("size", [SHORT, SHORT + 1, 20_000])
@pytest.mark.parametrize("letters", ["a", "ab", "abc", "aab"])
def test_pairs_asked_for(size, letters):
    tables = small_tables("a|a", "aa|aa", "aaaa|aaaa", "a|b", "ab|ab", "abab|abab", "ab|c")
    lookup, calls = counted(tables)
    tokens = list((letters * size).encode())[:size]
    result = merge(tokens, lookup)
    assert b"".join(map(tables.token_bytes, result)) == bytes(tokens)
    assert calls() < 3 * size


def test_work_grows_with_the_piece():
    """Lines run, not seconds; only the heap's own steps grow by a logarithm."""
    tables = small_tables("a|a", "aa|aa", "aaaa|aaaa", "aaaaaaaa|aaaaaaaa")
    small, large = ([97] * size for size in (2_000, 16_000))
    lines = count_lines(lambda: merge(large, tables.merge))
    assert lines < 8.5 * count_lines(lambda: merge(small, tables.merge))
