"""The merge-pair index against a plain implementation, and look-ups of merges that are there or not."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal
from small_vocabulary import NORMAL, SmallVocabulary

from formats.q25tokrt import pair_index
from formats.q25tokrt.image import open_image
from formats.q25tokrt.layout import MAX_PROBE, Kind
from formats.q25tokrt.pair_index import FIRST_SEED, arrange, build, home_bits, pair_hash, row_of
from formats.q25tokrt.verify import verify_image
from pipeline.bpe.image_tables import ImageTables


def hash_of(left, right, seed):
    """Hash a pair by the format's own words."""
    x = (left << 32 | right) * seed % 2**64
    x ^= x >> 32
    return x * 0xD6E8FEB86659FD93 % 2**64 >> 32


def by_definition(pairs, seed):
    """Sort by (home, row), give each the first free slot at or after its home: slots and longest probe."""
    bits = 0
    while len(pairs) > 0.6 * 2**bits:
        bits += 1
    hashes = [hash_of(left, right, seed) for left, right in pairs]
    homes = [hashed % 2**bits for hashed in hashes]
    taken = {}
    for row in sorted(range(len(pairs)), key=lambda row: (homes[row], row)):
        slot = homes[row]
        while slot in taken:
            slot += 1
        taken[slot] = row
    size = max(2**bits, -(-(max(taken, default=-1) + 2) // 16) * 16)
    slots = [0] * size
    for slot, row in taken.items():
        slots[slot] = hashes[row] >> 18 << 18 | row + 1
    probe = max((slot - homes[row] + 1 for slot, row in taken.items()), default=1)
    return slots, probe


def columns(pairs):
    table = np.array(pairs, np.uint32).reshape(-1, 2)
    return table[:, 0], table[:, 1]


IDS = st.one_of(st.integers(0, 40), st.integers(0, 151_935), st.integers(0, 2**32 - 1))
PAIRS = st.lists(st.tuples(IDS, IDS), max_size=60, unique=True)
SEEDS = st.one_of(st.just(FIRST_SEED), st.integers(0, 2**63 - 1).map(lambda n: 2 * n + 1))


@given(pairs=PAIRS, seed=SEEDS)
def test_the_arrangement_is_the_one_of_the_definition(pairs, seed):
    index = arrange(*columns(pairs), seed)
    slots, probe = by_definition(pairs, seed)
    assert index.slots.tolist() == slots
    assert (index.max_probe, index.seed) == (probe, seed)
    assert index.slots.dtype == np.dtype("<u4")


def test_the_arrangement_of_the_real_merges(qwen3_tables):
    merges = qwen3_tables.vocabulary.merges
    pairs = list(zip(merges.left.tolist(), merges.right.tolist(), strict=True))
    index = build(merges.left, merges.right)
    slots, probe = by_definition(pairs, index.seed)
    assert index.slots.tolist() == slots
    assert index.max_probe == probe == 12
    assert len(slots) == 262_160


@pytest.mark.parametrize(
    ("n_merges", "bits"),
    [
        (0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (5, 4), (38, 6), (39, 7),
        (151_387, 18), (157_286, 18), (157_287, 19), (262_142, 19),
    ],
)  # fmt: skip
def test_home_slots_are_loaded_to_six_tenths_at_most(n_merges, bits):
    assert home_bits(n_merges) == bits
    assert n_merges <= 0.6 * 2**bits
    assert bits == 0 or n_merges > 0.6 * 2 ** (bits - 1)


@given(left=st.integers(0, 2**32 - 1), right=st.integers(0, 2**32 - 1), seed=SEEDS)
def test_the_hash_of_one_pair_is_that_of_a_column(left, right, seed):
    assert pair_hash(left, right, seed) == hash_of(left, right, seed) < 2**32


@pytest.mark.parametrize("dtype", [np.int64, np.uint32, np.int32, np.uint64])
def test_columns_of_any_integers_give_the_same(dtype):
    left, right = columns([(7, 9), (151_000, 3), (2**31 - 1, 0)])
    assert (
        arrange(left.astype(dtype), right.astype(dtype), 5).slots.tolist()
        == arrange(left, right, 5).slots.tolist()
    )


def test_no_merges():
    index = build(*columns([]))
    assert index.slots.tolist() == [0] * 16
    assert (index.max_probe, index.seed) == (1, FIRST_SEED)
    assert row_of(index.slots, 0, (1, 2), index.seed, index.max_probe) == []


@given(pairs=PAIRS.filter(bool), others=PAIRS)
def test_every_pair_is_found_and_no_other(pairs, others):
    index = build(*columns(pairs))
    bits = home_bits(len(pairs))
    for row, pair in enumerate(pairs):
        found = row_of(index.slots.tolist(), bits, pair, index.seed, index.max_probe)
        assert row in found
        # A fingerprint may agree by chance; the merge table's row tells.
        assert [at for at in found if pairs[at] == pair] == [row]
    for pair in set(others) - set(pairs):
        assert all(
            pairs[at] != pair for at in row_of(index.slots.tolist(), bits, pair, index.seed, index.max_probe)
        )


def test_every_real_merge_is_found_and_100_000_others_are_not(qwen3_tables):
    merges = qwen3_tables.vocabulary.merges
    tables = ImageTables(open_image(qwen3_tables.image()))
    known = {}
    for rank, (left, right, out) in enumerate(
        zip(merges.left.tolist(), merges.right.tolist(), merges.out.tolist(), strict=True)
    ):
        known[left, right] = rank
        assert tables.merge(left, right) == (rank, out)
    chance = random.Random(25)
    lefts, rights = list(known)[::2], [right for _, right in known]
    tried = 0
    while tried < 100_000:
        # Sides that do occur in merges are the ones an encoder asks for.
        pair = (chance.choice(lefts)[0], chance.choice(rights))
        if pair not in known:
            tried += 1
            assert tables.merge(*pair) is None


def test_no_look_up_is_longer_than_the_header_says(qwen3_tables):
    """Cut at max_probe - 1, one look-up at least fails; cut at max_probe, none does."""
    merges = qwen3_tables.vocabulary.merges
    index = build(merges.left, merges.right)
    bits, slots = home_bits(len(merges)), index.slots.tolist()
    positions = np.flatnonzero(index.slots)
    rows = (index.slots[positions] & (2**18 - 1)).astype(np.int64) - 1
    assert np.array_equal(np.sort(rows), np.arange(len(merges)))
    homes = [
        pair_hash(left, right, index.seed) % 2**bits
        for left, right in zip(merges.left[rows].tolist(), merges.right[rows].tolist(), strict=True)
    ]
    distance = positions - np.array(homes)
    assert (distance.min(), distance.max()) == (0, index.max_probe - 1)
    far = int(rows[np.argmax(distance)])
    pair = (int(merges.left[far]), int(merges.right[far]))
    assert far in row_of(slots, bits, pair, index.seed, index.max_probe)
    assert far not in row_of(slots, bits, pair, index.seed, index.max_probe - 1)


def test_the_last_slot_is_empty_so_that_a_look_up_ends():
    """Entries may fill the home slots to the very end; there is a tail behind them."""
    tails = set()
    for count in (0, 1, 2, 9, 150, 614):
        for seed in range(1, 100, 2):
            slots = arrange(*columns([(n, n + 1) for n in range(count)]), seed).slots
            assert slots[-1] == 0
            assert len(slots) % 16 == 0
            tails.add(len(slots) - 2 ** home_bits(count))
    assert 0 in tails
    assert 16 in tails


def test_an_empty_slot_is_no_row_though_a_fingerprint_may_be_zero():
    pair = next(
        (left, right)
        for left in range(600)
        for right in range(600)
        if hash_of(left, right, FIRST_SEED) >> 18 == 0
    )
    assert row_of([0] * 64, 2, pair, FIRST_SEED, 16) == []
    index = build(*columns([pair]))
    assert row_of(index.slots.tolist(), home_bits(1), pair, index.seed, index.max_probe) == [0]


# The seeds of the fixed sequence, by its own words.
def seeds(count):
    found = [0x9E3779B97F4A7C15]
    while len(found) < count:
        found.append((found[-1] * 0x5851F42D4C957F2D + 0x14057B7EF767814F) % 2**64 | 1)
    return found


def colliding(count, seed, n_merges, candidates):
    """Choose pairs that share a home under a seed, and fill up with others."""
    bits = home_bits(n_merges)
    together = [pair for pair in candidates if hash_of(*pair, seed) % 2**bits == 5][:count]
    assert len(together) == count
    others = [pair for pair in candidates if pair not in set(together)]
    return together + others[: n_merges - count]


BYTE_PAIRS = [(left, right) for left in range(256) for right in range(256)]


def test_a_crowded_home_makes_the_packer_take_the_next_seed():
    pairs = colliding(17, FIRST_SEED, 20, BYTE_PAIRS)
    assert arrange(*columns(pairs), FIRST_SEED).max_probe > MAX_PROBE
    index = build(*columns(pairs))
    assert index.seed == seeds(2)[1]
    assert index.max_probe <= MAX_PROBE
    assert (index.slots.tolist(), index.max_probe) == by_definition(pairs, index.seed)


def test_sixteen_in_one_home_are_still_fine():
    pairs = colliding(16, FIRST_SEED, 16, BYTE_PAIRS)
    index = build(*columns(pairs))
    assert (index.seed, index.max_probe) == (FIRST_SEED, 16)


def test_an_image_with_another_seed():
    """The whole way: packed, verified, and looked up with the header's seed."""
    pairs = colliding(17, FIRST_SEED, 20, BYTE_PAIRS)
    tokens = [(bytes([byte]), NORMAL) for byte in range(256)] + [(bytes(pair), NORMAL) for pair in pairs]
    merges = [(left, right, 256 + row) for row, (left, right) in enumerate(pairs)]
    image = verify_image(SmallVocabulary(tokens, merges).image())
    assert image.header.hash_seed == seeds(2)[1]
    tables = ImageTables(image)
    found = {pair: tables.merge(*pair) for pair in BYTE_PAIRS}
    assert {pair: merge for pair, merge in found.items() if merge is not None} == {
        (left, right): (rank, out) for rank, (left, right, out) in enumerate(merges)
    }


def test_two_crowded_seeds_in_a_row():
    """Pairs that collide under the first seed, and others that collide under the second."""
    first, second, third = seeds(3)
    bits = home_bits(34)
    one = [pair for pair in BYTE_PAIRS if hash_of(*pair, first) % 2**bits == 5][:17]
    other = [pair for pair in BYTE_PAIRS if hash_of(*pair, second) % 2**bits == 9 and pair not in one][:17]
    index = build(*columns(one + other))
    assert index.seed == third


def test_pairs_that_repeat_have_no_seed():
    """The merge table refuses them before; here every seed is tried and the end is one line."""
    pairs = [(1, 2)] * 17
    assert refusal(build, *columns(pairs)) == (
        "merge_pair_index: expected a hash seed with look-ups of at most 16 slots, found none among 1000"
    )


def test_more_merges_than_a_slot_numbers():
    ids = np.arange(262_143)
    assert refusal(build, ids, ids) == (
        "merge_pair_index: expected at most 262142 merges (a slot has 18 bits for the row), found 262143; "
        "the tables of ps_bundle can be made without an image"
    )
    index = build(ids[:-1], ids[:-1])
    assert index.slots.max() < 2**32
    assert np.count_nonzero(index.slots) == pair_index.MAX_MERGES == 262_142


def test_a_row_is_found_beside_others_of_its_fingerprint():
    """Two pairs of one home and one fingerprint: only the merge table tells them apart."""
    bits = home_bits(2)
    seen = {}
    for pair in ((left, right) for left in range(600) for right in range(600)):
        hashed = hash_of(*pair, FIRST_SEED)
        other = seen.setdefault((hashed % 2**bits, hashed >> 18), pair)
        if other != pair:
            break
    index = build(*columns([other, pair]))
    slots = index.slots.tolist()
    assert row_of(slots, bits, other, index.seed, index.max_probe) == [0, 1]
    assert row_of(slots, bits, pair, index.seed, index.max_probe) == [0, 1]
    assert index.slots.tobytes() == bytes(
        open_image(SmallVocabulary([(b"", NORMAL)] * 600, [(*other, 0), (*pair, 0)]).image())
        .sections[Kind.MERGE_PAIR_INDEX]
        .data
    )


@pytest.mark.parametrize("side", [0, 1])
def test_a_pair_that_shares_home_fingerprint_and_one_side_with_a_merge_is_none(side):
    seen = {}
    for number in range(600):
        pair = (7, number) if side == 0 else (number, 7)
        hashed = hash_of(*pair, FIRST_SEED)
        known = seen.setdefault((hashed % 2 ** home_bits(1), hashed >> 18), pair)
        if known != pair:
            break
    assert known != pair
    image = verify_image(SmallVocabulary([(b"", NORMAL)] * 600, [(*known, 0)]).image())
    assert ImageTables(image).merge(*known) == (0, 0)
    assert ImageTables(image).merge(*pair) is None
