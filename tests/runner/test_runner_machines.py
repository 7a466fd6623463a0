"""Other machines: the same bytes whatever the locale, the names, the streams and the home are like."""

import os
import subprocess
import sys

import pytest
from command_line import ROOT, TIMEOUT_S, call, child, command, environment, without_rights
from projects import Project, contents
from tiny_model import manifest_text, write_tiny

SETTINGS = {
    "plain": {"PYTHONHASHSEED": "0"},
    "C": {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "LC_ALL": "C", "LANG": None},
    "C without UTF-8": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "TZ": "UTC+14"},
    "UTF-8": {"PYTHONHASHSEED": "12345", "LC_ALL": "C.UTF-8", "TZ": "America/St_Johns"},
    "Turkish": {"PYTHONHASHSEED": "77", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "optimised": {"PYTHONOPTIMIZE": "2", "PYTHONHASHSEED": "99"},
    "no environment": None,
}


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())
def test_the_same_bytes_in_another_environment(built, tmp_path_factory, setting):
    other = Project(tmp_path_factory.mktemp("other place"))
    env = {"PYTHONPATH": str(ROOT)} if setting is None else environment(**setting)
    ended = subprocess.run(
        command("run", os.path.relpath(other.manifest, "/usr")),
        cwd="/usr",
        env=env,
        umask=0o077,
        capture_output=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert other.contents() == built.contents()


ODD_NAMES = [
    b"with blanks",
    b" leading and trailing ",
    b'it\'s "quoted" `here` $HOME *?[x]',
    b"two\nlines",
    b"tab\tbell\a\x1b[31m",
    b"not utf-8 \xff\xfe",
    b"-dash",
    b"%s%d{0}",
    "Ünïcödé ✓ 就".encode(),
    "e\u0301 decomposed".encode(),
    b"x" * 200,
    b"#comment: &anchor",
]


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_odd_names(built, tmp_path, name):
    """Of the folder, of the model's file, of the manifest; named on one line each."""
    folder = tmp_path / os.fsdecode(name)
    folder.mkdir()
    gguf = folder / os.fsdecode(name[:100] + b".gguf")
    write_tiny(gguf)
    manifest = folder / os.fsdecode(name[:100] + b".yaml")
    plain = not any(byte in name for byte in b"\n\t\a\x1b\xff")
    # A name that YAML cannot hold is given from outside, by a link beside the manifest.
    (folder / "model.gguf").symlink_to(gguf)
    text = manifest_text(gguf.name if plain else "model.gguf", "the out")
    manifest.write_text(text, encoding="utf-8", errors="surrogateescape")
    out = folder / os.fsdecode(b"out " + name[:100])
    outcome = child("run", manifest, "--out", out).done()
    assert all(line.isprintable() for line in outcome.lines)
    assert len(outcome.lines) == 20
    found = contents(out)
    del found["build.json"]
    good = built.contents()
    del good["build.json"]
    assert found == good
    assert call("verify", out).code == 0
    assert {line.split()[1] for line in call("status", manifest, "--out", out).done().lines[1:]} == {"fresh"}
    (out / "vocab.bin").unlink()
    (out / "vocab.bin").mkdir()
    call("run", manifest, "--out", out).refused(2)


def test_a_name_that_the_locale_cannot_hold(project):
    """Given as UTF-8 in the manifest, and no name of a file where names are ASCII."""
    text = project.manifest.read_text(encoding="utf-8")
    there = sorted(project.manifest.parent.iterdir())
    project.manifest.write_text(text.replace('"out": "out"', '"out": "caf\u00e9"'), encoding="utf-8")
    line = project.child(env=SETTINGS["C without UTF-8"]).refused(4)
    assert line.endswith(
        r"caf\xe9: this locale has names of files in ascii, which lacks '\xe9'; "
        "set LC_ALL=C.UTF-8, or PYTHONUTF8=1"
    )
    assert sorted(project.manifest.parent.iterdir()) == there


def test_a_long_path(built, tmp_path):
    folder = tmp_path
    for _ in range(15):
        folder /= "x" * 200
    folder.mkdir(parents=True)
    built.run("--out", folder / "out").done()
    assert contents(folder / "out") == built.contents()


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "ascii:strict"])
def test_standard_output_of_another_encoding(built, encoding):
    """The line with the Chinese characters that the tiny vocabulary lacks does not stop it."""
    outcome = built.child("--force", env={"PYTHONIOENCODING": encoding})
    assert (outcome.code, outcome.stderr.replace(b"\xff\xfe", b"")) == (0, b"")
    text = outcome.stdout.decode(encoding.partition(":")[0])
    assert ("的一是" in text) is (encoding == "utf-16")
    assert ("\\u7684\\u4e00" in text) is (encoding != "utf-16")


@pytest.mark.parametrize(
    "arguments", [["run"], ["run", "--force"], ["run", "--json"], ["status"], ["dag"], ["clean"]]
)
def test_the_reader_of_standard_output_has_gone(built, arguments):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as stdout:
        outcome = child(arguments[0], built.manifest, *arguments[1:], stdout=stdout)
    assert (outcome.code, outcome.err) == (4, "")
    assert built.reasons() == {}


@pytest.mark.parametrize("arguments", [["run"], ["run", "--json"], ["status"], ["dag"], ["clean"]])
def test_standard_output_is_full(built, arguments):
    with open("/dev/full", "wb") as stdout:  # noqa: PTH123
        outcome = child(arguments[0], built.manifest, *arguments[1:], stdout=stdout)
    assert outcome.refused(4) == "pipeline: standard output: No space left on device"


@pytest.mark.parametrize("descriptors", [(0,), (1,), (2,), (0, 1, 2)], ids=str)
def test_closed_streams(project, descriptors):
    """The first files that are opened must not take their places."""

    def close():
        for descriptor in descriptors:
            os.close(descriptor)

    outcome = project.child(preexec_fn=close, stdin=None)
    assert outcome.code == 0
    assert outcome.err == ""
    assert bool(outcome.out) is (1 not in descriptors)
    assert project.reasons() == {}


def test_a_failure_with_standard_error_closed_or_full(project):
    project.gguf.unlink()
    assert project.child(preexec_fn=lambda: os.close(2)).code == 3
    with open("/dev/full", "wb") as stderr:  # noqa: PTH123
        assert project.child(stderr=stderr).code == 3


def test_no_home_and_no_place_for_a_cache(project):
    env = {"HOME": None, "PIPELINE_CACHE": None, "XDG_CACHE_HOME": None}
    project.child(env=env).done()
    project.child(env={**env, "HOME": "/nonexistent"}).done()
    project.child(env={**env, "HOME": "/dev/null"}).done()
    assert project.child(env={**env, "HOME": ""}).code == 0


def test_a_read_only_home_and_cache(project, tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o555)
    for name in ("HOME", "PIPELINE_CACHE"):
        env = {"HOME": str(home), "PIPELINE_CACHE": None, name: str(home)}
        project.child(env=env, preexec_fn=without_rights).done()
    assert list(home.iterdir()) == []


def test_the_sample_without_a_place_for_it(project, tmp_path):
    project.write_manifest(model={"sample": "qwen2.5"}, steps=["inspect"])
    home = tmp_path / "home"
    home.mkdir(mode=0o555)
    env = {"PIPELINE_CACHE": str(home / "cache")}
    line = project.child(env=env, preexec_fn=without_rights).refused(4)
    assert line.startswith(f"pipeline: {home / 'cache' / 'samples'}")
    assert line.endswith("the sample cannot be written: Permission denied; make room or set PIPELINE_CACHE")


def test_a_working_folder_that_is_gone(project, tmp_path):
    """Paths are absolute; where the caller stands does not matter."""
    gone = tmp_path / "gone"
    gone.mkdir()
    script = "import os, sys; os.rmdir(os.getcwd()); from pipeline.__main__ import main; sys.exit(main(sys.argv[1:]))"
    ended = subprocess.run(
        [sys.executable, "-c", script, "run", project.manifest],
        cwd=gone,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_same_names_in_json_whatever_the_locale(project):
    """JSON is ASCII."""
    outcome = project.child("--json", env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}).done()
    assert outcome.stdout.isascii()
    assert [event["event"] for event in outcome.objects][-1] == "done"
