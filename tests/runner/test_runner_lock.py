"""Two runs into one folder: one at a time."""

import os
import threading
import time

import pytest
from command_line import call, child, finish, start
from projects import WORK

from pipeline.errors import MachineError
from pipeline.runner.lock import locked


def nobody(line):
    raise AssertionError(line)


@pytest.fixture
def held(built):
    """The folder's lock, held by this process."""
    path = built.out / WORK / "lock"
    with locked(path, wait=False, on_wait=nobody):
        yield path


@pytest.mark.parametrize("command", ["run", "clean"])
def test_the_second_run_stops_and_names_the_first(built, held, command):
    before = built.stamps()
    line = child(command, built.manifest).refused(4)
    assert line == (
        f"pipeline: {built.out}: another run (process {os.getpid()}) works in this folder; wait for it, or use --wait"
    )
    assert built.stamps() == before


@pytest.mark.parametrize("command", [("status",), ("run", "--dry-run"), ("clean", "--dry-run"), ("dag",)])
def test_what_only_looks_needs_no_lock(built, held, command):
    assert call(command[0], built.manifest, *command[1:]).code == 0


def test_waiting(project):
    """The second run starts while the first holds the folder, and finds everything fresh."""
    project.run("--only", "layers").done()
    with locked(project.out / WORK / "lock", wait=False, on_wait=nobody):
        second = start("run", project.manifest, "--wait")
        first_line = second.stdout.readline()
        assert first_line == f"{project.out}: waiting for another run (process {os.getpid()})\n".encode()
        assert second.poll() is None
        # What the first run would do: make everything while it has the lock.
        built = project.root / "other"
        project.run("--out", built).done()
        for path in built.iterdir():
            if path.name != WORK:
                path.replace(project.out / path.name)
    outcome = finish(second)
    assert (outcome.code, outcome.err) == (0, "")
    assert [line.split() for line in outcome.lines[1:-1]] == [[step, "fresh"] for step in project.states()]


def test_two_whole_runs_at_once(project):
    """Both wait where they must; together they leave one clean build."""
    runs = [start("run", project.manifest, "--wait") for _ in range(3)]
    outcomes = [finish(run) for run in runs]
    assert [(outcome.code, outcome.err) for outcome in outcomes] == [(0, "")] * 3
    made = sorted(outcome.lines[-1].split(";")[0] for outcome in outcomes)
    assert made == ["8 fresh", "8 fresh", "8 made"]
    assert project.reasons() == {}
    assert call("verify", project.out).done().lines[-1].startswith("22 of 22 files verified")


def test_the_lock_of_a_run_that_is_gone_is_free(built):
    (built.out / WORK / "lock").write_bytes(b"999999\n")
    built.run().done()
    assert (built.out / WORK / "lock").read_bytes() == f"{os.getpid()}\n".encode()


@pytest.mark.parametrize("content", [b"", b"no number", b"\xff" * 100, "１２".encode()])
def test_a_holder_whose_number_cannot_be_read(tmp_path, content):
    path = tmp_path / "out" / WORK / "lock"
    path.parent.mkdir(parents=True)
    with locked(path, wait=False, on_wait=nobody):
        path.write_bytes(content)
        with (
            pytest.raises(MachineError, match=r"out: another run works in this folder"),
            locked(path, wait=False, on_wait=nobody),
        ):
            pass


def test_it_is_given_back_when_the_work_fails(tmp_path):
    path = tmp_path / "lock"
    with pytest.raises(KeyError), locked(path, wait=False, on_wait=nobody):
        raise KeyError
    with locked(path, wait=False, on_wait=nobody):
        assert path.read_bytes() == f"{os.getpid()}\n".encode()


def test_a_wait_in_this_process_ends_when_the_other_lets_go(tmp_path):
    path = tmp_path / "out" / WORK / "lock"
    path.parent.mkdir(parents=True)
    told, entered = [], threading.Event()

    def second():
        with locked(path, wait=True, on_wait=told.append):
            entered.set()

    with locked(path, wait=False, on_wait=nobody):
        thread = threading.Thread(target=second)
        thread.start()
        deadline = time.monotonic() + 10
        while not told and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not entered.is_set()
    thread.join(10)
    assert entered.is_set()
    assert told == [f"{tmp_path / 'out'}: waiting for another run (process {os.getpid()})"]
