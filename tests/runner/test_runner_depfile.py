"""`run --depfile`: the rule is read by Make itself, and names every input."""

import os
import subprocess

import pytest
from command_line import call
from required_tools import need

from pipeline.runner.depfile import depfile, write_depfile


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


@pytest.mark.parametrize(
    "name", ["x:y.gguf", "100%.gguf", "a%b%c.gguf", "a#b.gguf", "a$b.gguf", "d: %$#/é (1).gguf"]
)
def test_make_and_ninja_follow_inputs_of_any_name(project, tmp_path, name):
    """CMake writes what it reads from a depfile into files of Make and Ninja, and escapes less."""
    gguf = project.root / name
    gguf.parent.mkdir(exist_ok=True)
    project.gguf.rename(gguf)
    project.write_manifest(gguf=name, steps=["inspect"])
    project.run("--depfile", tmp_path / "x.d", "--depfile-target", "stamp").done()
    (tmp_path / "Makefile").write_text("stamp:\n\t@touch stamp; echo made\ninclude x.d\n")
    (tmp_path / "build.ninja").write_text(
        "rule r\n command = cp x.d y.d && touch stamp && echo made\n depfile = y.d\nbuild stamp: r\n"
    )
    text = (tmp_path / "x.d").read_text()
    assert not set("#$%") & set(text)
    assert all(line.count(":") <= 1 for line in text.splitlines())
    for tool in ("make", "ninja"):

        def made(tool=tool):
            done = subprocess.run([need(tool)], cwd=tmp_path, capture_output=True, text=True, check=True)
            return "made" in done.stdout.splitlines()

        (tmp_path / "stamp").unlink(missing_ok=True)
        assert made()
        assert not made()
        later = (tmp_path / "stamp").stat().st_mtime + 10
        os.utime(gguf, (later, later))
        assert made()
        os.utime(gguf, (1, 1))
        assert not made()
        gguf.rename(tmp_path / "gone")
        assert made()
        (tmp_path / "gone").rename(gguf)


def test_links_that_are_not_needed_any_more_go(project):
    rule = project.root / "x.d"
    links = project.root / "x.d.links"
    write_depfile(rule, "t", ["/a:b", "/c"])
    (link,) = links.iterdir()
    assert str(link.readlink()) == "/a:b"
    assert rule.read_text() == f"t: \\\n {link} \\\n /c\n{link}:\n/c:\n"
    write_depfile(rule, "t", ["/c"])
    assert not links.exists()
    write_depfile(rule, "t", ["/a:b"])
    (links / "mine").write_text("kept")
    write_depfile(rule, "t", ["/c"])
    assert [path.name for path in links.iterdir()] == ["mine"]


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
