"""Comparisons over Qwen3's vocabulary, with every party, made once; and a few texts for small models."""

import shutil

import pytest
from parity_parties import all_parties, qwen_assembly

from formats.q25tokrt.verify import verify_image
from pipeline.parity import corpus
from pipeline.parity.judging import compare


@pytest.fixture(scope="session")
def assembly():
    return qwen_assembly()


@pytest.fixture(scope="session")
def parties(qwen3_tables, assembly):
    return all_parties(
        assembly,
        verify_image(bytes(qwen3_tables.image()), "image"),
        qwen3_tables.vocab_bin().data,
        qwen3_tables.tokenizer_bin("documented"),
    )


@pytest.fixture(scope="session")
def of_built_in_texts(assembly, parties):
    """Compare all parties over the texts that come with the tool, and give the document."""
    texts = corpus.open_corpus(None)
    return compare(assembly, list(parties.values()), "00" * 32, texts, listed=3).document


@pytest.fixture
def few_texts(tmp_path, monkeypatch):
    """Let the texts that come with the tool be fewer, where a test is of no single one of them."""
    folder = tmp_path / "few"
    folder.mkdir()
    for name in ("chat", "fifteen", "unusual"):
        shutil.copy(corpus.TEXTS / f"{name}.txt", folder)
    monkeypatch.setattr(corpus, "TEXTS", folder)
    return 7 + 15 + 34
