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


class Variant:
    """A spelling of the entries, and the encoder on it."""

    def __init__(self, vocabulary, left_out):
        self.entries = entries_without(vocabulary, left_out)
        self.encoder = GreedyEncoder(ByteStrings.from_list(self.entries))

    def wrong_probes(self):
        return [text for text, ids in probes().items() if self.encoder.encode(text.encode()) != ids]

    def changed(self, whole):
        """List the ids whose entry is another than by the whole rule."""
        pairs = zip(self.entries, whole.entries, strict=True)
        return [token for token, (mine, other) in enumerate(pairs) if mine != other]


@pytest.fixture(scope="module")
def vocabulary(qwen3_tables):
    return qwen3_tables.vocabulary


@pytest.fixture(scope="module")
def whole(vocabulary, qwen3_entries):
    made = Variant(vocabulary, set())
    assert made.entries == list(qwen3_entries), "the whole rule, so spelled, is that of the file"
    return made


@pytest.fixture(scope="module")
def without_ad(vocabulary):
    return Variant(vocabulary, SOFT_HYPHEN)


@pytest.fixture(scope="module")
def without_upper(vocabulary):
    return Variant(vocabulary, UPPER_CONTROLS)


def test_the_whole_rule_gives_every_probe(whole):
    assert whole.wrong_probes() == []


def test_without_the_glyph_of_ad(vocabulary, whole, without_ad):
    """`中` is E4 B8 AD and `学` E5 AD A6: what holds them can no longer be matched."""
    changed = without_ad.changed(whole)
    assert changed == [token for token in range(151_643) if b"\xad" in vocabulary.tokens[token]]
    assert (len(changed), changed[0]) == (2_664, 255)
    assert without_ad.wrong_probes() == ["回答：中国的首都是北京", "The 5th 版本 of 学习"]


def test_without_the_glyphs_of_80_to_a0(vocabulary, whole, without_upper):
    changed = without_upper.changed(whole)
    upper = bytes(range(0x80, 0xA1))
    assert changed == [
        token for token in range(151_643) if not set(upper).isdisjoint(vocabulary.tokens[token])
    ]
    assert (len(changed), changed[0]) == (46_787, 222)
    assert without_upper.wrong_probes() == [
        "回答：中国的首都是北京", "The 5th 版本 of 学习", "ā đ", "你好，世界！",
    ]  # fmt: skip


def test_without_either_the_bytes_of_the_text_do_not_come_back(whole, without_ad, without_upper):
    text = "中国的首都是北京".encode()
    good = whole.encoder
    assert good.decode(good.encode(text)) == text
    for bad in (without_ad.encoder, without_upper.encoder):
        assert 0 in bad.encode(text), "an unmatched byte"
        assert bad.decode(bad.encode(text)) != text
