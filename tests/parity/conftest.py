"""Comparisons over Qwen3's vocabulary, with every party, made once."""

import pytest
from parity_parties import all_parties, qwen_assembly

from formats.q25tokrt.verify import verify_image


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
