"""The C libraries give the ids that are known, and those of the Python models of the engines."""

from __future__ import annotations

import random

import pytest
from bpe_texts import nasty_texts, real_texts
from engines_driver import DOCUMENTED, ENOUGH, GREEDY, LAYOUTS, NONE, VARIANTS, Requests

from formats import tokenizer_bin, vocab_bin
from pipeline.engines import greedy
from pipeline.engines.tokenizer_bin import TokenizerBinEngine

KINDS = ["gcc", "sanitized", "aarch64"]
NAMES = {"engine": "base", "A": "A", "AB": "AB", "specials_first": "specials_first"}
"""The variants by the names that the known sequences have for them."""


@pytest.mark.parametrize("kind", KINDS)
def test_known_ids_of_the_greedy_encoder(driver, vocab_file, probes, kind):
    cases = [(probe["text"], NAMES[name], probe[name]) for probe in probes for name in NAMES if name in probe]
    requests = Requests()
    requests.open(GREEDY, vocab_file)
    for text, variant, _ in cases:
        requests.encode(GREEDY, text, VARIANTS[variant])
    opened, *found = driver(kind).run(requests)
    assert opened.status == 0, opened
    assert [answer.ids for answer in found] == [ids for *_, ids in cases]
    assert len(cases) == 46


def random_texts(count, seed):
    """Strings of characters and of bytes."""
    chance = random.Random(seed)
    for number, text in enumerate(nasty_texts(count, seed)):
        yield chance.randbytes(chance.randint(0, 24)) if number % 8 == 0 else text.encode()


def all_texts(probes, seed, count):
    """The texts whose ids are known, paragraphs of real text, every byte in front of others, and random strings."""
    every_byte = [bytes([byte]) for byte in range(256)]
    return [
        b"",
        *(before + byte + b"ab 12" for before in (b"", b"ab", b" ", b"'") for byte in every_byte),
        *(probe["text"].encode() for probe in probes),
        *(text[:3_000].encode() for text in real_texts().values()),
        *random_texts(count, seed),
    ]


COUNTS = [2_000, pytest.param(100_000, marks=pytest.mark.long)]


@pytest.fixture(scope="module")
def models(vocab_file):
    entries = vocab_bin.read(vocab_file)
    encoder = greedy.GreedyEncoder(entries)
    return {name: encoder.with_rules(rules) for name, rules in greedy.VARIANTS.items()}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("count", COUNTS)
def test_the_greedy_encoder_and_its_model(driver, vocab_file, probes, models, variant, count):
    texts = all_texts(probes, 171, count)
    expected = [models[variant].encode(text) for text in texts]
    requests = Requests()
    requests.open(GREEDY, vocab_file)
    for text, ids in zip(texts, expected, strict=True):
        requests.encode(GREEDY, text, VARIANTS[variant])
        requests.decode(GREEDY, ids)
    answers = driver().run(requests)
    for text, ids, encoded, decoded in zip(texts, expected, answers[1::2], answers[2::2], strict=True):
        assert (encoded.status, encoded.intact, encoded.ids) == (0, 1, ids), text
        assert (decoded.status, decoded.intact) == (0, 1)
        assert decoded.text == models[variant].decode(ids)


def test_the_variants_are_those_of_the_model():
    assert set(VARIANTS) == set(greedy.VARIANTS)


@pytest.mark.parametrize("count", COUNTS)
def test_the_engine_of_tokenizer_bin_and_its_model(driver, layout, tokenizer_file, probes, count):
    model = TokenizerBinEngine(tokenizer_bin.read(tokenizer_file, layout))
    engine = LAYOUTS[layout]
    texts = all_texts(probes, 172, count)
    chance = random.Random(173)
    bos = [chance.choice([None, 151_643, 0]) for _ in texts]
    expected = [model.encode(text, bos_id) for text, bos_id in zip(texts, bos, strict=True)]
    requests = Requests()
    requests.open(engine, tokenizer_file)
    for text, bos_id, ids in zip(texts, bos, expected, strict=True):
        requests.encode(engine, text, NONE if bos_id is None else bos_id)
        requests.decode(engine, ids)
    answers = driver().run(requests)
    assert answers[0].status == 0, answers[0]
    for text, ids, encoded, decoded in zip(texts, expected, answers[1::2], answers[2::2], strict=True):
        assert (encoded.status, encoded.intact, encoded.ids) == (0, 1, ids), text
        assert (decoded.status, decoded.intact) == (0, 1)
        assert decoded.text == model.decode(ids)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_other_builds_give_the_same(driver, vocab_file, probes, layout, tokenizer_file, kind):
    texts = all_texts(probes, 174, 200)
    engine = LAYOUTS[layout]
    requests = Requests()
    requests.open(GREEDY, vocab_file)
    requests.open(engine, tokenizer_file)
    for text in texts:
        requests.encode(GREEDY, text, VARIANTS["base"])
        requests.encode(GREEDY, text, VARIANTS["specials_first"])
        requests.encode(engine, text)
    requests.decode(GREEDY, range(151_669))
    requests.decode(engine, range(151_936))
    assert driver(kind).run(requests) == driver().run(requests)


@pytest.mark.parametrize("stride", [19, pytest.param(1, marks=pytest.mark.long)])
def test_tokens_decode_as_the_model_says(driver, vocab_file, layout, tokenizer_file, models, stride):
    model, engine = TokenizerBinEngine(tokenizer_bin.read(tokenizer_file, layout)), LAYOUTS[layout]
    entries = [*range(0, 151_600, stride), *range(151_600, 151_669)]
    tokens = [*entries, *range(151_669, 151_936)]
    requests = Requests()
    requests.open(GREEDY, vocab_file)
    requests.open(engine, tokenizer_file)
    for token in entries:
        requests.decode(GREEDY, [token])
    for token in tokens:
        requests.decode(engine, [token])
    found = [answer.text for answer in driver().run(requests)[2:]]
    assert found[: len(entries)] == [models["base"].decode([token]) for token in entries]
    assert found[len(entries) :] == [model.decode([token]) for token in tokens]


def test_every_string_is_found(driver):
    from real_models import RealTables

    texts = list(RealTables.of("qwen3").vocabulary.texts)
    requests = Requests()
    requests.open(DOCUMENTED, RealTables.of("qwen3").tokenizer_bin("documented"))
    for text in [*texts, b"", b"<|im_start", "Ġabsolutelyno".encode()]:
        requests.find(DOCUMENTED, text)
    assert driver().run(requests)[1:] == [*range(len(texts)), NONE, NONE, NONE]


@pytest.mark.parametrize("capacity", [0, 1, 5, 11, 12, ENOUGH])
@pytest.mark.parametrize("kind", ["gcc", "sanitized"])
def test_too_little_room(driver, vocab_file, layout, tokenizer_file, kind, capacity):
    """What fits is written, and how much all takes is known."""
    engine, text = LAYOUTS[layout], b"one two three four five six seven eight nine ten 11"
    requests = Requests()
    requests.open(GREEDY, vocab_file)
    requests.open(engine, tokenizer_file)
    for which in (GREEDY, engine):
        requests.encode(which, text)
        requests.encode(which, text, capacity=capacity)
    _, _, *answers = driver(kind).run(requests)
    for full, some in zip(answers[::2], answers[1::2], strict=True):
        room = min(capacity, len(full.ids))
        assert (full.status, some.status) == (0, 3 if room < len(full.ids) else 0)
        assert (some.n_ids, some.ids, some.intact) == (full.n_ids, full.ids[:room], 1)

    requests = Requests()
    requests.open(GREEDY, vocab_file)
    requests.open(engine, tokenizer_file)
    for which, full in zip((GREEDY, engine), answers[::2], strict=True):
        requests.decode(which, full.ids)
        requests.decode(which, full.ids, capacity)
        requests.decode(which, [*full.ids, 151_936])
    _, _, *answers = driver(kind).run(requests)
    for full, some, wrong in zip(answers[::3], answers[1::3], answers[2::3], strict=True):
        room = min(capacity, len(full.text))
        assert (full.status, some.status) == (0, 3 if room < len(full.text) else 0)
        assert (some.n_bytes, some.text, some.intact) == (full.n_bytes, full.text[:room], 1)
        assert (wrong.status, wrong.n_read) == (5 if wrong is answers[2] else 6, full.n_read)
