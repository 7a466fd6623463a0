"""Instructions, which unlike time are nearly the same in every run.

On this machine callgrind counts them; for the Cortex-A53 build, QEMU with `counter.c`. The C reader's
process is run with one pass over the text and with two, and the difference is one pass. The others say by
`marks.c` where their pass begins and ends, for their start differs from run to run.
"""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

from encoder_bench.processes import ENCODERS, ENVIRONMENT, READERS, harness, script
from encoder_bench.workplace import HERE, run
from formats.q25tokrt.layout import Profile

if TYPE_CHECKING:
    from pathlib import Path

    from encoder_bench.workplace import Workplace

PLUGIN_VERSIONS = range(1, 10)
"""Of QEMU's interface for plugins; each QEMU takes some."""

CALLGRIND = ("valgrind", "--tool=callgrind")


def instructions_per_byte(place: Workplace, most: int) -> dict[str, dict[str, float]]:
    """Return encoder -> corpus -> instructions for each byte, on the first documents of each corpus."""
    samples = [one.sample(most) for one in place.corpora]
    files = [
        place.documents(f"{one.name}.sample", sample)
        for one, sample in zip(place.corpora, samples, strict=True)
    ]
    found = {}
    for encoder in ENCODERS:
        counts = (
            [on_host(place, READERS[encoder], "encode", file, 1) for file in files]
            if encoder in READERS
            else between_marks(place, encoder, files)
        )
        found[encoder] = {
            one.name: count / sum(map(len, sample))
            for one, sample, count in zip(place.corpora, samples, counts, strict=True)
        }
    return found


def on_host(place: Workplace, profile: Profile, task: str, *rest: object) -> int:
    """Count what the last argument, a number of turns, adds when it is doubled: for this machine's build."""

    def collected(*words: object) -> int:
        command = (*CALLGRIND, "--callgrind-out-file=/dev/null", *harness(place, profile, task, *words))
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return int(re.search(r"Collected : (\d+)", done.stderr)[1])

    *others, turns = rest
    return collected(*others, 2 * turns) - collected(*others, turns)


def on_a53(place: Workplace, plugin: Path, profile: Profile, task: str, *rest: object) -> int:
    """Count the same for the Cortex-A53 build."""

    def executed(*words: object) -> int:
        command = [place.folder / "harness-a53", task, place.image(profile), *words]
        done = _qemu(plugin, list(map(str, command)))
        found = re.search(r"^instructions (\d+)$", done.stderr, re.MULTILINE)
        if done.returncode or not found:
            raise SystemExit(f"qemu-aarch64: exit code {done.returncode}\n{done.stderr[-2000:]}")
        return int(found[1])

    *others, turns = rest
    return executed(*others, 2 * turns) - executed(*others, turns)


def build_plugin(place: Workplace) -> Path:
    """Build the plugin for the version of the interface that this QEMU has."""
    for version in PLUGIN_VERSIONS:
        plugin = place.folder / f"counter-{version}.so"
        run(
            *(
                "gcc",
                "-O2",
                "-shared",
                "-fPIC",
                f"-DPLUGIN_VERSION={version}",
                HERE / "counter.c",
                "-o",
                plugin,
            )
        )
        if not _qemu(
            plugin, [str(place.folder / "harness-a53"), "first", str(place.image(Profile.STANDARD))]
        ).returncode:
            return plugin
    raise SystemExit("qemu-aarch64 loads no plugin: this benchmark needs one that was built with plugins")


def _qemu(plugin: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["qemu-aarch64", "-plugin", str(plugin), *command], capture_output=True, text=True, check=False
    )


def between_marks(place: Workplace, encoder: str, files: list[Path]) -> list[int]:
    """Count the second pass over each corpus, of an encoder that is called from Python."""
    for old in place.folder.glob("callgrind.*"):
        old.unlink()
    out = place.folder / "callgrind.out"
    options = ("--instr-atstart=no", f"--callgrind-out-file={out}")
    run(*CALLGRIND, *options, *script(place, encoder, "count", files), env=ENVIRONMENT)
    return [
        totals((place.folder / f"{out.name}.{number}").read_text()) for number in range(1, len(files) + 1)
    ]


def totals(dump: str) -> int:
    """Return the instructions of a file that callgrind wrote."""
    return int(re.search(r"^totals: (\d+)$", dump, re.MULTILINE)[1])
