"""Fixtures of the bare-metal example's tests: builds, and the images they are given."""

from __future__ import annotations

import pytest
from metal_board import Board
from real_models import RealTables


@pytest.fixture(scope="session")
def boards(tmp_path_factory):
    """Give a build with some variables of the Makefile, made once: `boards(OPT="-O0")`. Not to be changed."""
    made: dict[tuple, Board] = {}

    def board(**variables):
        key = tuple(sorted(variables.items()))
        if key not in made:
            made[key] = Board(tmp_path_factory.mktemp("board") / "examples", **variables)
        return made[key]

    return board


@pytest.fixture(scope="session")
def board(boards) -> Board:
    """Give the example as it is."""
    return boards()


@pytest.fixture(scope="session")
def real_image() -> bytes:
    return RealTables.of("qwen3").image()
