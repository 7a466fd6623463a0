"""Too little scratch or output is said exactly, and nothing is written beyond either."""

from __future__ import annotations

import random

import pytest
from bpe_texts import nasty_texts
from firmware_driver import ENOUGH, OK, REPLACE, STATUS, Requests
from small_vocabulary import SmallVocabulary, grown

from formats.q25tokrt.image import open_image
from formats.q25tokrt.layout import Profile

KINDS = ["gcc", "sanitized"]
STATISTICS = ("n_ids", "n_merges", "n_bytes", "longest_piece", "scratch_needed", "error_offset")
ALL = 2 | REPLACE

TEXTS = [
    "Hello, world",
    "=" * 49,
    " " * 200,
    "e\u0301 a\u0327\u0301 \u212b",
    "\u1e69\u0323" * 30 + "\n" + "x" * 60,
    "\U0001d160" * 20,
    "\u0344" * 15,
    "\u0390\u0316\u0334" * 9,
    "<think>" + "\u0958" * 17 + "<|im_end|>" + "\uac00" * 20,
    "a\nb\u0301\nc\n" + "\u0301" * 40 + "\nd",
    "\u1100\u1161\u11a8" * 18,
]
BYTES = [b"\xff" * 60, b"a\xff\n" * 9 + b"b" * 80, b"\xe1\x80" * 30 + b"\n\xc3"]


def texts():
    chance = random.Random(111)
    some = [text.encode() for text in nasty_texts(30, seed=112, longest=90)]
    return [*(text.encode() for text in TEXTS), *BYTES, *some, *(chance.randbytes(70) for _ in range(6))]


@pytest.mark.parametrize("kind", KINDS)
def test_every_output_capacity(driver, qwen3_image, kind):
    has_all = open_image(qwen3_image.read_bytes()).profile is Profile.STANDARD
    whole, cut = Requests(), Requests()
    for text in texts():
        whole.encode(text, ALL)
    expected = driver(kind, qwen3_image).run(whole)
    for text, full in zip(texts(), expected, strict=True):
        assert full.status == OK
        for capacity in range(full.n_ids + 2):
            cut.encode(text, ALL, capacity=capacity)
    answers = iter(driver(kind, qwen3_image).run(cut))
    for full in expected:
        for capacity in range(full.n_ids + 2):
            found = next(answers)
            assert found.status == (OK if capacity >= full.n_ids else STATUS["OUTPUT_TOO_SMALL"])
            assert found.ids == full.ids[:capacity]
            assert found.intact
            # All statistics but the steps. With a trie, output that may be too small takes other scratch.
            kept = [name for name in STATISTICS if has_all or name != "scratch_needed"]
            assert [getattr(found, name) for name in kept] == [getattr(full, name) for name in kept]


@pytest.mark.parametrize("kind", KINDS)
def test_every_amount_of_scratch(driver, qwen3_image, kind):
    """Below what success says was needed it fails, with an amount that is enough; from there on it succeeds."""
    whole, cut, again = Requests(), Requests(), Requests()
    for text in texts():
        whole.encode(text, ALL)
    expected = driver(kind, qwen3_image).run(whole)
    amounts = []
    for text, full in zip(texts(), expected, strict=True):
        assert full.scratch_needed <= 29 * len(text) + 512
        step = 1 + full.scratch_needed // 400
        some = {*range(0, full.scratch_needed + 20, step), full.scratch_needed - 1, full.scratch_needed, 9000}
        amounts.append(sorted(amount for amount in some if amount >= 0))
        for amount in amounts[-1]:
            cut.encode(text, ALL, scratch=amount, scratch_skew=amount % 8)
    answers = driver(kind, qwen3_image).run(cut)
    wanted = []
    at = 0
    for text, full, some in zip(texts(), expected, amounts, strict=True):
        for amount, found in zip(some, answers[at : at + len(some)], strict=True):
            assert found.intact
            if amount < full.scratch_needed:
                assert (found.status, found.n_ids) == (STATUS["SCRATCH_TOO_SMALL"], 0)
                assert full.scratch_needed <= found.scratch_needed <= 29 * len(text) + 512
                again.encode(text, ALL, scratch=found.scratch_needed, scratch_skew=7)
                wanted.append(full.ids)
            else:
                assert (found.status, found.ids) == (OK, full.ids)
                assert found.scratch_needed == full.scratch_needed
        at += len(some)
    for found, ids in zip(driver(kind, qwen3_image).run(again), wanted, strict=True):
        assert (found.status, found.ids) == (OK, ids)


def test_scratch_is_reported_before_output(driver, qwen3_image):
    requests = Requests()
    for scratch, capacity in [(0, 0), (0, ENOUGH), (ENOUGH, 0), (ENOUGH, ENOUGH)]:
        requests.encode("e\u0301" * 100, scratch=scratch, capacity=capacity)
    answers = driver("sanitized", qwen3_image).run(requests)
    names = ["SCRATCH_TOO_SMALL", "SCRATCH_TOO_SMALL", "OUTPUT_TOO_SMALL", "OK"]
    assert [answer.status for answer in answers] == [STATUS[name] for name in names]
    assert answers[2].n_ids == answers[3].n_ids > 0


def test_ordinary_text_needs_no_scratch(driver, qwen3_image):
    texts = [
        "The quick brown fox",
        "x = {'a': [1, 2, 3]}\n",
        "\u4f60\u597d\uff0c\u4e16\u754c\u3002",
        "caf\xe9 \u0939\u093f\u0928\u094d\u0926\u0940",
        "",
    ]
    requests = Requests()
    for text in texts:
        requests.encode(text, scratch=0)
    for answer in driver("sanitized", qwen3_image).run(requests):
        assert (answer.status, answer.scratch_needed) == (OK, 0)


def test_a_text_that_is_nfc_is_not_copied(driver, standard_image):
    """What looks as if NFC might change it, but is left alone, is no reason for a copy."""
    texts = [
        "\u0301 abc",  # a mark without anything before it
        "a\u0316 b\u0334",  # a lower order, but of another character
        "a\u0316\U0001f600\u0334",
        "\u0915\u094d\u0937 \u05d0\u05b7 \u0628\u0650",
    ]
    lines = "a b\n" * 100
    requests = Requests()
    for text in [*texts, f"{lines}e\u0301", f"e\u0301\n{lines}"]:
        requests.encode(text, 2)
    *left_alone, last, first = driver("sanitized", standard_image).run(requests)
    assert [answer.scratch_needed for answer in left_alone] == [0, 0, 0, 0]
    assert 0 < last.scratch_needed < 100, "of a line, not of the text"
    assert 0 < first.scratch_needed < 100


def test_the_bound_holds_where_most_is_needed(driver):
    """One piece, thrice as long after NFC or replacement; each length, so that blocks fill up in every way."""
    vocabulary = grown("a|b")
    requests = Requests()
    requests.set_image(vocabulary.image())
    sizes = [*range(1, 120), *range(1_000, 1_030), 40_000]
    for size in sizes:
        requests.encode("\U0001d160" * size, ALL)
        requests.encode(b"\xff" * size, ALL)
        requests.encode("\u0344" * size, ALL)
        requests.scratch(size)
    _, *answers = driver("gcc").run(requests)
    for size, grown_marks, replaced, marks, bound in zip(sizes, *[iter(answers)] * 4, strict=False):
        assert bound == 29 * size + 512
        assert grown_marks.scratch_needed <= 29 * 4 * size + 512
        assert replaced.scratch_needed <= bound
        assert marks.scratch_needed <= 29 * 2 * size + 512
    assert replaced.scratch_needed > 28 * size


def test_more_scratch_changes_no_ids(driver, qwen3_image):
    """What is kept of merges and pieces lies in what is left over."""
    chance = random.Random(113)
    text = " ".join(
        chance.choices(["tokenizer", "the", "a", "\u4e2d\u6587", "x" * 60, "e\u0301", "\n1"], k=3_000)
    )
    amounts = [0, 100, 600, 1_000, 2_000, 5_000, 20_000, 66_000, 70_000, 200_000]
    requests = Requests()
    for scratch in amounts:
        requests.encode(text, scratch=scratch)
    answers = driver("sanitized", qwen3_image).run(requests)
    full = answers[-1]
    assert full.status == OK
    assert 600 < full.scratch_needed < 5_000
    for scratch, answer in zip(amounts, answers, strict=True):
        if scratch >= full.scratch_needed:
            assert (answer.status, answer.ids) == (OK, full.ids)
        else:
            assert answer.status == STATUS["SCRATCH_TOO_SMALL"]


def test_a_byte_without_a_token(driver):
    vocabulary = SmallVocabulary([(b"a", 1), (b"b", 1), (b"ab", 1)], [(0, 1, 2)])
    requests = Requests()
    requests.set_image(vocabulary.image())
    cases = [("aab", OK, 0), ("ab ab", "BYTE_WITHOUT_TOKEN", 2), ("ab\xe9", "BYTE_WITHOUT_TOKEN", 0)]
    cases += [("a" * 60 + "c", "BYTE_WITHOUT_TOKEN", 0), ("ab\na\u0301b", "BYTE_WITHOUT_TOKEN", 2)]
    for text, *_ in cases:
        requests.encode(text)
    _, *answers = driver("sanitized").run(requests)
    for (text, status, offset), answer in zip(cases, answers, strict=True):
        assert (answer.status, answer.error_offset) == (STATUS.get(status, OK), offset), text
    assert answers[0].ids == [0, 2]


def test_arguments_that_make_no_sense(driver, qwen3_image):
    requests = Requests()
    for flags in (3, 7, 8, 2**31, 2**32 - 1):
        requests.encode("a", flags)
        requests.detokenize([0], flags & ~3 or 4)
        requests.stream([], flags=2)
        requests.stream([0], flags=2)
    for encoded, decoded, no_ids, stream in zip(
        *[iter(driver("sanitized", qwen3_image).run(requests))] * 4, strict=True
    ):
        assert encoded.status == decoded.status == STATUS["BAD_ARGUMENT"]
        assert [shown.status for shown in no_ids] == [OK]
        assert [shown.status for shown in stream] == [STATUS["BAD_ARGUMENT"], OK]
