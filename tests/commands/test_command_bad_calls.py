"""Every command with everything wrong that comes to mind: an exit code, a line, and nothing else."""

import os
import socket
from pathlib import Path

import pytest
from command_line import call
from tiny_model import manifest_text

WITH_MANIFEST = ["run", "status", "dag", "clean"]
WITH_FILE = ["inspect", "verify", "encode", "decode"]

MANIFESTS = {
    "empty": b"",
    "blank": b"\n\n  \n",
    "null": b"null\n",
    "a list": b"- a\n",
    "a word": b"word\n",
    "no YAML": b"a: [1\n",
    "a tab": b"version: 1\n\tmodel: x\n",
    "not UTF-8": b"version: \xff\n",
    "UTF-16": "version: 1\n".encode("utf-16"),
    "NULs": bytes(100),
    "random": os.urandom(2000).replace(b"\xff", b"\xfe\xff"),
    "a GGUF": b"GGUF\x03\0\0\0" + bytes(64),
    "deep": b"a: " + b"[" * 5000,
    "long": b"a: " + b"x" * 300_000,
    "an alias bomb": b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    "a tag": b"!!python/object/apply:os.system ['true']\n",
    "two documents": b"version: 1\n---\nversion: 1\n",
    "another version": b"version: 2\n",
    "a duplicate key": b"version: 1\nversion: 1\n",
    "no model": b"version: 1\nout: o\nsteps: [inspect]\n",
    "no such step": manifest_text(steps=["no_such_step"]).encode(),
    "a step twice": manifest_text(steps=["inspect", "inspect"]).encode(),
    "no steps": manifest_text(steps=[]).encode(),
    "a step without its inputs": manifest_text(steps=["runtime_image"]).encode(),
    "an empty out": manifest_text(out="").encode(),
    "a NUL in out": manifest_text(out="a\0b").encode(),
    "a line feed in out": manifest_text(out="a\nb").encode(),
    "a pin outside": manifest_text(expect={"../x": "0" * 64}).encode(),
    "no digest": manifest_text(expect={"vocab.bin": "sha256:xyz"}).encode(),
    "two models": manifest_text(model={"gguf": "a", "sample": "qwen3"}).encode(),
    "no such sample": manifest_text(model={"sample": "qwen9"}).encode(),
    "no such rule": manifest_text(model={"gguf": "a", "pre": "gpt-2"}).encode(),
}


def require_lines(outcome, codes, *, at_most=1):
    """Require an exit code and some lines, each of which a terminal can show."""
    assert outcome.code in codes, outcome
    assert "Traceback" not in outcome.err
    lines = outcome.err.splitlines()
    assert outcome.err.endswith("\n"), outcome
    assert 1 <= len(lines) <= at_most, outcome
    assert all(line.isprintable() and len(line) < 1000 for line in lines), outcome


@pytest.mark.parametrize("command", WITH_MANIFEST)
@pytest.mark.parametrize("data", MANIFESTS.values(), ids=MANIFESTS.keys())
def test_broken_manifests(project, command, data):
    project.manifest.write_bytes(data)
    outcome = call(command, project.manifest)
    require_lines(outcome, {2}, at_most=21)
    assert outcome.out == ""
    assert str(project.manifest) in outcome.err
    assert not project.out.exists()


@pytest.mark.parametrize("command", WITH_MANIFEST)
@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("x", "expected KEY=VALUE"),
        ("=", "expected KEY=VALUE"),
        ("a.b.c=1", "unknown key"),
        ("steps.inspekt.x=1", "did you mean inspect?"),
        ("steps.runtime_image.align=48", "expected a power of two"),
        ("steps.runtime_image=[", ""),
        ("out=", ""),
        ("out=a\x00b", ""),
        ("version=2", ""),
        ("model.gguf=\x1b[2J", ""),
        ("y" * 5000 + "=1", ""),
    ],
    ids=ascii,
)
def test_broken_overrides(project, command, option, words):
    outcome = call(command, project.manifest, "--set", option)
    require_lines(outcome, {2})
    assert words in outcome.err
    assert not project.out.exists()


@pytest.fixture
def places(project, monkeypatch, no_hang):
    """Make every kind of thing that a path can lead to, and go there."""
    monkeypatch.chdir(project.root)
    os.mkfifo("pipe")
    Path("dangling").symlink_to("nowhere")
    Path("loop").symlink_to("loop")
    Path("folder").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        yield project


PATHS = [
    "nothing",
    "folder",
    "pipe",
    "socket",
    "dangling",
    "loop",
    "/dev/null",
    "tiny.gguf/x",
    "",
    "x" * 300,
    "a\nb\x1b[2J",
]


@pytest.mark.parametrize("path", PATHS, ids=ascii)
@pytest.mark.parametrize("command", WITH_FILE)
def test_paths_that_lead_to_no_file(places, command, path):
    arguments = ["1"] if command in ("encode", "decode") else []
    outcome = call(command, path, *arguments)
    require_lines(outcome, {1, 2, 3, 4})
    assert outcome.out == ""


@pytest.mark.parametrize("path", [path for path in PATHS if path != "pipe"], ids=ascii)
@pytest.mark.parametrize("command", WITH_MANIFEST)
def test_manifests_that_are_no_file(places, command, path):
    outcome = call(command, path)
    require_lines(outcome, {2, 4})
    assert outcome.out == ""


@pytest.mark.parametrize("path", PATHS, ids=ascii)
def test_models_that_are_no_file(places, path):
    places.manifest.write_text(manifest_text(gguf=path), encoding="utf-8")
    outcome = places.run()
    require_lines(outcome, {2, 3, 4})


@pytest.mark.parametrize("path", [path for path in PATHS if path not in ("folder", "nothing")], ids=ascii)
def test_output_folders_that_are_none(places, path):
    outcome = places.run("--out", path)
    if path in ("dangling", "a\nb\x1b[2J") and outcome.code == 0:
        assert Path(path).is_dir()
        return
    require_lines(outcome, {2, 4})


@pytest.mark.parametrize("value", ["0", "a", "/nonexistent", "\x1b[2J", "/dev/null", "x" * 300])
def test_stores_that_are_none(project, monkeypatch, value):
    monkeypatch.setenv("OLLAMA_MODELS", value)
    project.write_manifest(model={"ollama": "qwen2.5:0.5b"}, steps=["inspect"])
    require_lines(project.run(), {3, 4})
    require_lines(call("inspect", "qwen2.5:0.5b"), {3, 4})
    outcome = call("models")
    assert outcome.code in (0, 4)
    assert all(line.isprintable() for line in outcome.lines)


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "a b",
        "a/b/c/d/e",
        "../x",
        "a:b:c",
        "http://x/y",
        "a\nb",
        "-",
        "x" * 900,
        "\u202e",
        "a@sha256:0",
    ],
)
def test_names_that_no_model_has(project, name):
    require_lines(call("inspect", name), {2, 3})
    project.write_manifest(model={"ollama": name}, steps=["inspect"])
    require_lines(project.run(), {2, 3})
    assert not (project.out / "build.json").exists()
