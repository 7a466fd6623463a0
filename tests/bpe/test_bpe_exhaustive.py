"""The long comparisons with the reference: every code point, many random texts, the longest runs."""

from __future__ import annotations

import random

import pytest
from bpe_texts import SURROGATES, any_char, in_contexts, nasty_texts
from tokenizers import normalizers

from pipeline.bpe.decoder import Decoder
from pipeline.bpe.encoder import Encoder
from pipeline.bpe.hangul import LEADING, SYLLABLES, TRAILING, VOWELS
from pipeline.bpe.nfc import nfc
from pipeline.bpe.unicode_tables import nfc_tables

pytestmark = pytest.mark.long

PLANES = [range(start, start + 0x8000) for start in range(0, 0x110000, 0x8000)]


@pytest.mark.parametrize("codes", PLANES, ids=lambda codes: f"U+{codes.start:04X}")
def test_every_code_point_in_every_context(qwen3, oracles, codes):
    """Each context is a stretch of its own: what parts them is a special token."""
    encoder = Encoder(qwen3)
    chars = [chr(code) for code in codes if code not in SURROGATES]
    for start in range(0, len(chars), 64):
        block = chars[start : start + 64]
        texts = ["<think>".join(in_contexts(char)) for char in block]
        for char, text, ids in zip(block, texts, oracles["all"].encode_all(texts), strict=True):
            assert encoder.encode(text) == ids, f"U+{ord(char):04X}"


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("specials", ["all", "user", "none"])
def test_random_texts(qwen3, oracles, specials, seed):
    encoder, decoder = Encoder(qwen3, specials=specials), Decoder(qwen3)
    texts = list(nasty_texts(20_000, seed=700 + seed, longest=48))
    for text, ids in zip(texts, oracles[specials].encode_all(texts), strict=True):
        assert encoder.encode(text) == ids, ascii(text)
        if specials == "none":
            assert decoder.decode(ids) == nfc(text).encode()


def test_every_pair_that_could_compose():
    """Each code point before each character that is the second of any pair; in chunks, a line each."""
    reference = normalizers.NFC().normalize_str
    seconds = sorted({pair[1] for pair in nfc_tables().compositions})
    seconds += [chr(VOWELS[0]), chr(VOWELS[-1]), chr(TRAILING[0] - 1), chr(TRAILING[0]), chr(TRAILING[-1])]
    for codes in PLANES:
        chars = [chr(code) for code in codes if code not in SURROGATES]
        for second in seconds:
            text = "\n".join(char + second for char in chars)
            assert nfc(text) == reference(text), f"U+{codes.start:04X}... U+{ord(second):04X}"


def test_every_hangul_syllable_from_its_jamo():
    reference = normalizers.NFC().normalize_str
    tails = ["", *map(chr, TRAILING)]
    text = "\n".join(chr(lead) + chr(vowel) + tail for lead in LEADING for vowel in VOWELS for tail in tails)
    assert nfc(text) == reference(text) == "\n".join(map(chr, SYLLABLES))


@pytest.mark.parametrize(
    "part",
    ["a", "ab", " ", "\n", "1", "!", "<", "|>", "'", "\u0301", "\u0345\u0300\u0316\u0334", "\u4e2d",
     "\U0001f600", "e\u0301", "\uac00"],
    ids=ascii,
)  # fmt: skip
def test_one_mebibyte_of_one_thing(qwen3, oracles, part):
    text = part * ((1 << 20) // len(part.encode()))
    assert Encoder(qwen3).encode(text) == oracles["all"].encode(text)


def test_long_random_words(qwen3, oracles):
    """Pieces of a hundred thousand bytes, so that merging them takes the heap."""
    chance = random.Random(71)
    encoder = Encoder(qwen3)
    for alphabet in ("ab", "etaoin", "abcdefghijklmnopqrstuvwxyz", "\u4e00\u4e8c\u4e09\u56db", "=-"):
        text = "".join(chance.choices(alphabet, k=100_000))
        assert encoder.encode(text) == oracles["all"].encode(text)
    text = "".join(any_char(chance, 0x110000) for _ in range(200_000))
    assert encoder.encode(text) == oracles["all"].encode(text)
