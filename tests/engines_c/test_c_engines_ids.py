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


CAPACITIES = [ENOUGH, 0, 1, 5, 11, 12]


@pytest.mark.parametrize("kind", ["gcc", "sanitized"])
def test_too_little_room_for_ids(driver, vocab_file, layout, tokenizer_file, models, kind):
    """What fits is written, and how much all takes is known."""
    text = b"one two three four five six seven eight nine ten 11"
    model = TokenizerBinEngine(tokenizer_bin.read(tokenizer_file, layout))
    expected = {GREEDY: models["base"].encode(text), LAYOUTS[layout]: model.encode(text)}
    cases = [(engine, capacity) for engine in expected for capacity in CAPACITIES]
    requests = Requests()
    requests.open(GREEDY, vocab_file)
    requests.open(LAYOUTS[layout], tokenizer_file)
    for engine, capacity in cases:
        requests.encode(engine, text, capacity=capacity)
    for (engine, capacity), answer in zip(cases, driver(kind).run(requests)[2:], strict=True):
        ids = expected[engine]
        assert answer.status == (3 if capacity < len(ids) else 0), capacity
        assert (answer.n_ids, answer.ids, answer.intact) == (len(ids), ids[:capacity], 1), capacity


@pytest.mark.parametrize("kind", ["gcc", "sanitized"])
def test_too_little_room_for_text(driver, vocab_file, layout, tokenizer_file, kind):
    """The same; and an unknown id is refused at its index."""
    engine = LAYOUTS[layout]
    known = {
        GREEDY: ([9707, 1879, 0], "HelloĠworld!".encode(), 5),
        engine: ([9707, 1879, 0], b"Hello world!", 6),
    }
    cases = [(which, capacity) for which in known for capacity in CAPACITIES]
    requests = Requests()
    requests.open(GREEDY, vocab_file)
    requests.open(engine, tokenizer_file)
    for which, capacity in cases:
        requests.decode(which, known[which][0], capacity)
        requests.decode(which, [*known[which][0], 151_936])
    answers = driver(kind).run(requests)[2:]
    for (which, capacity), some, wrong in zip(cases, answers[::2], answers[1::2], strict=True):
        ids, text, unknown = known[which]
        assert some.status == (3 if capacity < len(text) else 0), capacity
        assert (some.n_bytes, some.text, some.intact) == (len(text), text[:capacity], 1), capacity
        assert (wrong.status, wrong.n_read) == (unknown, len(ids))
