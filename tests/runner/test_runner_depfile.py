"""`run --depfile`: the rule is read by Make itself, and names every input."""

import os
import subprocess

import pytest
from command_line import call
from required_tools import need

from pipeline.runner.depfile import depfile


def test_make_reads_the_rule_and_follows_it(project, tmp_path):
    make = need("make")
    project.write_manifest(steps=["inspect"])
    rule = tmp_path / "a b.d"
    project.run("--depfile", rule, "--depfile-target", "stamp").done()
    makefile = tmp_path / "Makefile"
    makefile.write_text("stamp:\n\t@touch stamp; echo made\ninclude a\\ b.d\n")

    def made():
        done = subprocess.run([make], cwd=tmp_path, capture_output=True, text=True, check=True)
        return "made" in done.stdout

    assert made()
    assert not made()
    future = (tmp_path / "stamp").stat().st_mtime + 10
    for path in (project.gguf, project.manifest):
        os.utime(path, (future, future))
        assert made()
        os.utime(path, (1, 1))
        assert not made()
    project.gguf.unlink()  # a missing input is no error of Make's
    assert made()


def test_the_store_and_the_tool_are_inputs(project):
    import pipeline.runner.depfile as module

    rule = project.root / "x.d"
    project.run("--depfile", rule).done()
    text = rule.read_text()
    assert text.startswith(f"{rule}: \\\n {project.manifest} \\\n {project.gguf} \\\n")
    assert f" {module.__file__}" in text


def test_names_are_escaped_and_line_ends_refused():
    assert depfile("a b", ["c d", "e#f$"]) == "a\\ b: \\\n c\\ d \\\n e\\#f$$\nc\\ d:\ne\\#f$$:\n"
    with pytest.raises(Exception, match="expected names without line ends"):
        depfile("x", ["a\nb"])


def test_a_failed_run_and_a_dry_one_write_none(project):
    rule = project.root / "x.d"
    call("run", project.manifest, "--dry-run", "--depfile", rule).done()
    assert not rule.exists()
    project.gguf.write_bytes(b"none")
    assert project.run("--depfile", rule).code == 3
    assert not rule.exists()


def test_a_folder_that_is_missing_is_named(project):
    line = project.run("--depfile", project.root / "no" / "x.d").refused(4)
    assert "No such file or directory" in line
