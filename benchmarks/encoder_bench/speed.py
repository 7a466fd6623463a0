"""How fast, how right, how soon."""

from __future__ import annotations

import hashlib
import statistics
import struct
import subprocess
import sys
from typing import TYPE_CHECKING

from encoder_bench.processes import (
    ENCODERS,
    READERS,
    REFERENCE,
    answer,
    harness,
    script,
    start,
)
from encoder_bench.workplace import run

if TYPE_CHECKING:
    from pathlib import Path

    from encoder_bench.workplace import Workplace
    from formats.q25tokrt.layout import Profile

ONLY_PYTHON = "python, importing nothing"
"""A row of the table of starts, to see what the language takes."""

_ONLY_PYTHON = (
    "print('', flush=True); "
    "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM:')))"
)


def megabytes_per_second(place: Workplace, runs: int) -> dict[str, dict[str, float]]:
    """Return the median of the runs, encoder -> corpus -> MB/s; each run has every encoder in turn."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for _ in range(runs):
        for encoder in ENCODERS:
            for one, taken in zip(place.corpora, _seconds(place, encoder), strict=True):
                seconds.setdefault((encoder, one.name), []).append(taken)
    return {
        encoder: {
            one.name: one.size / 1e6 / statistics.median(seconds[encoder, one.name]) for one in place.corpora
        }
        for encoder in ENCODERS
    }


def _seconds(place: Workplace, encoder: str) -> list[float]:
    """Time each corpus once, in seconds of the processor."""
    if encoder not in READERS:
        return answer(place, encoder, "time", place.files())
    return [int(run(*harness(place, READERS[encoder], "time", file, 1))) / 1e9 for file in place.files()]


def wrong_documents(place: Workplace) -> dict[str, dict[str, int]]:
    """Return how many documents have other ids than the reference gives, encoder -> corpus -> number."""
    expected = answer(place, REFERENCE, "check", place.files())
    wrong = {}
    for encoder in ENCODERS:
        if encoder == REFERENCE:
            continue
        if encoder in READERS:
            found = [digests_of(place, READERS[encoder], file) for file in place.files()]
        else:
            found = answer(place, encoder, "check", place.files())
        wrong[encoder] = {
            one.name: sum(mine != theirs for mine, theirs in zip(ids, wanted, strict=True))
            for one, ids, wanted in zip(place.corpora, found, expected, strict=True)
        }
    return wrong


def digests_of(place: Workplace, profile: Profile, file: Path) -> list[str]:
    """Digest the ids of each document as `peers.py` does."""
    data = subprocess.run(harness(place, profile, "ids", file), capture_output=True, check=True).stdout
    digests, at = [], 0
    while at < len(data):
        (count,) = struct.unpack_from("<I", data, at)
        digests.append(hashlib.sha256(data[at + 4 : at + 4 + 4 * count]).hexdigest())
        at += 4 + 4 * count
    return digests


def first_tokens(place: Workplace, runs: int) -> dict[str, dict[str, float]]:
    """Return medians of the time to the first token and of memory, encoder -> figure."""
    commands = {
        encoder: harness(place, READERS[encoder], "first")
        if encoder in READERS
        else script(place, encoder, "first")
        for encoder in ENCODERS
    }
    commands[ONLY_PYTHON] = [sys.executable, "-I", "-c", _ONLY_PYTHON]
    starts = {name: [] for name in commands}
    for _ in range(runs + 1):  # the first one fills the system's cache of files
        for name, command in commands.items():
            starts[name].append(start(command))
    return {
        name: {
            figure: statistics.median(getattr(one, figure) for one in found[1:])
            for figure in ("milliseconds", "processor_milliseconds", "mib")
        }
        for name, found in starts.items()
    }
