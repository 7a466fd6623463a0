"""How much work a text may make: no loop is quadratic, counted in steps of the inner loops."""

from __future__ import annotations

import math

import pytest
from engine_files import tokenizer_file, vocab_file
from engines_driver import DOCUMENTED, GREEDY, VARIANTS, Requests
from real_models import RealTables

UNITS = [
    b"a", b" a", b"=", b"ab", b"<", b"\n", b"<|im_start|", b"-", b" ", b"\0", b" -", "的".encode(),
    ("Ġ" * 127 + "-").encode(), b"=" * 127 + b"\0", b"<|im_start|>", b"the ", b"'s", b"\xff",
]  # fmt: skip
BYTES = 30_000
GREEDY_STEPS = 40
"""For each byte of a text, with Qwen's vocabulary."""
MERGE_STEPS = 4
"""For each byte of a piece and each doubling of its length."""


def test_steps_with_a_real_vocabulary(driver, vocab_file):
    """Twice the text takes twice the steps, and not many."""
    texts = [unit * (size // len(unit)) for size in (BYTES, 2 * BYTES) for unit in UNITS]
    requests = Requests()
    requests.open(GREEDY, vocab_file)
    requests.open(DOCUMENTED, RealTables.of("qwen3").tokenizer_bin("documented"))
    for text in texts:
        for flags in VARIANTS.values():
            requests.encode(GREEDY, text, flags)
        requests.encode(DOCUMENTED, text)
    answers = driver("counting").run(requests)[2:]
    assert {answer.status for answer in answers} == {0}
    half = len(answers) // 2
    for once, twice in zip(answers[:half], answers[half:], strict=True):
        assert twice.steps <= 2.2 * once.steps + 100
    for text in texts:
        for _ in VARIANTS:
            assert answers.pop(0).steps <= GREEDY_STEPS * len(text)
        assert answers.pop(0).steps <= MERGE_STEPS * math.log2(len(text)) * len(text)


@pytest.mark.parametrize("longest", [60, 500, 3_000])
def test_a_vocabulary_made_to_be_slow(driver, longest):
    """Every place begins a long entry that does not fit in the end, or one of every length: the stated bound holds."""
    near = [b"!", b"a", b"a" * longest + b"b", *(b"a" * 40 + b"c" * length for length in range(1, 60))]
    chain = [b"a" * length for length in range(1, longest)] + [b"a" * (longest + 100) + b"b"]
    for texts in (near, chain):
        requests = Requests()
        requests.open(GREEDY, vocab_file(*texts))
        requests.encode(GREEDY, b"a" * 20_000)
        _, encoded = driver("counting").run(requests)
        comparisons, most = len(texts).bit_length(), max(map(len, texts)) + 1
        assert encoded.n_ids > 20_000 // most
        assert encoded.steps <= encoded.n_ids * (comparisons * most + most)


def test_a_long_word_that_merges_to_the_end(driver):
    """2^16 letters become one token by 2^16 - 1 merges."""
    texts = [b"a" * 2**power for power in range(17)]
    file = tokenizer_file("documented", texts, [(power, power) for power in range(16)])
    requests = Requests()
    requests.open(DOCUMENTED, file)
    requests.encode(DOCUMENTED, b"a" * 2**16)
    requests.encode(DOCUMENTED, b"a" * (2**16 - 1))
    opened, even, odd = driver("counting").run(requests)
    assert opened.status == 0
    assert even.ids == [16]
    assert odd.ids == list(range(15, -1, -1))
    assert max(even.steps, odd.steps) <= MERGE_STEPS * 16 * 2**16
