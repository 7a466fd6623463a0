"""The encoders as processes: one for each measurement, on one core."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from encoder_bench.workplace import HERE, ROOT, Workplace, run
from formats.q25tokrt.layout import Profile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

READERS = {f"C reader, {profile.name.lower()}": profile for profile in Profile}
"""The C reader on an image of each profile."""

C_READER = next(name for name, profile in READERS.items() if profile == Profile.STANDARD)
ENGINE_C, REFERENCE = "engine c", "tokenizers"

PEERS = ("tiktoken", "bpe-qwen", "quicktok-v1", "tokie")

ENCODERS = (*READERS, ENGINE_C, REFERENCE, *PEERS)
"""In the order of the tables."""

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
    "PYTHONPATH": str(ROOT),
    "PYTHONHASHSEED": "0",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def stay_on_one_core() -> None:
    """Keep this process and its children on one core, the last that it may use."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def script(place: Workplace, encoder: str, task: str, files: Iterable[Path] = ()) -> list[str]:
    """Return the command of an encoder that is called from Python."""
    python = sys.executable if encoder == ENGINE_C else place.peer_python
    return [str(word) for word in (python, HERE / "peers.py", place.folder, encoder, task, *files)]


def harness(place: Workplace, profile: Profile, task: str, *rest: object) -> list[str]:
    """Return the command of the C reader on this machine, with the image of a profile."""
    return [str(word) for word in (place.folder / "harness", task, place.image(profile), *rest)]


def answer(place: Workplace, encoder: str, task: str, files: Iterable[Path]) -> Any:
    """Run an encoder that is called from Python; return its answer."""
    return json.loads(run(*script(place, encoder, task, files), env=ENVIRONMENT))


@dataclass(frozen=True)
class Start:
    """A process up to its first token.

    Attributes:
        milliseconds: from the request for a process to the first line it wrote, by the clock on the wall.
        processor_milliseconds: what the processor worked for the process, to its end.
        mib: its peak of resident memory.

    """

    milliseconds: float
    processor_milliseconds: float
    mib: float


def start(command: list[str]) -> Start:
    """Start a process that writes a line, then the KiB of its peak."""
    begin = time.perf_counter()
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as process:
        first = process.stdout.readline()
        seconds = time.perf_counter() - begin
        peak = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or not first:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    return Start(1000 * seconds, 1000 * (usage.ru_utime + usage.ru_stime), int(peak) / 1024)


def usage(command: list[object]) -> tuple[float, float]:
    """Run a command that must succeed: return what the processor worked for it in seconds, and its peak in MiB."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
