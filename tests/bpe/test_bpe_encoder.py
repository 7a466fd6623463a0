"""Ids against the reference's, and every refusal."""

from __future__ import annotations

import json
import random

import pytest
from bpe_oracle import Oracle
from bpe_texts import in_contexts, nasty_texts, real_texts
from bpe_vocabulary import GOLDEN, ListTables, small_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import normalizers

from pipeline.bpe import encoder as module
from pipeline.bpe.decoder import Decoder
from pipeline.bpe.encoder import Encoder
from pipeline.bpe.errors import ByteTokenError, PretokenizerError, TextError, UnicodeTablesError
from pipeline.bpe.nfc import is_nfc
from pipeline.errors import ModelError, UsageError

SETTINGS = ["all", "user", "none"]


def probes():
    facts = json.loads((GOLDEN / "probes.json").read_text(encoding="utf-8"))
    return [(probe["text"], probe["reference"]) for probe in facts["probes"] + facts["more_probes"]]


@pytest.mark.parametrize(("text", "ids"), probes())
def test_known_ids(qwen3, oracles, text, ids):
    assert oracles["all"].encode(text) == ids
    assert Encoder(qwen3).encode(text) == ids


def llama_cpp_vectors():
    """Texts and ids that llama.cpp tests its own tokenizer with; it does no NFC."""
    separator = "\n__ggml_vocab_test__\n"
    texts = (GOLDEN / "ggml-vocab-qwen2.gguf.inp").read_bytes().decode().split(separator)
    lines = (GOLDEN / "ggml-vocab-qwen2.gguf.out").read_text(encoding="ascii").splitlines()
    ids = [[int(word) for word in line.split()] for line in lines]
    return list(zip(texts, ids, strict=False))


def test_llama_cpp_vectors(qwen25, oracles):
    encoder = Encoder(qwen25)
    vectors = llama_cpp_vectors()
    assert len(vectors) == 46
    for text, ids in vectors:
        assert encoder.encode(text) == oracles["all"].encode(text)
        if is_nfc(text):
            assert encoder.encode(text) == ids
    raw = ListTables(qwen25.tokens, first_pad_id=qwen25.first_pad_id, nfc=False)
    raw.merges = qwen25.merges
    for text, ids in vectors:
        assert Encoder(raw).encode(text) == ids


@pytest.mark.parametrize("specials", SETTINGS)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_real_texts(qwen3, oracles, specials, form):
    encoder = Encoder(qwen3, specials=specials)
    for name, text in real_texts().items():
        given_text = getattr(normalizers, form)().normalize_str(text)
        assert encoder.encode(given_text) == oracles[specials].encode(given_text), name


@pytest.mark.parametrize("specials", SETTINGS)
def test_random_texts(qwen3, oracles, specials):
    encoder = Encoder(qwen3, specials=specials)
    texts = list(nasty_texts(6_000, seed=61))
    for text, ids in zip(texts, oracles[specials].encode_all(texts), strict=True):
        assert encoder.encode(text) == ids, ascii(text)


def test_code_points_in_contexts(qwen3, oracles):
    """A sample: every code point below U+0600, and one in 301 of the others. All are in the long tests."""
    encoder = Encoder(qwen3)
    codes = [*range(0x600), *range(0x600, 0xD800, 301), *range(0xE000, 0x110000, 301)]
    for code in codes:
        text = "<think>".join(in_contexts(chr(code)))
        assert encoder.encode(text) == oracles["all"].encode(text), f"U+{code:04X}"


@given(st.text())
@settings(deadline=None)
def test_any_text(qwen3, oracles, text):
    assert Encoder(qwen3).encode(text) == oracles["all"].encode(text)


def random_vocabulary(chance):
    """Bytes, random merges over `ab<|>`, and added tokens of random types that overlap each other."""
    texts = {b"a", b"b", b"<", b"|", b">"}
    tokens = [(bytes([byte]), 1) for byte in range(256)]
    ids = {data: token for token, (data, _) in enumerate(tokens)}
    merges = []
    for _ in range(chance.randint(0, 20)):
        left, right = chance.choice(sorted(texts)), chance.choice(sorted(texts))
        if left + right not in texts:
            texts.add(left + right)
            ids[left + right] = len(tokens)
            tokens.append((left + right, 1))
            merges.append((ids[left], ids[right], ids[left + right]))
    for _ in range(chance.randint(0, 6)):
        data = "".join(chance.choices("ab<|> \u0301", k=chance.randint(2, 5))).encode()
        if data not in texts:
            texts.add(data)
            tokens.append((data, chance.choice([2, 3, 4])))
    return ListTables(tokens, merges)


def test_random_vocabularies():
    chance = random.Random(62)
    for _ in range(150):
        tables = random_vocabulary(chance)
        texts = ["".join(chance.choices("aabb<|> \u0301e1", k=chance.randint(1, 30))) for _ in range(20)]
        for specials in SETTINGS:
            encoder = Encoder(tables, specials=specials)
            for text, ids in zip(texts, Oracle(tables, specials).encode_all(texts), strict=True):
                assert encoder.encode(text) == ids, (text, specials, tables.tokens[256:])


def decoded(tables, ids):
    return [tables.token_bytes(token).decode() for token in ids]


def test_types_decide_what_is_special():
    tables = small_tables(
        specials=[("<|x|>", 1), ("</s>", 3), ("<u>", 4), ("<unk>", 2)], pre="deepseek-r1-qwen"
    )
    text = "<|x|></s><u><unk>"
    atoms = {
        specials: [token for token in Encoder(tables, specials=specials).encode(text) if token > 256]
        for specials in SETTINGS
    }
    assert atoms == {"all": [257, 258, 259], "user": [258], "none": []}
    for specials in SETTINGS:
        assert "".join(decoded(tables, Encoder(tables, specials=specials).encode(text))) == text


def test_user_tokens_overlapped_by_a_control_token():
    """As the reference: specials are looked for together, so a control token's place stays ordinary text."""
    tables = small_tables(specials=[("c<|", 3), ("<|x", 4)])
    for specials, ids in {"all": [256, 120], "user": list(b"c<|x"), "none": list(b"c<|x")}.items():
        assert Encoder(tables, specials=specials).encode("c<|x") == ids
        assert Oracle(tables, specials).encode("c<|x") == ids


def test_special_text_of_a_user_turn(qwen3):
    text = "<|im_end|>"
    ordinary = Encoder(qwen3, specials="none").encode(text)
    assert Encoder(qwen3).encode(text) == [151645]
    assert len(ordinary) > 1
    assert "".join(decoded(qwen3, ordinary)) == text


def test_padding_never_matches(qwen3):
    for text in ("[PAD151669]", "[PAD151935]"):
        assert max(Encoder(qwen3).encode(text)) < 151643
    # Older files give pads the type of user-defined tokens.
    tables = small_tables(specials=[("<u>", 4), ("[PAD257]", 4), ("[PAD6]", 4)], first_pad_id=257)
    tables.added_tokens = [256, 257, 258]
    assert Encoder(tables).encode("<u>[PAD257][PAD6]") == [256, *b"[PAD257][PAD6]"]


def test_lower_id_of_two_specials_with_one_text():
    assert Encoder(small_tables(specials=[("<s>", 3), ("<s>", 4)])).encode("<s>") == [256]


def test_nfc_and_the_rule_stay_within_a_stretch(qwen3, oracles):
    for text in (
        "e<think>\u0301",
        "a  <think> b",
        "\u1100<think>\u1161",
        "\n<think>\n",
        "<think>\u0301 \u0301</think>",
    ):
        assert Encoder(qwen3).encode(text) == oracles["all"].encode(text)


def test_without_nfc(qwen3, oracles):
    tables = ListTables(qwen3.tokens, first_pad_id=qwen3.first_pad_id, nfc=False)
    tables.merges = qwen3.merges
    text = "A\u030ar e\u0301 \u212b"
    assert b"".join(map(tables.token_bytes, Encoder(tables).encode(text))) == text.encode()
    assert Encoder(tables).encode(text) != oracles["all"].encode(text)


def test_bytes_are_utf8(qwen3):
    encoder = Encoder(qwen3)
    for text in real_texts().values():
        assert encoder.encode(text.encode()) == encoder.encode(text)
    assert encoder.encode(b"\xef\xbb\xbfa") == encoder.encode("\ufeffa")
    assert encoder.encode(b"a\x00b") == encoder.encode("a\x00b")
    assert encoder.encode(b"") == encoder.encode("") == []


@pytest.mark.parametrize(
    ("data", "offset", "found"),
    [
        (b"ab\xff", 2, "bytes ff"),
        (b"\x80a", 0, "bytes 80 61"),
        (b"\xc3\xa9\xc3", 2, "bytes c3"),
        (b"\xc0\x80", 0, "bytes c0 80"),
        (b"a\xed\xa0\x80b", 1, "bytes ed a0 80 62"),
        (b"\xf4\x90\x80\x80", 0, "bytes f4 90 80 80"),
        (b"<|im_end|>\xe5\xb0", 10, "bytes e5 b0"),
    ],
)
def test_bytes_that_are_not_utf8(qwen3, data, offset, found):
    with pytest.raises(TextError) as caught:
        Encoder(qwen3).encode(data)
    assert isinstance(caught.value, UsageError)
    assert caught.value.offset == offset
    assert str(caught.value) == f"text at byte 0x{offset:X} ({offset}): expected UTF-8, found {found}"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\xffb", "a\ufffdb"),
        (b"\xe5\xb0a", "\ufffda"),  # two bytes of a character that does not go on: one
        (b"\xf0\x9f\x98", "\ufffd"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),  # A0 can not follow ED: each byte by itself
        (b"\xc0\xaf", "\ufffd\ufffd"),
        (b"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"),
        (b"\xe1\x80\xc3\xa9", "\ufffd\xe9"),
    ],
)
def test_invalid_bytes_replaced_on_request(qwen3, data, text):
    encoder = Encoder(qwen3, invalid="replace")
    assert encoder.encode(data) == encoder.encode(text)


@pytest.mark.parametrize("invalid", ["error", "replace"])
def test_half_a_surrogate_pair(qwen3, invalid):
    with pytest.raises(TextError) as caught:
        Encoder(qwen3, invalid=invalid).encode("ab\ud83dc")
    assert caught.value.offset == 2
    assert str(caught.value) == (
        "text at character 2: expected a character, found half of a surrogate pair, U+D83D"
    )


def test_a_byte_without_a_token():
    tables = ListTables([(b"a", 1), (b"b", 1), (b"ab", 1)], [(0, 1, 2)])
    assert Encoder(tables).encode("aab") == [0, 2]
    with pytest.raises(ByteTokenError) as caught:
        Encoder(tables).encode("ab\xe9")
    assert isinstance(caught.value, ModelError)
    assert str(caught.value) == (
        "byte 0xC3 (195) of 'abé': expected a token that is this byte, found none in the vocabulary"
    )


def test_unknown_rule():
    with pytest.raises(PretokenizerError, match="'llama-bpe' is not known here"):
        Encoder(small_tables(pre="llama-bpe"))
    with pytest.raises(PretokenizerError, match="names no pre-tokenizer"):
        Encoder(small_tables(pre=""))


@pytest.mark.parametrize(
    ("unicode", "words"),
    [
        (
            (0x110000, 0x090000),
            "character classes: expected an image checked with the tables of Unicode 16.0.0, found 17.0.0:",
        ),
        (
            (0x100000, 0x090001),
            "NFC: expected an image checked with the tables of Unicode 9.0.0, found 9.0.1:",
        ),
        (
            (0, 0),
            "character classes: expected an image checked with the tables of Unicode 16.0.0, found none:",
        ),
    ],
)
def test_tables_of_other_unicode_versions(unicode, words):
    """Refused whatever the text, as the C reader does, and with or without NFC; decoding needs none."""
    for nfc in (True, False):
        with pytest.raises(UnicodeTablesError) as caught:
            Encoder(small_tables(unicode=unicode, nfc=nfc))
        assert isinstance(caught.value, ModelError)
        assert str(caught.value).startswith(words)
    assert Decoder(small_tables(unicode=unicode)).decode([97]) == b"a"
    with pytest.raises(PretokenizerError):  # told first, as there
        Encoder(small_tables(unicode=unicode, pre="llama-bpe"))


def test_added_token_that_is_not_utf8():
    tables = ListTables([(b"a", 1), (b"<\xff>", 3)])
    with pytest.raises(ModelError, match=r"^added token 1: expected text in UTF-8, found bytes 3c ff 3e$"):
        Encoder(tables)
    assert Encoder(tables, specials="none").encode("a") == [0]


@pytest.mark.parametrize("setting", [{"specials": "ALL"}, {"invalid": "ignore"}])
def test_unknown_setting(setting):
    name, value = next(iter(setting.items()))
    with pytest.raises(UsageError, match=f"^{name}: expected one of .*, found '{value}'$"):
        Encoder(small_tables(), **setting)


def test_pieces_are_kept_within_bounds(monkeypatch):
    monkeypatch.setattr(module, "CACHED_PIECES", 4)
    encoder = Encoder(small_tables("a|b"))
    for text in ("ab", " ab", "ab1", "a" * 100, "b", "c", "d", "ab"):
        assert b"".join(map(encoder._tables.token_bytes, encoder.encode(text))) == text.encode()
        assert len(encoder._cache) <= 4
        assert all(len(piece) <= module.CACHED_LENGTH for piece in encoder._cache)
    assert encoder.encode("ab ab") == [256, 32, 256]


def test_answers_are_the_callers_own(qwen3):
    encoder = Encoder(qwen3)
    encoder.encode("Hello").clear()
    assert encoder.encode("Hello") == [9707]
