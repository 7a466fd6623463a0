"""The perfect merge-pair index against look-ups by the format's own words."""

import random

import numpy as np
import pytest
from refusals import refusal

from formats.q25tokrt import perfect_index
from formats.q25tokrt.pair_index import FIRST_SEED

EMPTY = 0x3FFFF


def words(index):
    data = index.slots.tobytes()
    return [int.from_bytes(data[at : at + 3], "little") for at in range(0, len(data), 3)]


def look_up_all(index, pairs):
    """Find the row of each pair, and its slot, by the words of the documentation."""
    slots = words(index)
    n_merges = sum(slot != EMPTY for slot in slots)
    bits = 1
    while n_merges > 5 * 2**bits:
        bits += 1
    for left, right in pairs:
        hashed = (2**36 + left * 2**18 + right) * index.seed % 2**64
        mixed = hashed // 2**32 ^ hashed % 2**32
        multiplier = int(index.multipliers[hashed // 2 ** (64 - bits)])
        place = mixed * multiplier % 2**32 * len(slots) // 2**32
        agrees = slots[place] >> 18 == hashed // 2 ** (58 - bits) % 64
        yield (slots[place] % 2**18 if agrees else None), place


def columns(pairs):
    left, right = np.array(pairs, dtype=np.uint32).reshape(-1, 2).T
    return left, right


def some_pairs(count, seed=1, most=2**18):
    chance = random.Random(seed)
    return list({(chance.randrange(most), chance.randrange(most)) for _ in range(count)})


@pytest.mark.parametrize("count", [0, 1, 2, 3, 9, 10, 11, 48, 49, 50, 300, 2_000])
def test_every_pair_has_a_slot_of_its_own(count):
    pairs = some_pairs(count)
    index = perfect_index.build(*columns(pairs))
    assert len(index.slots) == count + count // 49 + 1
    assert set(index.multipliers % 2) == {1}
    found = list(look_up_all(index, pairs))
    assert [row for row, _ in found] == list(range(count))
    assert len({place for _, place in found}) == count
    assert words(index).count(EMPTY) == len(index.slots) - count


@pytest.mark.parametrize(
    "pairs",
    [
        [(0, 0), (0, 1), (1, 0)],
        [(left, 5) for left in range(3_000)],
        [(7, right) for right in range(3_000)],
        [(number, number) for number in range(3_000)],
        [(2**18 - 1 - number, 2**18 - 1) for number in range(3_000)],
        [(left << 9, right << 9) for left in range(50) for right in range(50)],
    ],
)
def test_pairs_with_a_pattern(pairs):
    index = perfect_index.build(*columns(pairs))
    assert [row for row, _ in look_up_all(index, pairs)] == list(range(len(pairs)))


def test_the_reader_finds_the_same():
    pairs = some_pairs(2_000, seed=2)
    index = perfect_index.build(*columns(pairs))
    finder = perfect_index.Finder(index.multipliers.tobytes(), index.slots.tobytes(), len(pairs), index.seed)
    others = some_pairs(4_000, seed=3)
    for pair, (row, _) in zip([*pairs, *others], look_up_all(index, [*pairs, *others]), strict=True):
        assert finder.row_of(*pair) == (None if row == EMPTY else row)
    # Of pairs that are not there one in 64 has the check of the slot it comes to.
    assert 20 < sum(finder.row_of(*pair) is not None for pair in others) < 120


def test_multipliers_are_found_in_order_and_the_same_again():
    pairs = some_pairs(500, seed=4)
    index = perfect_index.build(*columns(pairs))
    again = perfect_index.build(*columns(pairs))
    assert index.seed == again.seed == FIRST_SEED
    assert index.multipliers.tobytes() == again.multipliers.tobytes()
    assert index.slots.tobytes() == again.slots.tobytes()
    assert perfect_index.build(*columns(pairs[::-1])).slots.tobytes() != index.slots.tobytes()


def test_a_seed_that_does_not_serve():
    """Two pairs of the same hash, which no multiplier parts: here because they are the same pair."""
    same = np.array([[3, 3], [4, 4]], dtype=np.uint32)
    assert perfect_index.arrange(*same, FIRST_SEED) is None
    assert refusal(perfect_index.build, *same) == (
        "pair_multipliers: expected a hash seed and multipliers that send each pair to a slot of its own, "
        "found none among 20 seeds"
    )


def test_the_real_merges(qwen3_tables):
    merges = qwen3_tables.vocabulary.merges
    index = perfect_index.build(merges.left, merges.right)
    assert (len(index.multipliers), len(index.slots)) == (32_768, 154_477)
    finder = perfect_index.Finder(
        index.multipliers.tobytes(), index.slots.tobytes(), len(merges.left), index.seed
    )
    rows = [*range(0, 151_387, 5), 151_386]
    assert [finder.row_of(int(merges.left[row]), int(merges.right[row])) for row in rows] == rows
