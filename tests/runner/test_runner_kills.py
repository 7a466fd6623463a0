"""A run that is ended at any moment leaves whole files only, and the next run ends as a clean build does."""

import random
import shutil
import signal
import subprocess
import sys
import time

import pytest
from command_line import TIMEOUT_S, call, finish, start
from projects import WORK, Project, contents
from tiny_model import MERGES, TEMPLATE, tensors, tokens, write_tiny

from formats.gguf.value_types import ValueType

OLD_LAYERS, NEW_LAYERS = range(12), range(1, 13)
"""So many that giving files their names takes a good part of a run."""
QUICK, LONG = 10, 50


def write_other_model(path):
    """Write a model of which every artifact differs, and some files are of one model alone."""
    merges = ("d c", *MERGES[1:], "h a")
    changes = {"tokenizer.chat_template": (ValueType.STRING, TEMPLATE * 2)}
    write_tiny(path, changes, tensors(NEW_LAYERS, "new"), rows=tokens(merges), merges=merges)


class Two:
    """A project built from one model, and everything that the other model's build holds."""

    def __init__(self, root):
        self.root = root
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PIPELINE_CACHE", str(root / "cache"))
            project = Project(root / "old")
            write_tiny(project.gguf, body=tensors(OLD_LAYERS))
            project.run().done()
            self.old = project.contents()
            write_other_model(project.gguf)
            project.run("--out", root / "new").done()
            self.new = contents(root / "new")
        assert not [name for name in self.old if self.old[name] == self.new.get(name)]
        self.project = project

    def copy(self, to):
        shutil.copytree(self.project.root, to, dirs_exist_ok=True)
        return Project(to, write=False)

    def require_whole(self, project):
        """Require of every file that it is the old one or the new one."""
        for name, digest in project.contents().items():
            if name == "build.json":
                continue  # it goes from one to the other step by step
            assert digest in (self.old.get(name), self.new.get(name)), name
        # The record is whole too, and so are the tool's own files.
        assert project.record()["record_version"] == 1
        assert project.known()

    def require_healed(self, project):
        """Run again, and require what a clean build has."""
        project.run().done()
        project.clean().done()
        assert project.contents() == self.new
        assert project.reasons() == {}
        assert not (project.out / WORK / "staging").exists()


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return Two(tmp_path_factory.mktemp("two"))


def begin(project):
    """Start a run, and wait until it has found its model."""
    process = start("run", project.manifest, "--json")
    line = process.stdout.readline()
    assert line.startswith(b'{"event": "source"'), (line, process.stderr.read())
    return process


@pytest.fixture(scope="module")
def duration_s(two, tmp_path_factory):
    """Measure how long a run works once it has found its model."""
    process = begin(two.copy(tmp_path_factory.mktemp("measured")))
    began = time.monotonic()
    assert finish(process).code == 0
    return time.monotonic() - began


def end_at(project, moment_s, how):
    process = begin(project)
    time.sleep(moment_s)
    process.send_signal(how)
    return finish(process)


def kill_and_heal(two, tmp_path, duration_s, number, count):
    """Kill at a random moment of one of `count` equal parts of a run."""
    moment = duration_s * (number + random.Random(number).random()) / count
    project = two.copy(tmp_path)
    outcome = end_at(project, moment, signal.SIGKILL)
    assert outcome.code in (-signal.SIGKILL, 0)
    two.require_whole(project)
    two.require_healed(project)


@pytest.mark.parametrize("number", range(QUICK))
def test_killed_at_a_random_moment(two, alone, tmp_path, duration_s, number):
    kill_and_heal(two, tmp_path, duration_s, number, QUICK)


@pytest.mark.long
@pytest.mark.parametrize("number", range(LONG))
def test_killed_at_many_random_moments(two, alone, tmp_path, duration_s, number):
    kill_and_heal(two, tmp_path, duration_s, number, LONG)


SUICIDE = """
import os, pathlib, signal, sys
calls, limit = 0, int(sys.argv[1])
def deadly(name):
    real = getattr(pathlib.Path, name)
    def count(self, *args, **options):
        global calls
        calls += 1
        if calls == limit:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(self, *args, **options)
    setattr(pathlib.Path, name, count)
for name in ("replace", "unlink", "mkdir"):
    deadly(name)
from pipeline.__main__ import main
code = main(["run", sys.argv[2]])
print(calls, file=sys.stderr)
sys.exit(code)
"""


def run_until_call(project, limit):
    """Run in a child that kills itself at its `limit`th renaming, removal or making of a folder."""
    return subprocess.run(
        [sys.executable, "-c", SUICIDE, str(limit), project.manifest],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )


@pytest.fixture(scope="module")
def n_calls(two, tmp_path_factory):
    ended = run_until_call(two.copy(tmp_path_factory.mktemp("counted")), 0)
    assert ended.returncode == 0, ended.stderr
    return int(ended.stderr)


def kill_at_call_and_heal(two, tmp_path, limit):
    project = two.copy(tmp_path)
    assert run_until_call(project, limit).returncode == -signal.SIGKILL
    two.require_whole(project)
    two.require_healed(project)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.7, 1.0])
def test_killed_before_a_renaming(two, alone, tmp_path, n_calls, part):
    assert n_calls > 200
    kill_at_call_and_heal(two, tmp_path, 1 + round(part * (n_calls - 1)))


@pytest.mark.long
@pytest.mark.parametrize("number", range(LONG))
def test_killed_before_many_a_renaming(two, alone, tmp_path, n_calls, number):
    kill_at_call_and_heal(two, tmp_path, 1 + round(number * (n_calls - 1) / (LONG - 1)))


@pytest.mark.parametrize("part", [0.05, 0.6])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=lambda how: how.name)
def test_asked_to_stop(two, alone, tmp_path, duration_s, how, part):
    project = two.copy(tmp_path)
    outcome = end_at(project, part * duration_s, how)
    if b'"event": "done"' not in outcome.stdout:  # else it was too late
        if how is signal.SIGINT:
            # Python ends itself by the signal where that hit a piece of its own generated code: the
            # shell sees 130 either way.
            assert outcome.code in (130, -how)
            assert outcome.err == "pipeline: interrupted\n"
        else:
            assert (outcome.code, outcome.err) == (-how, "")
    if how is signal.SIGINT:
        assert not (project.out / WORK / "staging").exists()
    two.require_whole(project)
    two.require_healed(project)


def test_interrupted_in_a_step(built, monkeypatch):
    """Whatever the step was doing, what it had written so far is dropped."""
    from pipeline.steps import DECLARATIONS

    def run(self, job):
        job.write("model.json", b"{}")
        raise KeyboardInterrupt

    good = built.contents()
    monkeypatch.setattr(type(DECLARATIONS["inspect"]), "run", run)
    outcome = built.run("--force")
    assert outcome.refused(130) == "pipeline: interrupted"
    assert built.contents() == good
    assert not (built.out / WORK / "staging").exists()


def test_interrupted_while_waiting_for_another_run(project):
    from pipeline.runner.lock import locked

    project.run("--only", "layers").done()
    with locked(project.out / WORK / "lock", wait=False, on_wait=print):
        waiting = start("run", project.manifest, "--wait")
        assert b"waiting for another run" in waiting.stdout.readline()
        waiting.send_signal(signal.SIGINT)
        outcome = finish(waiting)
    assert (outcome.code, outcome.err) == (130, "pipeline: interrupted\n")


@pytest.mark.parametrize("limit", [14, 31, 40])
def test_a_first_run_that_is_killed_leaves_no_stranger(project, limit):
    """Whatever got its name before the kill is known for ours, even to a run with another model."""
    ended = run_until_call(project, limit)
    assert ended.returncode == -signal.SIGKILL
    assert project.names()
    write_other_model(project.gguf)
    good = project.root / "good"
    project.run("--out", good).done()
    project.run().done()
    project.clean().done()
    assert project.contents() == contents(good)
    assert call("verify", project.out).code == 0
