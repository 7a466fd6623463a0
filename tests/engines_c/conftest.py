"""Fixtures of the engines' C libraries: builds of the driver, and the files of the official vocabularies."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS / "bpe"), str(TESTS / "engines")]  # texts; the engines once more

from c_programs import shared_folder  # noqa: E402
from engines_build import Workshop  # noqa: E402
from engines_driver import Driver  # noqa: E402
from real_models import GOLDEN, RealTables  # noqa: E402


@pytest.fixture(scope="session")
def workshop(tmp_path_factory) -> Workshop:
    return Workshop(shared_folder(tmp_path_factory, "engines"))


@pytest.fixture(scope="session")
def driver(workshop):
    """Make a driver of a kind: `driver("gcc")`."""
    return lambda kind="gcc": Driver(workshop.command(kind))


@pytest.fixture(scope="session")
def probes():
    facts = json.loads((GOLDEN / "probes.json").read_text(encoding="utf-8"))
    return facts["probes"] + facts["more_probes"]


@pytest.fixture(scope="session")
def vocab_file(qwen3_tables) -> bytes:
    """Qwen3's vocab.bin."""
    return qwen3_tables.vocab_bin().data


@pytest.fixture(scope="session", params=["documented", "loader"])
def layout(request) -> str:
    return request.param


@pytest.fixture(scope="session")
def tokenizer_file(layout) -> bytes:
    """Qwen3's tokenizer.bin; in each layout in turn."""
    return RealTables.of("qwen3").tokenizer_bin(layout)
