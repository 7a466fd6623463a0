"""The reference from a model's own vocabulary, held against the official file and against what it cannot hold."""

import builtins
import json
import os
from pathlib import Path

import pytest
from real_models import GOLDEN
from small_models import small_assembly, small_vocabulary
from tiny_model import CONTROL, NORMAL, UNUSED, USER_DEFINED, tokens

from formats.byte_level import encode
from formats.gguf.value_types import ValueType
from formats.gguf.writer import ArrayToWrite
from pipeline.bpe.class_data import TOKENIZERS_VERSION
from pipeline.bpe.errors import PretokenizerError
from pipeline.errors import MachineError, ModelError
from pipeline.parity.corpus import open_corpus
from pipeline.parity.model_tables import ModelTables
from pipeline.parity.reference import library_version


def rows_with(*changes):
    """List the tiny model's tokens with some replaced: (id, text, type)."""
    rows = tokens()
    for token, text, kind in changes:
        rows[token] = (text, kind)
    return rows


def test_known_ids(assembly):
    facts = json.loads((GOLDEN / "probes.json").read_text(encoding="utf-8"))
    probes = facts["probes"] + facts["more_probes"]
    assert len(probes) == 14
    for probe in probes:
        assert assembly.reference.encode(probe["text"]) == probe["reference"]


def test_like_the_official_file(assembly):
    """It is set up from the GGUF alone; the official tokenizer.json gives the same ids."""
    from tokenizers import Tokenizer

    named = os.environ.get("PIPELINE_OFFICIAL_TOKENIZER")
    if not named:
        pytest.skip("PIPELINE_OFFICIAL_TOKENIZER does not name the official tokenizer.json")
    official = Tokenizer.from_file(str(Path(named)))
    texts = [sample.text for sample in open_corpus(None).samples()]
    expected = [entry.ids for entry in official.encode_batch_fast(texts, add_special_tokens=False)]
    assert assembly.reference.encode_all(texts) == expected


def test_its_version_is_the_one_whose_tables_are_pinned():
    assert library_version() == TOKENIZERS_VERSION


def test_without_the_library(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments):
        if name.partition(".")[0] == "tokenizers":
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    small = small_assembly()
    with pytest.raises(MachineError) as caught:
        small.reference.encode("a")
    assert str(caught.value) == (
        f"the comparison needs the package tokenizers {TOKENIZERS_VERSION}, which is not installed: "
        "pip install '.[parity]'"
    )


def test_tokens_in_any_order():
    """Added tokens between normal ones, unused ids, a text that occurs twice."""
    rows = tokens()
    order = [262, 256, *range(256), 270, 263, 257, 258, 264, 259, 260, 261, 265, 258]
    rows = [rows[index] for index in order]
    assembly = small_assembly(rows=rows)
    texts = ["abcd hi ab", "<|im_start|>ab<tool>hi<|im_end|>", "[PAD270]", "é\t"]
    for text in texts:
        assert assembly.reference.encode(text) == assembly.exact.encode(text)
    ids = assembly.reference.encode("<|im_start|>ab")
    assert ids == [rows.index(("<|im_start|>", CONTROL)), rows.index(("ab", NORMAL))]


def test_one_text_for_two_kinds_of_token():
    rows = rows_with((265, "ab", USER_DEFINED))
    with pytest.raises(ModelError) as caught:
        small_assembly(rows=rows).reference.encode("a")
    assert str(caught.value) == (
        "token 265, 'ab': token 257 has the same text, and tokenizers cannot tell the two apart; "
        "nothing can be compared"
    )


def test_a_letter_that_is_a_glyph_too():
    """The added token `é` has the text of the byte E9's glyph."""
    rows = rows_with((265, "é", USER_DEFINED))
    with pytest.raises(ModelError, match="cannot tell the two apart"):
        small_assembly(rows=rows).reference.encode("a")


def test_two_added_tokens_with_one_text():
    rows = rows_with((264, "<s>", CONTROL), (265, "<s>", USER_DEFINED))
    assembly = small_assembly(rows=rows)
    assert assembly.reference.encode("<s>") == assembly.exact.encode("<s>") == [264]


def test_added_tokens_that_the_library_decodes_to_something_else():
    """`đ` is the glyph of the byte 91: the library takes the letter of an added token for it."""
    rows = rows_with((264, "<|é|>", CONTROL), (265, "đem", USER_DEFINED))
    assembly = small_assembly(rows=rows)
    assert assembly.reference.encode("đem<|é|>") == assembly.exact.encode("đem<|é|>") == [265, 264]
    wrong = assembly.reference.wrongly_decoded()
    assert [(token, text) for token, text, _ in wrong] == [(264, "<|é|>"), (265, "đem")]
    assert all(text != decoded for _, text, decoded in wrong)
    assert assembly.tables.token_bytes(265) == "đem".encode()
    assert small_assembly().reference.wrongly_decoded() == []


@pytest.mark.parametrize("pre", ["", "llama-bpe"])
def test_a_rule_that_is_not_served(pre):
    with pytest.raises(PretokenizerError):
        small_assembly(pre=pre)


def test_a_model_without_merges_is_no_bpe_model():
    from formats.errors import FormatError

    with pytest.raises(FormatError, match="at least one string, for byte-level BPE"):
        small_vocabulary({"tokenizer.ggml.merges": (ValueType.ARRAY, ArrayToWrite(ValueType.STRING, []))})


def test_the_tables_of_a_model(qwen3_tables):
    vocabulary = qwen3_tables.vocabulary
    tables = ModelTables(vocabulary, "qwen2")
    assert (tables.n_tokens, tables.first_pad_id, tables.pre, tables.nfc) == (151936, 151669, "qwen2", True)
    assert list(tables.added_tokens) == list(range(151643, 151669))
    assert [tables.byte_token(byte) for byte in (0x21, 0x20, 0x0A, 0xAD)] == [0, 220, 198, 255]
    merges = vocabulary.merges
    for rank in range(0, len(merges), 997):
        left, right, out = (int(column[rank]) for column in (merges.left, merges.right, merges.out))
        assert tables.merge(left, right) == (rank, out)
    assert tables.merge(0, 0) != tables.merge(151643, 0) == None  # noqa: E711
    assert tables.token_bytes(198) == b"\n"
    assert tables.token_type(151935) == UNUSED


def test_a_byte_without_a_token():
    rows = [(text, kind) for text, kind in tokens() if text != encode(b"z")]
    tables = ModelTables(small_vocabulary(rows=rows), "qwen2")
    assert tables.byte_token(ord("z")) is None
    assert tables.byte_token(ord("y")) == ord("y")
