"""Fixtures of the bare-metal example's tests: builds, and the images they are given."""

from __future__ import annotations

import pytest
from metal_board import Board
from real_models import RealTables


@pytest.fixture(scope="session")
def board(tmp_path_factory) -> Board:
    """The example as it is."""
    return Board(tmp_path_factory.mktemp("board") / "examples")


@pytest.fixture(scope="session")
def real_image() -> bytes:
    return RealTables.of("qwen3").image()
