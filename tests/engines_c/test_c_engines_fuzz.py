"""libFuzzer on the engines' C libraries for a while."""

from __future__ import annotations

import random

from engine_files import SMALL_VOCAB, small_tokenizer, tokenizer_file, vocab_file
from engines_build import GREEDY, HERE, TOKENIZER_BIN
from libfuzzer import SECONDS, build_target, fuzz

TEXTS = (b"", b"abc ab's <think> aa\n\n\n", b" ab .....", b"a" * 60, b"\xc3\xa9 \xff<|im_end|>12")


def seeds(files, choices):
    chance = random.Random(191)
    for file in files:
        for text in TEXTS:
            yield bytes([chance.choice(choices), chance.choice([0, 3, 200]), len(text)]) + text + file


def test_vocab_bin(workshop, tmp_path):
    target = build_target(workshop, HERE / "fuzz_greedy.c", GREEDY.source)
    fuzz(target, tmp_path, seeds([SMALL_VOCAB, vocab_file()], range(16)), SECONDS // 6, 2048)


def test_tokenizer_bin(workshop, tmp_path):
    target = build_target(workshop, HERE / "fuzz_tokenizer_bin.c", TOKENIZER_BIN.source)
    inputs = [
        *seeds([small_tokenizer("documented"), tokenizer_file("documented", [])], (0, 2, 128, 130)),
        *seeds([small_tokenizer("loader")], (1, 3, 129, 131)),
    ]
    fuzz(target, tmp_path, inputs, SECONDS // 6, 4096)
