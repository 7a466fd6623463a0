"""The engines with Qwen3's vocabulary, and the texts whose ids are known."""

import json

import pytest
from real_models import GOLDEN, RealTables

from formats import tokenizer_bin, vocab_bin
from pipeline.engines.tokenizer_bin import TokenizerBinEngine


@pytest.fixture(scope="session")
def probes():
    facts = json.loads((GOLDEN / "probes.json").read_text(encoding="utf-8"))
    return facts["probes"] + facts["more_probes"]


@pytest.fixture(scope="session")
def qwen3_entries(qwen3_tables):
    return vocab_bin.read(qwen3_tables.vocab_bin().data)


@pytest.fixture(scope="session")
def qwen3_engine():
    data = RealTables.of("qwen3").tokenizer_bin("documented")
    return TokenizerBinEngine(tokenizer_bin.read(data, "documented"))
