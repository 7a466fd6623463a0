"""The tool installed from its wheel: the C reader's sources are in it."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from command_line import ROOT
from firmware_build import LIBRARY


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from a copy, so that the checkout stays as it is."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in ("pipeline", "formats", "examples"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    offline = ("--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", *offline, "--wheel-dir", folder, source)
    (made,) = folder.glob("*.whl")
    return made


def test_what_is_in_the_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    modules = {
        path.relative_to(ROOT).as_posix()
        for package in ("pipeline", "formats")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert names == modules | {f"{LIBRARY.name}/{path.name}" for path in LIBRARY.iterdir()}


def test_the_c_engine_works_outside_the_checkout(wheel, compiler, built_once, tmp_path):
    """In a virtual environment with nothing of the checkout; the other packages are those of this one."""
    place = tmp_path / "env"
    run(sys.executable, "-m", "venv", "--without-pip", place)
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (packages / "rest.pth").write_text(sysconfig.get_path("purelib"))
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", "--force-reinstall", wheel)

    bare = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CC"))}
    inside = {"cwd": tmp_path, "env": {**bare, "PIPELINE_CACHE": str(tmp_path / "cache")}}
    assert Path(run(python, "-c", "import pipeline; print(pipeline.__file__)", **inside)).is_relative_to(
        place
    )
    image = built_once / "out" / "q25_tokenizer.img"
    encode = (python.with_name("pipeline"), "encode", image, "abcd hi", "--engine", "c")
    assert run(*encode, **inside) == "257 256 261\n"
    assert len(list((tmp_path / "cache" / "native").iterdir())) == 2
