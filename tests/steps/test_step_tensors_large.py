"""Step `tensors` on a large model: constant memory, and progress that a person or a log can follow."""

import os
import pty
import re
import subprocess
import sys

import pytest
from command_line import TIMEOUT_S, child, command
from projects import Project
from tiny_model import tensor, write_tiny

from formats.ggml_types import GgmlType
from pipeline.commands import reporting
from pipeline.commands.reporting import Progress

MIB = 1 << 20
SIZES = [100 * MIB, 60 * MIB, 140 * MIB]
TOTAL = sum(SIZES)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A model of 300 MiB that takes no room on the disk: its data is a hole in the file."""
    project = Project(tmp_path_factory.mktemp("large"))
    project.write_manifest(steps=["inspect", {"tensors": {"mode": "index"}}])
    small = [tensor(f"t{number}", GgmlType.F32, (1, 1)) for number in range(len(SIZES))]
    write_tiny(project.gguf, body=small)
    data = bytearray(project.gguf.read_bytes())
    # Patch the directory of a small file: names are followed by n_dims, ne, type, offset.
    offset = 0
    for number, size in enumerate(SIZES):
        name = f"t{number}".encode()
        at = data.index(len(name).to_bytes(8, "little") + name) + 8 + len(name) + 4
        data[at : at + 8] = (size // 4).to_bytes(8, "little")
        data[at + 20 : at + 28] = offset.to_bytes(8, "little")
        offset += size
    head = len(data) - len(SIZES) * 32
    project.gguf.write_bytes(data[:head])
    os.truncate(project.gguf, head + TOTAL)
    assert project.gguf.stat().st_blocks * 512 < MIB
    return project


# Of this process alone: getrusage's figure would hold that of the process it was forked from.
PEAK = """
import sys
from pipeline.__main__ import main
code = main(sys.argv[1:])
(line,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM:")]
print(int(line.split()[1]) // 1024, file=sys.stderr)
sys.exit(code)
"""


def test_memory_stays_small(large, alone):
    """300 MiB are hashed for the digest of the model, and copied."""
    copy = ("--set", "steps.tensors.mode=copy")
    ended = subprocess.run(
        [sys.executable, "-c", PEAK, "run", large.manifest, "--out", large.root / "memory", *copy],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    assert ended.returncode == 0, ended.stderr
    assert f"3 of 3 tensors, {TOTAL:,} bytes\n" in ended.stdout
    for number, size in enumerate(SIZES):
        written = large.root / "memory" / "tensors" / f"t{number}.bin"
        assert written.stat().st_size == size
        written.unlink()
    peak_mib = int(ended.stderr.splitlines()[-1])
    assert peak_mib < 150, peak_mib


def test_a_log_gets_a_line_now_and_then(large, alone):
    outcome = child("run", large.manifest, "--out", large.root / "log")
    assert outcome.code == 0
    lines = outcome.err.splitlines()
    assert [
        line for line in lines if not re.fullmatch(r"[a-z ]+: [0-9]+% of 314,5[0-9]{2},[0-9]{3} bytes", line)
    ] == []
    for what in ("checking the model", "tensors"):
        percents = [int(line.split()[-4].rstrip("%")) for line in lines if line.startswith(f"{what}: ")]
        assert [percent // 10 for percent in percents] == list(range(1, 11)), percents
    assert "\r" not in outcome.err


def test_a_terminal_gets_a_bar(large, alone):
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        command("run", large.manifest, "--out", large.root / "bar"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=end,
    )
    os.close(end)
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # what Linux answers when the other end has gone
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    assert process.wait(TIMEOUT_S) == 0
    assert b"\n" not in shown
    frames = [frame for frame in shown.decode().split("\r") if frame.strip()]
    assert all(
        re.fullmatch(r"\[#*\.*\] (checking the model|tensors): [0-9]+% of 314,5\S+ bytes", f) for f in frames
    )
    last = [frame for frame in frames if "tensors" in frame][-1]
    assert last.startswith(f"[{'#' * 30}] tensors: 100% of {TOTAL:,} bytes")
    # At the end the bar is wiped off.
    assert shown.decode().rsplit("\r", 2)[-2].strip() == ""


class Stream:
    def __init__(self, *, terminal=False):
        self.text, self.terminal = "", terminal

    def isatty(self):
        return self.terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_small_work_shows_nothing():
    for terminal in (False, True):
        stream = Stream(terminal=terminal)
        Progress(stream).show("x", 1, reporting._QUIET_BYTES - 1)
        Progress(stream).show("x", 0, 0)
        assert stream.text == ""


def test_steps_that_jump_over_a_line_do_not_lose_it():
    stream = Stream()
    progress = Progress(stream)
    total = 1000 * MIB
    for done in (5, 90, 95, 280, 999, 1000):
        progress.show("x", done * MIB, total)
    assert [line.split()[1] for line in stream.text.splitlines()] == ["28%", "99%", "100%"]


def test_each_piece_of_work_begins_anew():
    stream = Stream()
    progress = Progress(stream)
    for what in ("a", "b"):
        for done in range(101):
            progress.show(what, done * MIB, 100 * MIB)
        progress.clear()
    assert [line.split(":")[0] for line in stream.text.splitlines()] == ["a"] * 10 + ["b"] * 10


def test_a_watcher_who_has_gone_stops_nothing():
    class Gone(Stream):
        def write(self, text):
            raise BrokenPipeError

    for terminal in (False, True):
        progress = Progress(Gone(terminal=terminal))
        progress.show("x", 50 * MIB, 100 * MIB)
        progress.clear()
        assert not progress._shown
