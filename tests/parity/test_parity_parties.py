"""Parties as they are and mended: unmended they are their engines, mended at every stage the reference."""

import random
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parity_parties import all_parties

from formats.q25tokrt.verify import verify_image
from pipeline.bpe.nfc import is_nfc, nfc
from pipeline.engines.greedy import SPECIALS_FIRST
from pipeline.parity.alignment import Cuts
from pipeline.parity.assembly import Assembly
from pipeline.parity.causes import Cause
from pipeline.parity.comparison import Count
from pipeline.parity.passage import Passage, Span

sys.path.append(str(Path(__file__).parents[1] / "bpe"))

from bpe_texts import nasty_texts, real_texts

KEYS = [
    "exact",
    "rank_bpe",
    "greedy_base",
    "greedy_A",
    "greedy_AB",
    "greedy_specials_first",
    "tokenizer_bin",
]
PIECES = [
    "a", "b", " ", "  ", "\n", "\t", "ā", "đ", "é", "e\u0301", "中国", "1", ".<", "<|im_end|>", "<think>", "'s", "Ġ",
]  # fmt: skip


def texts(count, seed):
    chance = random.Random(seed)
    mixed = ("".join(chance.choices(PIECES, k=chance.randint(1, 25))) for _ in range(count))
    return [*mixed, *nasty_texts(count, seed)]


def test_all_parties_are_there(parties):
    assert list(parties) == KEYS


@pytest.mark.parametrize("key", KEYS)
def test_unmended_a_trace_has_the_engines_ids(parties, key):
    party = parties[key]
    for text in texts(200, seed=91):
        assert [span.token for span in party.trace(text, frozenset())] == party.encode(text), ascii(text)


@pytest.mark.parametrize("key", KEYS)
def test_mended_at_every_stage_a_party_is_the_reference(assembly, parties, key):
    party = parties[key]
    found = texts(200, seed=92)
    for text, ids in zip(found, assembly.reference.encode_all(found), strict=True):
        assert [span.token for span in party.trace(text, frozenset(party.stages))] == ids, ascii(text)


@pytest.mark.parametrize("key", KEYS)
def test_a_stage_that_is_not_likely_changes_nothing(parties, key):
    party = parties[key]
    for text in texts(60, seed=93):
        plain = party.trace(text, frozenset())
        likely = party.likely(text)
        assert set(likely) <= set(party.stages)
        for stage in party.stages:
            if stage not in likely:
                assert party.trace(text, frozenset({stage})) == plain, (stage, ascii(text))


def test_parties_of_one_manner_trace_alike(parties):
    """Whatever is mended; and the variants often are of one manner, so that a difference is explained once."""
    chance = random.Random(97)
    stages = parties["greedy_base"].stages
    found = 0
    for text in texts(60, seed=97):
        by_manner = {}
        for party in parties.values():
            by_manner.setdefault(party.manner(text), []).append(party)
        for mended in (frozenset(), frozenset(chance.sample(stages, chance.randint(1, len(stages))))):
            for first, *others in by_manner.values():
                for other in others:
                    assert other.trace(text, mended) == first.trace(text, mended), (mended, ascii(text))
                    found += 1
    assert found > 60


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("ab", ["base A AB specials_first"]),
        ("a b\n", ["base A specials_first", "AB"]),
        (" ab", ["base specials_first", "A", "AB"]),
        ("a\n\nb", ["base A AB", "specials_first"]),
        ("<think>", ["base A AB", "specials_first"]),
        (" <think>", ["base", "A", "AB", "specials_first"]),
    ],
)
def test_the_manner_of_a_variant(parties, text, alike):
    manners = {}
    for key, party in parties.items():
        manners.setdefault(party.manner(text), []).append(key.removeprefix("greedy_"))
    assert [" ".join(keys) for keys in manners.values()] == ["exact", "rank_bpe", *alike, "tokenizer_bin"]


def test_nfc_makes_nothing_that_the_manner_depends_on():
    """No character but itself becomes a blank, a newline, or one of a special token."""
    looked_for = set(" \n") | set(b"".join(SPECIALS_FIRST).decode())
    changed = {
        char: nfc(char) for char in map(chr, (*range(0xD800), *range(0xE000, 0x30000))) if not is_nfc(char)
    }
    assert len(changed) > 1_000
    assert not [char for char, form in changed.items() if not looked_for.isdisjoint(form)]


@pytest.mark.parametrize("key", KEYS)
def test_tokens_lie_in_the_text_in_order(parties, key):
    party = parties[key]
    for text in texts(60, seed=94):
        size = len(text.encode())
        for mended in (frozenset(), frozenset(party.stages)):
            before = Span(0, 0, 0)
            for span in party.trace(text, mended):
                assert 0 <= before.start <= span.start <= span.end <= size
                assert before.end <= span.end
                before = span


def test_the_exact_encoder_equals_the_reference(assembly, parties):
    found = [*texts(1000, seed=95), *real_texts().values()]
    for text, ids in zip(found, assembly.reference.encode_all(found), strict=True):
        assert parties["exact"].encode(text) == ids, ascii(text)


def test_the_model_that_the_stages_are_of_equals_the_reference(assembly):
    found = texts(500, seed=96)
    for text, ids in zip(found, assembly.reference.encode_all(found), strict=True):
        assert assembly.exact.encode(text) == ids, ascii(text)


def test_a_passage_leads_back_to_the_text():
    text = "xe\u0301<s>\u212by"
    passage = Passage([("xe\u0301", None), ("<s>", 7), ("\u212by", None)], nfc=True)
    assert passage.data.decode() == "x\xe9<s>\xc5y"
    assert [part.start for part in passage.parts] == [0, 3, 6]
    size = len(text.encode())
    assert passage.span(1, 0, 1) == Span(1, 0, 1)
    assert passage.span(1, 1, 3) == Span(1, 1, 4)
    assert passage.span(1, 2, 3) == Span(1, 1, 4), "half of a changed part is all of it"
    assert passage.span(1, 3, 6) == Span(1, 4, 7)
    assert passage.span(1, 6, 8) == Span(1, 7, 10)
    assert passage.span(1, 8, 9) == Span(1, 10, size)
    assert Passage([], nfc=True).span(1, 0, 0) == Span(1, 0, 0)
    assert Passage([("e\u0301", None)], nfc=False).data == b"e\xcc\x81"


def spans(*words):
    """Make tokens from (id, text) that stand behind each other; None for text that got lost."""
    found, at = [], 0
    for token, text in words:
        if token is not None:
            found.append(Span(token, at, at + len(text)))
        at += len(text)
    return found


def regions(one, two, size):
    return [tuple(region) for region in Cuts(one, size).differences(Cuts(two, size))]


def test_alignment():
    one = spans((1, "ab"), (2, "c"), (3, "de"))
    assert regions(one, one, 5) == []
    assert regions(one, spans((1, "ab"), (4, "cd"), (5, "e")), 5) == [(2, 5, (2, 3), (4, 5))]
    assert regions(one, spans((9, "ab"), (2, "c"), (8, "de")), 5) == [(0, 2, (1,), (9,)), (3, 5, (3,), (8,))]
    assert regions(one, [], 5) == [(0, 5, (1, 2, 3), ())]


def test_alignment_of_what_got_lost():
    """It counts with the token behind it, and at the end it is a stretch of its own."""
    one = spans((1, "a"), (2, " "), (3, "b"), (2, " "))
    assert regions(one, spans((1, "a"), (None, " "), (3, "b"), (None, " ")), 4) == [
        (1, 3, (2, 3), (3,)),
        (3, 4, (2,), ()),
    ]
    assert regions(one, spans((1, "a"), (None, "  "), (2, " ")), 4) == [(1, 4, (2, 3, 2), (2,))]
    assert regions(spans((2, " "), (1, "a")), spans((None, " "), (1, "a")), 2) == [(0, 2, (2, 1), (1,))]


def test_tokens_that_share_a_changed_part_are_not_parted():
    one = [Span(1, 0, 3), Span(2, 0, 3), Span(3, 3, 4)]
    assert regions(one, [Span(1, 0, 1), Span(9, 1, 3), Span(3, 3, 4)], 4) == [(0, 3, (1, 2), (1, 9))]


IDS = st.lists(st.tuples(st.integers(1, 3), st.text("ab", min_size=1, max_size=3)), min_size=1, max_size=8)


@given(one=IDS, more=st.data())
def test_the_stretches_hold_exactly_what_differs(one, more):
    text = "".join(piece for _, piece in one)
    cuts = more.draw(st.sets(st.integers(1, max(len(text) - 1, 1)), max_size=6))
    places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    two = [(more.draw(st.integers(1, 3)), text[a:b]) for a, b in pairwise(places)]
    left, right = spans(*one), spans(*two)
    found = regions(left, right, len(text))
    for start, end, expected, other in found:
        assert expected != other
        assert [span.token for span in left if start <= span.start < end] == list(expected)
        assert [span.token for span in right if start <= span.start < end] == list(other)

    def outside(tokens):
        """List the ids that lie in no difference; cut otherwise, ids may still be the same."""
        return [
            span.token for span in tokens if not any(start <= span.start < end for start, end, *_ in found)
        ]

    assert outside(left) == outside(right)


def test_counts_add_up():
    one, two = Count(samples=1, equal=1, size=3), Count(samples=2, size=4)
    one.causes[Cause.SPECIAL] = 2
    total = sum([one, two], Count())
    assert (total.samples, total.equal, total.size, total.differences) == (3, 1, 7, 2)


def test_ids_that_the_model_does_not_have(assembly, parties):
    """A file of another model may hold such: they stand for nothing, and nothing breaks."""
    assert assembly.tables.token_bytes(10**6) == b""
    assert assembly.tables.token_type(10**6) == 5


def test_parties_of_another_model(qwen3_tables):
    """A small model's side, and Qwen's files: every id differs, and that is all that happens."""
    from small_models import small_assembly

    small = small_assembly()
    foreign = all_parties(
        small,
        verify_image(bytes(qwen3_tables.image()), "image"),
        qwen3_tables.vocab_bin().data,
        qwen3_tables.tokenizer_bin("loader"),
    )
    from parity_parties import outcomes

    found = outcomes(small, list(foreign.values()), "Hello world", "你好 <|im_end|> a\tb")
    for key in KEYS:
        assert found[key].total.equal == 0
        assert found[key].total.differences > 0
    assert isinstance(small, Assembly)
