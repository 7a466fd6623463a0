"""Work is bounded for each byte of a text, whatever the text: steps are counted, not time.

The library counts one step for each turn of each loop (`Q25_NL_COUNT_STEPS`). Merging takes as many as the
logarithm of the piece; at a byte with which special tokens begin, each of them takes at most one more
than it has bytes.
"""

from __future__ import annotations

import random

import pytest
from firmware_driver import ENOUGH, OK, REPLACE, Requests
from small_vocabulary import USER_DEFINED, grown

from formats.q25tokrt.image import open_image
from formats.q25tokrt.layout import Profile

MEBIBYTE = 1 << 20

STEPS = 40
"""For each byte, at 1 MiB; the most that was seen is 33 where no special token begins, and 44 for U+1D160,
whose four bytes are twelve after NFC."""

WITH_A_TRIE, WITH_NOTHING_KEPT = 130, 250
"""A tab before blanks takes the most: 118 where all that fits is kept, 241 where nothing is."""
EXPANDING = 60
AT_A_SPECIAL = 60
"""More where a special token may begin: Qwen3 has 26 of them, told apart by their second byte."""

RUNS = [
    "a", "ab", " ", "\n", "\t", "\r\n ", " \n", "1", "!", "=", "/", "-", "#", "'", "'s", "x'", "\u0301",
    "\u0345\u0300\u0316\u0334",
    "\u4e2d", "\U0001f600", "e\u0301", "\uac00", "\u1100\u1161", "\u1161", "\u09c7\u09be", "\u3042\u3099",
    "\n\u0301", "a\u0301\n", "\u0301\n", "\u0958 ", "|>",
    "\t" + " " * 120 + "\n",
]  # fmt: skip

SPECIAL_RUNS = ["<", "<|", "<|im_end|", "</tool_call", "<|im_start|>", "<think>e\u0301", "<\n"]


def counted(driver, image, texts, flags=2, scratch=ENOUGH):
    requests = Requests()
    for text in texts:
        requests.encode(text, flags, scratch=scratch)
    answers = driver("counting", image).run(requests)
    assert all(answer.status == OK and answer.steps for answer in answers)
    return [answer.steps / len(text) for text, answer in zip(texts, answers, strict=True)]


def repeated(part, size):
    data = part.encode()
    return data * (size // len(data))


@pytest.mark.parametrize(
    ("parts", "bound", "size"),
    [
        (["a", " ", "=", "\u0301", "\u4e2d"], STEPS, MEBIBYTE),
        (["<", "<|"], STEPS + AT_A_SPECIAL, MEBIBYTE),
        (["\U0001d160", "\u0344"], EXPANDING, MEBIBYTE),
        (RUNS, STEPS, MEBIBYTE // 16),
        (SPECIAL_RUNS, STEPS + AT_A_SPECIAL, MEBIBYTE // 16),
        pytest.param(RUNS, STEPS, MEBIBYTE, marks=pytest.mark.long),
        pytest.param(SPECIAL_RUNS, STEPS + AT_A_SPECIAL, MEBIBYTE, marks=pytest.mark.long),
    ],
)
def test_runs_of_one_thing(driver, qwen3_image, parts, bound, size):
    steps = counted(driver, qwen3_image, [repeated(part, size) for part in parts])
    if open_image(qwen3_image.read_bytes()).profile is Profile.FAST:
        bound = max(bound, WITH_A_TRIE)
    assert max(steps) < bound, dict(zip(parts, steps, strict=True))


def test_with_a_trie_and_little_scratch(driver, qwen_fast_image):
    """So that next to nothing is kept: a bit for each byte is all that is needed."""
    size = MEBIBYTE // 16
    texts = [part for part in RUNS if part.isascii()]
    steps = counted(driver, qwen_fast_image, [repeated(part, size) for part in texts], scratch=size // 8 + 64)
    assert max(steps) < WITH_NOTHING_KEPT, dict(zip(texts, steps, strict=True))


def test_random_text(driver, qwen3_image):
    chance = random.Random(121)
    marks = "\u0300\u0316\u0334\u0345\u0301\u0327\u0338"
    texts = [
        "".join(chance.choices("etaoinshr", k=100_000)),
        "".join(chance.choices("etaoinshr", k=MEBIBYTE)),
        "".join(chance.choices(marks, k=MEBIBYTE // 2)),
        "".join(map(chr, (chance.randrange(0x4E00, 0x9FA5) for _ in range(MEBIBYTE // 3)))),
    ]
    random_bytes = [
        chance.randbytes(MEBIBYTE),
        b"\xff" * (MEBIBYTE // 4),
        bytes(chance.choices(b"\xe1\x80a\n", k=MEBIBYTE)),
    ]
    assert max(counted(driver, qwen3_image, [text.encode() for text in texts])) < STEPS
    assert (
        max(counted(driver, qwen3_image, random_bytes, 2 | REPLACE)) < EXPANDING * 3
    )  # a byte becomes three


def test_steps_grow_with_the_logarithm_only(driver, qwen3_image):
    for part in ("a", " ", "\u0301", "\u4e2d"):
        small, large = counted(driver, qwen3_image, [repeated(part, 1 << 12), repeated(part, 1 << 18)])
        assert large < 2 * small


def test_a_short_text_costs_little(driver, qwen3_image):
    """What is set up for a text is in proportion to it."""
    requests = Requests()
    for size in (0, 1, 10, 100, 1_000):
        requests.encode("x " * (size // 2), 2)
    answers = driver("counting", qwen3_image).run(requests)
    assert [
        answer.steps < 40 + 10 * size for answer, size in zip(answers, (0, 1, 10, 100, 1_000), strict=True)
    ] == [True] * 5


def test_many_specials_that_begin_alike(driver):
    """At each place each special takes at most one step more than it has bytes."""
    added = [("<" + "a" * size + "b", USER_DEFINED) for size in range(60)]
    vocabulary = grown("a|a", added=added)
    total = sum(len(text) for text, _ in added)
    requests = Requests()
    requests.set_image(vocabulary.image())
    text = "<" * 20_000 + ("<" + "a" * 70) * 300
    requests.encode(text)
    _, answer = driver("counting").run(requests)
    assert answer.status == OK
    assert answer.steps < (total + len(added)) * text.count("<") + STEPS * len(text)
