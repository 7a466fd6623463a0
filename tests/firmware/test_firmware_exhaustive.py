"""The long comparisons of the C library with the reference."""

from __future__ import annotations

import random

import firmware_corpus
import pytest
from bpe_texts import SURROGATES, any_char, in_contexts, nasty_texts
from firmware_driver import SPECIALS, Requests

from pipeline.bpe.nfc import nfc

pytestmark = pytest.mark.long

PLANES = [range(start, start + 0x8000) for start in range(0, 0x110000, 0x8000)]
MEGABYTE = 1_000_000


def assert_same(texts, found, expected):
    for text, ids, wanted in zip(texts, found, expected, strict=True):
        assert ids == wanted, ascii(text)


@pytest.mark.parametrize("codes", PLANES, ids=lambda codes: f"U+{codes.start:04X}")
def test_every_code_point_in_every_context(driver, each_image, oracles, codes):
    """Each context is a stretch of its own: what parts them is a special token."""
    chars = [chr(code) for code in codes if code not in SURROGATES]
    for start in range(0, len(chars), 4096):
        texts = ["<think>".join(in_contexts(char)) for char in chars[start : start + 4096]]
        assert_same(texts, driver("gcc", each_image).encode_all(texts), oracles["all"].encode_all(texts))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("specials", sorted(SPECIALS))
def test_half_a_million_random_texts(driver, each_image, oracles, specials, seed):
    texts = list(nasty_texts(17_000, seed=900 + seed, longest=48))
    found = driver("gcc", each_image).encode_all(texts, SPECIALS[specials])
    assert_same(texts, found, oracles[specials].encode_all(texts))
    if specials == "none":
        requests = Requests()
        for ids in found:
            requests.detokenize(ids)
        answers = driver("gcc", each_image).run(requests)
        assert [answer.text for answer in answers] == [nfc(text).encode() for text in texts]


@pytest.mark.parametrize("language", firmware_corpus.LANGUAGES)
def test_translations(driver, each_image, oracles, language):
    texts = list(
        firmware_corpus.pieces(iter([firmware_corpus.translations(language, MEGABYTE // 2)]), MEGABYTE // 2)
    )
    if not texts:
        pytest.skip(f"no translations into {language} on this machine")
    assert_same(texts, driver("gcc", each_image).encode_all(texts), oracles["all"].encode_all(texts))


@pytest.mark.parametrize(("name", "megabytes"), [("sources", 5), ("manuals", 5)])
def test_sources_and_manuals(driver, each_image, oracles, name, megabytes):
    texts = list(firmware_corpus.pieces(getattr(firmware_corpus, name)(), megabytes * MEGABYTE))
    if not texts:
        pytest.skip(f"no {name} on this machine")
    assert_same(texts, driver("gcc", each_image).encode_all(texts), oracles["all"].encode_all(texts))


def test_long_random_words(driver, each_image, oracles):
    chance = random.Random(141)
    texts = [
        "".join(chance.choices(alphabet, k=100_000))
        for alphabet in (
            "ab",
            "etaoin",
            "abcdefghijklmnopqrstuvwxyz",
            "\u4e00\u4e8c\u4e09\u56db",
            "=-",
            "\u0301\u0316a",
        )
    ]
    texts.append("".join(any_char(chance, 0x110000) for _ in range(200_000)))
    texts += [
        part * ((1 << 20) // len(part.encode()))
        for part in ("a", " ", "\n", "<", "\u0301", "\U0001f600", "e\u0301")
    ]
    assert_same(texts, driver("gcc", each_image).encode_all(texts), oracles["all"].encode_all(texts))


@pytest.mark.parametrize("kind", ["sanitized", "aarch64", "aarch64 without crc"])
def test_other_builds(driver, each_image, oracles, kind):
    texts = list(nasty_texts(20_000, seed=950, longest=48))
    assert_same(texts, driver(kind, each_image).encode_all(texts), oracles["all"].encode_all(texts))
