"""Short runs of libFuzzer, at most `PIPELINE_FUZZ_SECONDS` for a folder of tests; 20 where that is not set."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from c_programs import SANITIZERS
from required_tools import miss, need, run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from c_programs import Workshop

SECONDS = int(os.environ.get("PIPELINE_FUZZ_SECONDS", "20"))


def build_target(workshop: Workshop, *sources: Path) -> Path:
    """Build a target, or skip the test where this machine has no libFuzzer."""
    resources = Path(run(need("clang"), "--print-resource-dir").strip())
    if not list(resources.glob("lib/*/libclang_rt.fuzzer*.a")):
        miss("no libFuzzer for clang on this machine: install libclang-rt-14-dev (of clang's own version)")
    return workshop.program("clang", "-O1", "-g", "-fsanitize=fuzzer", *SANITIZERS, sources=sources)


def fuzz(
    target: Path, folder: Path, seeds: Iterable[bytes], seconds: int, length: int, **environment: str
) -> None:
    """Run a target for some seconds; a crash, a hang or a leak fails the test.

    Args:
        target: the program.
        folder: for the corpus and what crashes.
        seeds: inputs to begin with.
        seconds: how long.
        length: bytes of the longest input.
        environment: variables of the target's own.

    """
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(seeds):
        (corpus / f"{number:04}").write_bytes(seed)
    command = [
        target, corpus, f"-max_total_time={seconds}", f"-max_len={length}", "-timeout=20", "-rss_limit_mb=1500",
        f"-artifact_prefix={folder}/", "-print_final_stats=1", "-verbosity=0",
    ]  # fmt: skip
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, **environment},
    )
    said = done.stderr.decode(errors="replace")
    assert done.returncode == 0, said[-6000:]
    runs = [line for line in said.splitlines() if "number_of_executed_units" in line]
    assert int(runs[0].split()[-1]) > 1_000
