"""Fixtures of the tests of the C engine: a cache of their own, images, a compiler that keeps count."""

import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS / "bpe"), str(TESTS / "firmware")]  # texts; compilers

from required_tools import need  # noqa: E402

from formats.q25tokrt.verify import verify_image  # noqa: E402
from pipeline.native import library  # noqa: E402


@pytest.fixture(scope="session")
def compiler():
    """Give the compiler's path, or skip the test."""
    return need("gcc")


@pytest.fixture(scope="session")
def engine_cache(compiler, tmp_path_factory):
    """Give a cache in which the library is built once."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "engine cache"


@pytest.fixture
def engine(engine_cache, monkeypatch):
    """Let the C engine be built and kept aside from the user's."""
    monkeypatch.setenv("PIPELINE_CACHE", str(engine_cache))


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Give a cache that is empty; nothing is loaded yet."""
    monkeypatch.setenv("PIPELINE_CACHE", str(tmp_path / "cache"))
    library.load.cache_clear()
    yield tmp_path / "cache" / library.FOLDER
    library.load.cache_clear()


@pytest.fixture(scope="session")
def qwen3(qwen3_tables):
    return verify_image(qwen3_tables.image())


class Wrapper:
    """A compiler that notes how it was called, then does what it is told to."""

    def __init__(self, folder, body):
        self.log = folder / "calls"
        self.path = folder / "my cc"
        self.path.write_text(f'#!/bin/sh\necho "$*" >>{shlex.quote(str(self.log))}\n{body}\n')
        self.path.chmod(0o755)

    @property
    def cc(self):
        """What CC is to be."""
        return shlex.quote(str(self.path))

    def builds(self):
        """Count the builds."""
        return sum("-shared" in line for line in self.log.read_text().splitlines())


@pytest.fixture
def wrapper(tmp_path, monkeypatch):
    """Make a compiler from the body of a shell script, and name it in CC; without one, gcc that does not optimise."""

    def make(body=None):
        made = Wrapper(tmp_path, body or f'exec {shutil.which("gcc")} "$@" -O0')
        monkeypatch.setenv("CC", made.cc)
        return made

    return make
