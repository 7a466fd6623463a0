"""Ids of the C library against the reference's."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from bpe_oracle import Oracle
from bpe_texts import in_contexts, nasty_texts, real_texts
from bpe_vocabulary import GOLDEN, ListTables
from firmware_driver import REPLACE, SPECIALS, STATUS, Requests
from small_vocabulary import CONTROL, UNKNOWN, USER_DEFINED, PlainTables, SmallVocabulary, grown
from tokenizers import normalizers

from formats.errors import FormatError
from formats.q25tokrt.layout import Profile
from pipeline.bpe.encoder import Encoder

SETTINGS = sorted(SPECIALS)
KINDS = ["gcc", "sanitized"]


def assert_same(texts, found, expected):
    for text, ids, wanted in zip(texts, found, expected, strict=True):
        assert ids == wanted, ascii(text)


def vectors():
    """Texts and ids that llama.cpp tests its own tokenizer with; it does no NFC."""
    texts = (GOLDEN / "ggml-vocab-qwen2.gguf.inp").read_bytes().decode().split("\n__ggml_vocab_test__\n")
    lines = (GOLDEN / "ggml-vocab-qwen2.gguf.out").read_text(encoding="ascii").splitlines()
    return texts[: len(lines)], [[int(word) for word in line.split()] for line in lines]


def probes():
    facts = json.loads((GOLDEN / "probes.json").read_text(encoding="utf-8"))
    known = facts["probes"] + facts["more_probes"]
    return [probe["text"] for probe in known], [probe["reference"] for probe in known]


@pytest.mark.parametrize("kind", [*KINDS, "aarch64"])
def test_known_ids(driver, each_image, qwen25_raw_image, oracles, kind):
    texts, ids = probes()
    assert_same(texts, driver(kind, each_image).encode_all(texts), ids)
    texts, ids = vectors()
    assert len(texts) == 46
    assert_same(texts, driver(kind, qwen25_raw_image).encode_all(texts), ids)
    assert_same(texts, driver(kind, each_image).encode_all(texts), oracles["all"].encode_all(texts))


@pytest.mark.parametrize("specials", SETTINGS)
@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKD"])
def test_real_texts(driver, each_image, oracles, specials, form):
    texts = [getattr(normalizers, form)().normalize_str(text) for text in real_texts().values()]
    found = driver("sanitized", each_image).encode_all(texts, SPECIALS[specials])
    assert_same(texts, found, oracles[specials].encode_all(texts))


@pytest.mark.parametrize(
    ("kind", "count", "specials"),
    [
        ("gcc", 20_000, "all"),
        ("gcc", 6_000, "user"),
        ("gcc", 6_000, "none"),
        *(("sanitized", 3_000, specials) for specials in SETTINGS),
        *(("aarch64", 800, specials) for specials in SETTINGS),
    ],
)
def test_random_texts(driver, each_image, oracles, specials, kind, count):
    texts = list(nasty_texts(count, seed=count, longest=48))
    found = driver(kind, each_image).encode_all(texts, SPECIALS[specials])
    assert_same(texts, found, oracles[specials].encode_all(texts))


@pytest.mark.parametrize("kind", KINDS)
def test_longer_random_texts(driver, each_image, oracles, kind):
    """Pieces beyond the short ones, and marks enough for their sort."""
    texts = list(nasty_texts(300, seed=81, longest=2_000))
    found = driver(kind, each_image).encode_all(texts)
    assert_same(texts, found, oracles["all"].encode_all(texts))


def test_code_points_in_contexts(driver, each_image, oracles):
    """Every code point below U+0600, and one in 211 of the others. All are in the long tests."""
    codes = [*range(0x600), *range(0x600, 0xD800, 211), *range(0xE000, 0x110000, 211)]
    texts = ["<think>".join(in_contexts(chr(code))) for code in codes]
    found = driver("gcc", each_image).encode_all(texts)
    assert_same(texts, found, oracles["all"].encode_all(texts))


def test_texts_at_any_address(driver, standard_image, oracles):
    """Eight bytes are read at once: where the text begins must not matter."""
    texts = ["x" * lead + "<think>\u0958 caf\u00e9 <|im_end|> e\u0301 \u4e2d\u6587" for lead in range(9)]
    expected = oracles["all"].encode_all(texts)
    for skew in range(8):
        requests = Requests()
        for text in texts:
            requests.encode(text, text_skew=skew, scratch_skew=skew)
        answers = driver("sanitized", standard_image).run(requests)
        assert_same(texts, [answer.ids for answer in answers], expected)


def test_statistics(driver, standard_image, qwen3):
    texts = ["", "a", "Hello world", "<|im_start|>user e\u0301 " + "=" * 100, "\u1e69" * 40, "\u0344" * 9]
    requests = Requests()
    for text in texts:
        requests.encode(text)
    for text, found in zip(texts, driver("gcc", standard_image).run(requests), strict=True):
        pieces = Encoder(qwen3).pieces(text)
        special = sum(piece.token >= 151643 for piece in pieces)
        size = sum(len(piece.data) for piece in pieces)
        special_bytes = sum(len(piece.data) for piece in pieces if piece.token >= 151643)
        assert found.n_ids == len(found.ids) == len(pieces)
        assert found.n_bytes == size
        assert found.n_merges == size - special_bytes - (len(pieces) - special)
    assert [answer.longest_piece for answer in driver("gcc", standard_image).run(requests)] == [
        0, 1, 6, 101, 120, 36,
    ]  # fmt: skip


def sensitive_vocabulary(chance):
    """Merges of any two known tokens: where a piece is cut shows in the ids, and in what order merges go."""
    alphabet = "abst'\u017f \n\u0301<|>"
    texts = [(char.encode()[place : place + 1]) for char in alphabet for place in range(len(char.encode()))]
    vocabulary = SmallVocabulary([(bytes([byte]), 1) for byte in range(256)])
    known = {data: token for token, (data, _) in enumerate(vocabulary.tokens)}
    for _ in range(chance.randint(0, 60)):
        left, right = chance.choice(texts), chance.choice(texts)
        if left + right not in known:
            known[left + right] = len(vocabulary.tokens)
            vocabulary.tokens.append((left + right, 1))
            texts.append(left + right)
            vocabulary.merges.append((known[left], known[right], known[left + right]))
    for _ in range(chance.randint(0, 6)):
        data = "".join(chance.choices("ab<|>' \u0301\u017f", k=chance.randint(1, 4))).encode()
        if data not in known:
            known[data] = len(vocabulary.tokens)
            vocabulary.tokens.append((data, chance.choice([UNKNOWN, CONTROL, USER_DEFINED])))
    return vocabulary


@pytest.mark.parametrize("kind", KINDS)
def test_random_vocabularies(driver, kind):
    """Standard images of all, the others of those that can have them."""
    chance = random.Random(82)
    requests, wanted, made = Requests(), [], Counter()
    for _ in range(120):
        vocabulary = sensitive_vocabulary(chance)
        texts = [
            "".join(chance.choices("aabbsStT'\u017f <|>\n\u0301e1", k=chance.randint(1, 60)))
            for _ in range(8)
        ]
        known = [
            (text, specials, ids)
            for name, specials in SPECIALS.items()
            for text, ids in zip(
                texts,
                Oracle(ListTables(vocabulary.tokens, vocabulary.merges), name).encode_all(texts),
                strict=True,
            )
        ]
        for profile in Profile:
            try:
                image = vocabulary.image(profile=profile)
            except FormatError:
                continue
            made[profile] += 1
            requests.set_image(image)
            wanted.append(0)
            for text, specials, ids in known:
                requests.encode(text, specials)
                wanted.append(ids)
    assert made[Profile.STANDARD] == 120
    assert min(made[profile] for profile in Profile) > 20, made
    for answer, ids in zip(driver(kind).run(requests), wanted, strict=True):
        assert (answer if ids == 0 else answer.ids) == ids


BROKEN = [
    (b"ab\xff", 2), (b"\x80a", 0), (b"\xc3\xa9\xc3", 2), (b"\xc0\x80", 0), (b"a\xed\xa0\x80b", 1),
    (b"\xf4\x90\x80\x80", 0), (b"<|im_end|>\xe5\xb0", 10), (b"\xe0\x9f\x80", 0),
    (b"\xf0\x8f\x80\x80", 0), (b"\xf5", 0), (b"e\xcc\x81\xcc", 3),
    (b"a" * 70 + b"\xbf", 70), (b"a\xcc\x81\n\xe1\x80", 4), (b"<think>" * 3 + b"\xe1", 21),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_invalid_text_is_refused(driver, standard_image, kind):
    requests = Requests()
    for data, _ in BROKEN:
        requests.encode(data)
        requests.encode(data, scratch=0, capacity=0)  # whatever else is lacking
    answers = driver(kind, standard_image).run(requests)
    for (data, offset), answer in zip([case for case in BROKEN for _ in range(2)], answers, strict=True):
        assert (answer.status, answer.error_offset) == (STATUS["INVALID_UTF8"], offset), data
        assert answer.n_ids == 0


@pytest.mark.parametrize("kind", KINDS)
def test_invalid_text_is_replaced(driver, each_image, oracles, kind):
    """As `errors="replace"`: U+FFFD for each maximal subpart."""
    chance = random.Random(83)
    texts = [data for data, _ in BROKEN]
    for _ in range(3_000):
        whole = "".join(
            chance.choices(["a", " ", "\n", "\u0301", "\u4e2d", "<think>", "\U0001f600", "\xe9"], k=9)
        ).encode()
        broken = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            broken[chance.randrange(len(broken))] = chance.choice(b"\x80\xbf\xc2\xe1\xed\xf0\xf4\xff\xa0a")
        texts.append(bytes(broken[: chance.randint(1, len(broken))]))
    texts += [chance.randbytes(chance.randint(1, 40)) for _ in range(2_000)]
    expected = oracles["all"].encode_all([text.decode(errors="replace") for text in texts])
    assert_same(texts, driver(kind, each_image).encode_all(texts, SPECIALS["all"] | REPLACE), expected)


def test_specials_that_hold_a_replacement_character(driver):
    """Matched where bytes were replaced, too; one that is no UTF-8 is never matched."""
    added = [("\ufffd", CONTROL), ("\ufffd\ufffdx", USER_DEFINED), ("a\ufffd", CONTROL), ("<\xff>", CONTROL)]
    vocabulary = grown("a|b", added=added)
    vocabulary.tokens[-1] = (b"<\xff>", CONTROL)
    chance = random.Random(84)
    texts = [
        b"\xff",
        b"\xe1\x80x",
        b"\xe1\x80\xe1\x80x",
        b"a\xff\xffx",
        b"<\xff>",
        "\ufffdx\ufffd\ufffdx".encode(),
    ]
    texts += [bytes(chance.choices(b"ax<>\xff\xe1\x80\xc3\xa9\xef\xbf\xbd", k=12)) for _ in range(2_000)]
    vocabulary.tokens.pop()
    tables = PlainTables(vocabulary)
    vocabulary.tokens.append((b"<\xff>", CONTROL))
    requests = Requests()
    requests.set_image(vocabulary.image())
    for text in texts:
        requests.encode(text, SPECIALS["all"] | REPLACE)
    opened, *answers = driver("sanitized").run(requests)
    assert opened == 0
    encoder = Encoder(tables, invalid="replace")
    assert_same(texts, [answer.ids for answer in answers], [encoder.encode(text) for text in texts])


def test_text_may_hold_nul(driver, standard_image, oracles):
    texts = ["\0", "a\0b", "\0\0<|im_end|>\0", "x" * 20 + "\0"]
    assert_same(texts, driver("gcc", standard_image).encode_all(texts), oracles["all"].encode_all(texts))
