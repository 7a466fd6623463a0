"""What tests of builds with CMake and Make use."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bare_metal"))


@pytest.fixture
def tree(tmp_path, request):
    """Give a tree for a build tool, not built yet."""
    from build_trees import Tree

    return Tree(
        tmp_path / "tr ee" if request.param != "make" else tmp_path / "tree", request.param, tmp_path / "c"
    )
