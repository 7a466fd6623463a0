"""The proof behind profile fast: what it lets pass, what it refuses, against merging by definition."""

import random
from itertools import pairwise

import numpy as np
import pytest
from refusals import attempt, refusal
from small_vocabulary import grown

from formats.q25tokrt.derivation import MAX_SPINE, prove
from formats.q25tokrt.layout import Profile

BYTES = np.arange(256, dtype=np.uint32)
HINT = "; profile standard serves any vocabulary"


def columns(vocabulary):
    table = np.array(vocabulary.merges, dtype=np.uint32).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def merged(data, merges):
    """Merge by definition: the lowest rank first, the leftmost place of it."""
    ranks = {(left, right): (rank, out) for rank, (left, right, out) in enumerate(merges)}
    ids = list(data)
    while True:
        found = [(ranks[pair][0], at) for at, pair in enumerate(pairwise(ids)) if pair in ranks]
        if not found:
            return ids
        at = min(found)[1]
        ids[at : at + 2] = [ranks[ids[at], ids[at + 1]][1]]


def holds(vocabulary):
    """Say by definition whether merging each token's bytes makes it."""
    return all(
        merged(data, vocabulary.merges) == [token]
        for token, (data, _) in enumerate(vocabulary.tokens)
        if token < 256 + len(vocabulary.merges)
    )


def test_vocabularies_that_hold():
    prove(*columns(grown()), BYTES)
    prove(*columns(grown("a|b")), BYTES)
    prove(*columns(grown("a|b", "ab|c", "c|c", "abc|cc")), BYTES)
    prove(*columns(grown("a|a", "aa|aa", "aaaa|a")), BYTES[::-1])


@pytest.mark.parametrize(
    ("merges", "row"),
    [
        (["b|c", "a|b", "ab|c"], 2),  # merging makes a and bc of abc
        (["b|c", "a|b", "c|d", "ab|cd"], 3),
        (["a|a", "a|aa"], 1),  # of two places with one rank the left one comes first
    ],
)
def test_a_token_that_merging_does_not_make(merges, row):
    vocabulary = grown(*merges)
    message = refusal(prove, *columns(vocabulary), BYTES)
    assert message == (
        f"merge_table[{row}]: expected that merging the bytes of token {row + 256} makes it, "
        f"found an earlier merge, to 256, across its two parts{HINT}"
    )
    assert not holds(vocabulary)


def test_random_vocabularies_against_merging():
    """The proof says what merging every token's bytes says."""
    chance = random.Random(11)
    seen = {True: 0, False: 0}
    for _ in range(1_500):
        tokens = list("abc")
        merges = []
        for _ in range(chance.randint(1, 7)):
            left, right = chance.choice(tokens), chance.choice(tokens)
            if left + right not in tokens:
                tokens.append(left + right)
                merges.append(f"{left}|{right}")
        vocabulary = grown(*merges)
        _, error = attempt(prove, *columns(vocabulary), BYTES)
        assert (error is None) == holds(vocabulary), merges
        seen[error is None] += 1
    assert min(seen.values()) > 200


def test_ids_that_are_not_in_the_order_of_merges():
    left, right, out = columns(grown("a|b", "ab|c"))
    message = refusal(prove, left, right, out + 1, BYTES)
    assert message == "merge_table[0].out_id: expected rank + 256 = 256, found 257" + HINT
    message = refusal(prove, np.array([97, 258]), right, out, BYTES)
    assert message == "merge_table[1]: expected two ids below the one made, 257, found 258 and 99" + HINT


def test_bytes_that_are_not_the_first_ids():
    bytes_moved = BYTES.copy()
    bytes_moved[7] = 256
    message = refusal(prove, *columns(grown("a|b")), bytes_moved)
    assert message == "byte_token_map[7]: expected an id below 256 for each byte, found 256" + HINT


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_length_of_a_spine(side):
    def chain(size):
        joined = ["a" * n for n in range(1, size + 1)]
        texts = [text.translate({97: 97}) for text in joined]
        letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        if side == "left":
            return grown(*(f"{letters[:n]}|{letters[n]}" for n in range(1, len(texts))))
        return grown(*(f"{letters[n]}|{letters[:n][::-1]}" for n in range(1, len(texts))))

    prove(*columns(chain(MAX_SPINE + 1)), BYTES)
    message = refusal(prove, *columns(chain(MAX_SPINE + 2)), BYTES)
    expected = f"a token of at most {MAX_SPINE} merges along its {side} parts"
    assert message == f"merge_table[{MAX_SPINE}]: expected {expected}, found more" + HINT


def test_an_image_is_refused_with_the_reason():
    vocabulary = grown("b|c", "a|b", "ab|c")
    message = refusal(vocabulary.image, profile=Profile.FAST)
    assert "merging the bytes of token 258 makes it" in message
    assert vocabulary.image()
