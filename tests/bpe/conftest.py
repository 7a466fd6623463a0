"""Fixtures of the encoder's tests: the real vocabulary and the reference for it, made once."""

from __future__ import annotations

import pytest
from bpe_oracle import Oracle
from bpe_vocabulary import ListTables, base_vocabulary, qwen_tables


@pytest.fixture(scope="session")
def qwen_base() -> tuple[list[bytes], list[tuple[int, int, int]]]:
    return base_vocabulary()


@pytest.fixture(scope="session")
def qwen3(qwen_base) -> ListTables:
    return qwen_tables(*qwen_base, "qwen3")


@pytest.fixture(scope="session")
def qwen25(qwen_base) -> ListTables:
    return qwen_tables(*qwen_base, "qwen2.5")


@pytest.fixture(scope="session")
def oracles(qwen3) -> dict[str, Oracle]:
    """The reference for Qwen3, by the setting of special tokens."""
    return {specials: Oracle(qwen3, specials) for specials in ("all", "user", "none")}
