"""What goes wrong where the byte rule of vocab.bin leaves glyphs out: which entries, and which texts."""

import json

import pytest
from real_models import GOLDEN

from formats.byte_level import GLYPHS
from formats.byte_strings import ByteStrings
from pipeline.engines.greedy import GreedyEncoder

SOFT_HYPHEN = {0x143}
"""The glyph of the byte AD."""
UPPER_CONTROLS = set(range(0x122, 0x143))
"""The glyphs of the bytes 80..A0."""


def stored(glyph, left_out):
    """Spell a glyph by the rule's own words, but for some glyphs that keep their UTF-8."""
    code = ord(glyph)
    if code in left_out:
        return glyph.encode()
    if code == 0x143:
        return b"\xad"
    if code == 0x121:
        return b"\x7f"
    if 0x122 <= code <= 0x142:
        return bytes([code - 0xA2])
    if 0xA1 <= code <= 0xAC or 0xAE <= code <= 0xFF:
        return bytes([code])
    return glyph.encode()


def entries_without(vocabulary, left_out):
    spelled = [stored(glyph, left_out) for glyph in GLYPHS]
    real = range(vocabulary.first_pad_id)
    return [
        b"".join(map(spelled.__getitem__, vocabulary.tokens[token]))
        if vocabulary.types[token] == 1
        else vocabulary.tokens[token]
        for token in real
    ]


def probes():
    facts = json.loads((GOLDEN / "probes.json").read_text(encoding="utf-8"))
    return {probe["text"]: probe["engine"] for probe in facts["probes"] + facts["more_probes"]}


def wrong_probes(entries):
    encoder = GreedyEncoder(ByteStrings.from_list(entries))
    return [text for text, ids in probes().items() if encoder.encode(text.encode()) != ids]


@pytest.fixture(scope="module")
def vocabulary(qwen3_tables):
    return qwen3_tables.vocabulary


@pytest.fixture(scope="module")
def whole(vocabulary, qwen3_entries):
    made = entries_without(vocabulary, set())
    assert made == list(qwen3_entries), "the whole rule, so spelled, is that of the file"
    return made


def test_the_whole_rule_gives_every_probe(whole):
    assert wrong_probes(whole) == []


def test_without_the_glyph_of_ad(vocabulary, whole):
    """`中` is E4 B8 AD and `学` E5 AD A6: what holds them can no longer be matched."""
    mutated = entries_without(vocabulary, SOFT_HYPHEN)
    changed = [token for token, text in enumerate(mutated) if text != whole[token]]
    assert changed == [token for token in range(151_643) if b"\xad" in vocabulary.tokens[token]]
    assert (len(changed), changed[0]) == (2_664, 255)
    assert wrong_probes(mutated) == ["回答：中国的首都是北京", "The 5th 版本 of 学习"]


def test_without_the_glyphs_of_80_to_a0(vocabulary, whole):
    mutated = entries_without(vocabulary, UPPER_CONTROLS)
    changed = [token for token, text in enumerate(mutated) if text != whole[token]]
    upper = bytes(range(0x80, 0xA1))
    assert changed == [
        token for token in range(151_643) if not set(upper).isdisjoint(vocabulary.tokens[token])
    ]
    assert (len(changed), changed[0]) == (46_787, 222)
    assert wrong_probes(mutated) == ["回答：中国的首都是北京", "The 5th 版本 of 学习", "ā đ", "你好，世界！"]


def test_without_either_the_bytes_of_the_text_do_not_come_back(vocabulary, whole):
    text = "中国的首都是北京".encode()
    good = GreedyEncoder(ByteStrings.from_list(whole))
    assert good.decode(good.encode(text)) == text
    for left_out in (SOFT_HYPHEN, UPPER_CONTROLS):
        bad = GreedyEncoder(ByteStrings.from_list(entries_without(vocabulary, left_out)))
        assert 0 in bad.encode(text), "an unmatched byte"
        assert bad.decode(bad.encode(text)) != text
