"""A missing tool is named with its package; it skips a test or fails it, as the environment says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from required_tools import LIBRARIES, PACKAGES, missing_packages, need, run

TESTS = Path(__file__).parent


@pytest.fixture
def nothing_installed(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))


def test_a_missing_tool_skips_the_test(nothing_installed, monkeypatch):
    monkeypatch.delenv("PIPELINE_REQUIRE_TOOLS", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"no valgrind on this machine: install valgrind$"):
        need("valgrind")


def test_a_required_tool_fails_the_test(nothing_installed, monkeypatch):
    monkeypatch.setenv("PIPELINE_REQUIRE_TOOLS", "1")
    with pytest.raises(pytest.fail.Exception, match=r"install qemu-system-arm$"):
        need("qemu-system-aarch64")


def test_a_tool_that_is_there(monkeypatch, tmp_path):
    tool = tmp_path / "gcc"
    tool.write_text("#!/bin/sh\n", encoding="ascii")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert need("gcc") == str(tool)
    assert missing_packages() == sorted({*PACKAGES.values(), *LIBRARIES} - {"gcc"})


def test_a_command_that_fails_shows_what_it_said():
    with pytest.raises(AssertionError, match="why it failed"):
        run(sys.executable, "-c", "raise SystemExit('why it failed')")


def test_every_tool_that_a_test_needs_has_a_package():
    calls = [
        (path.name, tool)
        for path in TESTS.rglob("*.py")
        for tool in re.findall(r"\bneed\(\"([^\"]+)\"", path.read_text(encoding="utf-8"))
    ]
    assert len(calls) > 5
    assert [call for call in calls if call[1] not in PACKAGES] == []


def test_a_fresh_machine_may_ask(tmp_path):
    """Without any package of Python's, as `.ci/run` does."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", TESTS / "required_tools.py"],
        capture_output=True, text=True, check=True, env={**os.environ, "PATH": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout.split() == sorted({*PACKAGES.values(), *LIBRARIES})
