"""What tests of all parts use."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import settings
from projects import Project
from real_models import FAMILIES, RealTables

settings.register_profile("tests", deadline=None)  # a busy machine is no fault of the code
settings.load_profile("tests")

for _variable in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
    os.environ.pop(_variable, None)  # of the `make test` around: a make in a test is not a part of it


@pytest.fixture(scope="session")
def shared():
    """Give the folder of real model files, which is not part of the project.

    It is `$PIPELINE_SHARED`, or `shared` beside the checkout. Where it is missing, tests that need
    it are skipped; with `PIPELINE_REQUIRE_SHARED=1` they fail.
    """
    stated = os.environ.get("PIPELINE_SHARED")
    folder = Path(stated) if stated else Path(__file__).resolve().parents[2] / "shared"
    if folder.is_dir():
        return folder
    reason = f"no folder {folder}: set PIPELINE_SHARED to where the real model files are"
    if os.environ.get("PIPELINE_REQUIRE_SHARED") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def alone(tmp_path_factory, monkeypatch):
    """Shut the user's home, store and cache out."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("OLLAMA_MODELS", str(home / "no store"))
    monkeypatch.setenv("PIPELINE_CACHE", str(home / "cache"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    return home


@pytest.fixture
def project(tmp_path, alone):
    """Give a folder with a tiny model and a manifest, not built yet."""
    return Project(tmp_path)


@pytest.fixture(scope="session")
def built_once(tmp_path_factory):
    """Build the tiny model once, for `built` to copy."""
    made = Project(tmp_path_factory.mktemp("tiny"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIPELINE_CACHE", str(made.root / "cache"))
        made.run().done()
    shutil.rmtree(made.root / "cache", ignore_errors=True)
    return made.root


@pytest.fixture
def built(tmp_path, alone, built_once):
    """Give a folder with a tiny model, a manifest, and everything built."""
    shutil.copytree(built_once, tmp_path, dirs_exist_ok=True)
    return Project(tmp_path, write=False)


@pytest.fixture(scope="session")
def sample_cache(tmp_path_factory):
    """Give a cache in which the sample is made once, for all processes that run tests."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "sample cache"


@pytest.fixture(scope="session", params=FAMILIES)
def real(request):
    """Give the tables of an official vocabulary; each family in turn."""
    return RealTables.of(request.param)


@pytest.fixture(scope="session")
def qwen3_tables():
    """Give the tables of Qwen3's vocabulary."""
    return RealTables.of("qwen3")


@pytest.fixture
def no_hang():
    """Fail, and do not wait, where a command waits for ever."""

    def fail(*_):
        pytest.fail("the command hangs")

    signal.signal(signal.SIGALRM, fail)
    signal.alarm(30)
    yield
    signal.alarm(0)
