"""libFuzzer on the C library for a while."""

from __future__ import annotations

import random

import pytest
from bpe_texts import nasty_texts, real_texts
from firmware_build import HERE, SOURCE
from libfuzzer import SECONDS, build_target, fuzz
from small_vocabulary import CONTROL, UNKNOWN, USER_DEFINED, grown

from formats.q25tokrt.layout import Profile

ADDED = [
    ("<s>", CONTROL),
    ("<u>", USER_DEFINED),
    ("<sx>", UNKNOWN),
    ("\ufffdx", CONTROL),
    ("\u0111", USER_DEFINED),
]
MERGES = ("a|b", "ab|c", "c|a", " |a", "a|a", "aa|aa", "1|1", "ab|ab", "'|s")


def images():
    few = b"abcdesx<>u '1\n\xc4\x91\xef\xbf\xbd\xcc\x81"
    yield grown(*MERGES[:3], added=ADDED[:3], byte_values=few).image(end_ids=(3,))
    yield grown(*MERGES, added=ADDED, pads=2).image(end_ids=(3,))
    yield grown(*MERGES, added=ADDED, pads=2).image(profile=Profile.FAST)
    yield grown(*MERGES, added=ADDED, pads=2).image(profile=Profile.COMPACT)
    yield grown("a|b", byte_values=b"ab").image(nfc=False, align=512)
    yield grown(byte_values=b"abc", added=[("abc", CONTROL), ("ab", USER_DEFINED)]).image(
        pre_name="deepseek-r1-qwen"
    )


def image_seeds():
    chance = random.Random(131)
    for image in images():
        for text in ("", "abc ab's <s> e\u0301\u0316 \u0958 <u>aa", "a" * 60, "\u1100\u1161\u0344\n\u0301"):
            data = text.encode()
            choices = bytes(
                [7, len(data), 0, 16, 100, 40, chance.choice([0, 1, 2, 6]), 3, *chance.randbytes(8)]
            )
            yield choices + data + image


def text_seeds():
    chance = random.Random(132)
    for text in [*nasty_texts(300, seed=133, longest=60), *(part[:300] for part in real_texts().values())]:
        yield chance.randbytes(8) + text.encode()


@pytest.fixture
def fuzzer(workshop):
    """Build a target by the name of its source."""
    return lambda name: build_target(workshop, HERE / name, SOURCE)


def test_hostile_images(fuzzer, tmp_path):
    fuzz(fuzzer("fuzz_image.c"), tmp_path, image_seeds(), SECONDS - SECONDS // 2, 8192)


@pytest.mark.parametrize("number", [1, 2, 3], ids=["standard", "fast", "compact"])
def test_hostile_text(fuzzer, tmp_path, number):
    image = tmp_path / "image"
    image.write_bytes(list(images())[number])
    fuzz(fuzzer("fuzz_text.c"), tmp_path, text_seeds(), SECONDS // 6, 2048, Q25_FUZZ_IMAGE=str(image))
