"""BPE by rank over the whole text, against the reference library without its pre-tokenizer."""

import random

import pytest
from engine_oracles import library
from small_vocabulary import PlainTables, grown

from pipeline.engines.rank_bpe import RankBpe


def random_vocabulary(chance):
    texts = ["a", "b", " ", "é", "1"]
    merges = []
    for _ in range(chance.randint(0, 25)):
        left, right = chance.choice(texts), chance.choice(texts)
        if left + right not in texts and "é" not in left + right:
            texts.append(left + right)
            merges.append(f"{left}|{right}")
    return grown(*merges)


def test_against_the_library():
    chance = random.Random(81)
    for _ in range(100):
        vocabulary = random_vocabulary(chance)
        oracle = library([data for data, _ in vocabulary.tokens], vocabulary.merges)
        engine = RankBpe(PlainTables(vocabulary))
        for _ in range(20):
            text = "".join(chance.choices(["a", "b", " ", "é", "1", "ab", "  "], k=chance.randint(0, 120)))
            assert engine.encode(text.encode()) == oracle(text)
            assert engine.decode(engine.encode(text.encode())) == text.encode()


def test_merges_run_across_words():
    """`b a` would be two pieces to the pre-tokenizer."""
    assert RankBpe(PlainTables(grown("b| ", "b |a"))).encode(b"b a") == [257]


def test_bytes_without_a_token_are_left_out():
    engine = RankBpe(PlainTables(grown("a|b", byte_values=b"ab")))
    assert engine.encode(b"a?b") == [2]


@pytest.mark.parametrize("unit", [b"a", b"ab", b" "])
def test_long_words(unit):
    """A quadratic way would take many minutes."""
    engine = RankBpe(PlainTables(grown("a|a", "aa|aa", "a|b", "ab|ab", " | ")))
    text = unit * (50_000 // len(unit))
    assert engine.decode(engine.encode(text)) == text
