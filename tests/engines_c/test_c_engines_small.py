"""Random vocabularies: the C libraries, the Python models and the reference library agree on every text."""

from __future__ import annotations

import random

import pytest
from bpe_texts import nasty_texts
from engine_files import tokenizer_file, vocab_file
from engine_oracles import ASCII_PIECES, library
from engines_driver import (
    DOCUMENTED,
    GREEDY,
    LAYOUTS,
    LONE_SPACE,
    NEWLINE_RUNS,
    NONE,
    SPACE_AT_START,
    SPECIALS,
    Requests,
)

from formats import tokenizer_bin, vocab_bin
from pipeline.engines.greedy import SPECIALS_FIRST, GreedyEncoder, GreedyRules
from pipeline.engines.tokenizer_bin import TokenizerBinEngine

COUNTS = [150, pytest.param(5_000, marks=pytest.mark.long)]

ENTRY_PARTS = ["a", "b", "c", "Ġ", "Ċ", "<", "<think>", "</think>", "k>", "ā", "中", "\t", " ", "\n", "\x00"]
TEXT_PARTS = [*ENTRY_PARTS, " ", " ", "\n", "\n\n\n\n\n\n\n\n\n\n", "<|im_end|>", "<|im_", "</", " a"]


def rules_of(flags):
    return GreedyRules(
        blank_needs_token=not flags & SPACE_AT_START,
        lone_blank=bool(flags & LONE_SPACE),
        specials=SPECIALS_FIRST if flags & SPECIALS else (),
        newline_run=8 if flags & NEWLINE_RUNS else 1,
    )


def random_entries(chance):
    """Texts of few characters or any bytes, some of them equal, empty, special, or very long."""
    made = []
    for _ in range(chance.randint(0, 40)):
        kind = chance.randrange(12)
        if kind == 0:
            made.append(chance.randbytes(chance.randint(0, 3)))
        elif kind == 1:
            made.append(("Ġ" + "a" * chance.randint(490, 520)).encode())
        elif kind == 2:
            made.append(("Ċ" * chance.randint(1, 10)).encode())
        elif kind == 3:
            made.append(chance.choice(SPECIALS_FIRST))
        else:
            made.append("".join(chance.choices(ENTRY_PARTS, k=chance.randint(0, 5))).encode())
    return made


def random_text(chance):
    if chance.randrange(10) == 0:
        return chance.randbytes(chance.randint(0, 20))
    if chance.randrange(10) == 0:
        return b"a " + b"a" * chance.randint(480, 1_100)
    return "".join(chance.choices(TEXT_PARTS, k=chance.randint(0, 30))).encode()


@pytest.mark.parametrize("kind", ["gcc", "sanitized"])
@pytest.mark.parametrize("count", COUNTS)
def test_the_greedy_encoder(driver, kind, count):
    """With every combination of flags, those of no published variant too."""
    chance = random.Random(201)
    requests, expected = Requests(), []
    for _ in range(count):
        file = vocab_file(*random_entries(chance))
        entries = vocab_bin.read(file)
        requests.open(GREEDY, file)
        expected.append(None)
        for flags in chance.sample(range(16), 5):
            text = random_text(chance)
            requests.encode(GREEDY, text, flags)
            expected.append((file, text, flags, GreedyEncoder(entries, rules_of(flags)).encode(text)))
    for case, answer in zip(expected, driver(kind).run(requests), strict=True):
        assert answer.status == 0
        if case is not None:
            *told, ids = case
            assert (answer.ids, answer.intact) == (ids, 1), told


BYTES = [*"abcdefs", " ", "\n", "1", "2", "'", "-", ".", "!"]
GLYPHS = {" ": "Ġ", "\n": "Ċ"}
CHARS = [
    *BYTES,
    "é",
    "中",
    "😀",
    "  ",
    "\t",
    "\x00",
    "\u017f",
    "\u3000",
    "'S",
    "'re",
    "'LL",
    "abab",
    "ĠĊ",
    "<s>",
]


def random_tokenizer(chance, *, lawful):
    """Give texts and merges; unless they are to be lawful, with what no trained vocabulary has."""
    texts = [GLYPHS.get(char, char) for char in BYTES]
    if not lawful:
        chance.shuffle(texts)
        del texts[: chance.randint(0, 4)]  # bytes without a token
    merges = []
    for _ in range(chance.randint(0, 40)):
        left, right = chance.choice(texts), chance.choice(texts)
        if lawful and left + right in texts:
            continue
        if lawful or chance.randrange(4):
            texts.append(left + right)  # otherwise the merge may make no token, or be there twice
        merges.append((left, right))
    if not lawful:
        texts += [*chance.choices(texts, k=3), "", "日本"]
        chance.shuffle(texts)
    ids = {text: token for token, text in reversed(list(enumerate(texts)))}
    return [text.encode() for text in texts], [(ids[left], ids[right]) for left, right in merges]


@pytest.mark.parametrize("kind", ["gcc", "sanitized"])
@pytest.mark.parametrize("count", COUNTS)
def test_the_engine_of_tokenizer_bin(driver, kind, count):
    chance = random.Random(202)
    requests, expected = Requests(), []
    for number in range(count):
        layout = chance.choice(sorted(LAYOUTS))
        texts, merges = random_tokenizer(chance, lawful=number % 3 == 0)
        added = sorted(chance.sample(range(len(texts)), min(2, len(texts))))
        file = tokenizer_file(layout, texts, merges, [(token, texts[token]) for token in added])
        model = TokenizerBinEngine(tokenizer_bin.read(file, layout))
        requests.open(LAYOUTS[layout], file)
        expected.append(None)
        for _ in range(4):
            text = "".join(chance.choices(CHARS, k=chance.randint(0, 60))).encode()
            if chance.randrange(8) == 0:
                text = chance.randbytes(20) + text[:-1]
            bos = chance.choice([None, chance.randrange(len(texts))])
            requests.encode(LAYOUTS[layout], text, NONE if bos is None else bos)
            ids = model.encode(text, bos)
            expected.append((file, text, bos, ids))
            requests.decode(LAYOUTS[layout], ids)
            expected.append(model.decode(ids))
    for case, answer in zip(expected, driver(kind).run(requests), strict=True):
        assert answer.status == 0
        if isinstance(case, bytes):
            assert answer.text == case
        elif case is not None:
            *told, ids = case
            assert (answer.ids, answer.intact) == (ids, 1), told


def test_merges_like_the_reference_library(driver, qwen3_tables):
    """The library, told the approximate pre-tokenizer's rule, gives the same ids with the real vocabulary."""
    made = qwen3_tables.vocabulary
    tokens = list(made.tokens)[:151_643]
    merges = list(
        zip(made.merges.left.tolist(), made.merges.right.tolist(), made.merges.out.tolist(), strict=True)
    )
    encode = library(tokens, merges, ASCII_PIECES)
    texts = list(nasty_texts(2_000, seed=203))
    requests = Requests()
    requests.open(DOCUMENTED, qwen3_tables.tokenizer_bin("documented"))
    for text in texts:
        requests.encode(DOCUMENTED, text)
    for text, answer in zip(texts, driver().run(requests)[1:], strict=True):
        assert answer.ids == encode(text), text
