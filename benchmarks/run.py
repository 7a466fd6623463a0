"""Measure this tool against peers, in one run on one machine, and print a table in Markdown.

    python benchmarks/run.py [--runs N] [--tensor-mib N] [GGUF]

GGUF is a file with a real vocabulary, such as llama.cpp's `ggml-vocab-qwen2.gguf`; without it the
sample's is used. Each row gives medians of whole processes (or of calls, where it says so) and the
ratio to a peer measured in the same run: only the ratios mean anything on another machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

PIPELINE = [sys.executable, "-m", "pipeline"]
TOKENIZER_STEPS = "[tokenizer, ps_bundle, runtime_image, vocab_bin, tokenizer_bin]"
KIB_PER_MIB = 1024

OPEN_WITH_READER = "import sys, gguf; gguf.GGUFReader(sys.argv[1])"
TIME_READER = """
import json, sys, time
import gguf
times = []
for _ in range(int(sys.argv[2])):
    begin = time.perf_counter()
    gguf.GGUFReader(sys.argv[1])
    times.append(time.perf_counter() - begin)
print(json.dumps(times))
"""
TIME_OURS = """
import json, sys, time
from formats.gguf.reader import GgufFile
times = []
for _ in range(int(sys.argv[2])):
    begin = time.perf_counter()
    with GgufFile.open(sys.argv[1]) as gguf:
        for value in gguf.key_values.values():
            value.value
    times.append(time.perf_counter() - begin)
print(json.dumps(times))
"""
MAKE_MODEL = """
import hashlib, sys
from formats.ggml_types import GgmlType
from formats.gguf.value_types import ValueType
from formats.gguf.writer import TensorToWrite, write_gguf
count, rows = int(sys.argv[2]), 1024
block = hashlib.shake_128(b"benchmark").digest(rows * 1024 // 32 * 34)
tensors = [TensorToWrite(f"blk.{n}.ffn_up.weight", GgmlType.Q8_0, (1024, rows), block) for n in range(count)]
with open(sys.argv[1], "wb") as file:
    write_gguf(file, [("general.architecture", ValueType.STRING, "benchmark")], tensors)
"""


@dataclass(frozen=True)
class Usage:
    """One finished process: wall-clock seconds and peak resident memory in MiB."""

    seconds: float
    peak_mib: float


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    what: str
    ours: str
    peer: str
    ratio: str


def measure(command: list[str], code: int = 0) -> Usage:
    """Run a command to its end; any other exit code than the expected one stops the benchmark."""
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - begin
    if process.returncode != code:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    return Usage(seconds, usage.ru_maxrss / KIB_PER_MIB)


def median(usages: list[Usage]) -> Usage:
    """Take the median of times and of memory."""
    return Usage(
        statistics.median(usage.seconds for usage in usages),
        statistics.median(usage.peak_mib for usage in usages),
    )


def write_manifest(folder: Path, model: Path, steps: str) -> Path:
    """Write a manifest for a GGUF."""
    manifest = folder / "bench.yaml"
    manifest.write_text(f"version: 1\nmodel: {{gguf: {json.dumps(str(model))}}}\nout: out\nsteps: {steps}\n")
    return manifest


def tokenizer_rows(model: Path, folder: Path, runs: int) -> list[Row]:
    """Compare a cold run of the tokenizer's steps with the reference reader merely opening the file."""
    manifest = write_manifest(folder, model, TOKENIZER_STEPS)
    measure([*PIPELINE, "run", str(manifest)])
    ours, peer = [], []
    for _ in range(runs):
        shutil.rmtree(folder / "out", ignore_errors=True)
        ours.append(measure([*PIPELINE, "run", str(manifest)]))
        peer.append(measure([sys.executable, "-c", OPEN_WITH_READER, str(model)]))
    mine, theirs = median(ours), median(peer)
    return [
        Row(
            "cold run of the tokenizer steps, against `gguf.GGUFReader` opening the file: time",
            f"{mine.seconds:.2f} s",
            f"{theirs.seconds:.2f} s",
            f"{theirs.seconds / mine.seconds:.1f} times faster",
        ),
        Row(
            "the same: peak memory",
            f"{mine.peak_mib:.0f} MiB",
            f"{theirs.peak_mib:.0f} MiB",
            f"{mine.peak_mib / theirs.peak_mib:.2f} of it",
        ),
    ]


def reader_row(model: Path, runs: int) -> Row:
    """Compare reading all key/values, as calls inside a process."""
    timings = []
    for script, count in ((TIME_OURS, runs * 3), (TIME_READER, runs)):
        done = subprocess.run(
            [sys.executable, "-c", script, str(model), str(count)], check=True, capture_output=True, text=True
        )
        timings.append(statistics.median(json.loads(done.stdout)))
    ours, peer = timings
    return Row(
        "reading all key/values, against `gguf.GGUFReader` (calls)",
        f"{1000 * ours:.0f} ms",
        f"{1000 * peer:.0f} ms",
        f"{peer / ours:.0f} times faster",
    )


def fresh_row(model: Path, folder: Path, runs: int) -> Row:
    """Time a run with nothing to do, against an interpreter that does nothing."""
    manifest = write_manifest(folder, model, TOKENIZER_STEPS)
    measure([*PIPELINE, "run", str(manifest)])
    time.sleep(2.5)  # the run after the next two seconds trusts the files' stamps
    measure([*PIPELINE, "run", str(manifest)])
    ours, peer = [], []
    for _ in range(3 * runs):
        ours.append(measure([*PIPELINE, "run", str(manifest)]))
        peer.append(measure([sys.executable, "-c", "pass"]))
    mine, theirs = median(ours), median(peer)
    return Row(
        "`run` with nothing to do, against `python -c pass`",
        f"{mine.seconds:.3f} s",
        f"{theirs.seconds:.3f} s",
        f"{mine.seconds / theirs.seconds:.1f} times as long",
    )


def tensor_rows(folder: Path, runs: int, mebibytes: int) -> list[Row]:
    """Compare exporting a model's tensors with copying, syncing and hashing its file."""
    model = folder / "big.gguf"
    count = max(1, round(mebibytes * (1 << 20) / (1024 * 1024 // 32 * 34)))
    subprocess.run([sys.executable, "-c", MAKE_MODEL, str(model), str(count)], check=True)
    manifest = write_manifest(folder, model, "[tensors]")
    environment_cache = folder / "cache"
    os.environ["PIPELINE_CACHE"] = str(environment_cache)
    copy = folder / "copy.gguf"
    ours, peer = [], []
    for _ in range(runs):
        # Nothing remembered: the model is hashed as a whole, then read again tensor by tensor.
        for path in (folder / "out", environment_cache):
            shutil.rmtree(path, ignore_errors=True)
        ours.append(measure([*PIPELINE, "run", str(manifest)]))
        shutil.rmtree(folder / "out")
        copy.unlink(missing_ok=True)
        parts = [
            measure(["cp", str(model), str(copy)]),
            measure(["sync", str(copy)]),
            measure(["sha256sum", str(copy)]),
        ]
        peer.append(Usage(sum(part.seconds for part in parts), 0.0))
    mine, theirs = median(ours), median(peer)
    size = model.stat().st_size / (1 << 20)
    return [
        Row(
            f"tensors of a {size:.0f} MiB model, hashed and synced, against `cp`, `sync` and `sha256sum` of it",
            f"{mine.seconds:.2f} s",
            f"{theirs.seconds:.2f} s",
            f"{mine.seconds / theirs.seconds:.2f} of it",
        ),
        Row("the same: peak memory", f"{mine.peak_mib:.0f} MiB", "", ""),
    ]


def diff_row(model: Path, folder: Path, runs: int) -> Row:
    """Compare two images that differ in 1,000 places with `cmp` of their bytes."""
    manifest = write_manifest(folder, model, "[tokenizer, ps_bundle, runtime_image]")
    measure([*PIPELINE, "run", str(manifest)])
    old, new = folder / "out" / "q25_tokenizer.img", folder / "changed.img"
    data = bytearray(old.read_bytes())
    for row in range(1000):
        data[len(data) // 2 - row * 1600] ^= 1  # in the merge table
    new.write_bytes(data)
    ours, peer = [], []
    for _ in range(runs):
        ours.append(measure([*PIPELINE, "diff", str(old), str(new)], code=1))
        peer.append(measure(["cmp", "-l", str(old), str(new)], code=1))
    mine, theirs = median(ours), median(peer)
    return Row(
        f"`diff` of two images of {len(data) / 1e6:.1f} MB, 1,000 changes, against `cmp -l`",
        f"{mine.seconds:.2f} s",
        f"{theirs.seconds:.2f} s",
        f"{mine.seconds / theirs.seconds:.0f} times as long",
    )


def sample_model() -> Path:
    """Make the sample where no file is named."""
    from pipeline.cache import cache_folder
    from pipeline.sources.sample import ensure

    return ensure("qwen2.5", cache_folder()).model_blob


def main() -> int:
    """Measure everything and print the table."""
    # As for an installed package: modules are compiled once, not at every start.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", metavar="GGUF", nargs="?", type=Path)
    parser.add_argument(
        "--runs", type=int, default=5, metavar="N", help="runs behind each median (default: 5)"
    )
    parser.add_argument("--tensor-mib", type=int, default=400, metavar="N", help="size of the big model")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        folder = Path(temporary)
        model = (arguments.model or sample_model()).resolve()
        rows = [
            *tokenizer_rows(model, folder, arguments.runs),
            reader_row(model, arguments.runs),
            fresh_row(model, folder, arguments.runs),
            diff_row(model, folder, arguments.runs),
            *tensor_rows(folder, arguments.runs, arguments.tensor_mib),
        ]
    print(
        f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}, Python {platform.python_version()}; ",
        end="",
    )
    print(f"medians of {arguments.runs} runs; {model.name}\n")
    print("| what | this tool | peer | ratio |\n| --- | --- | --- | --- |")
    for row in rows:
        print(f"| {row.what} | {row.ours} | {row.peer} | {row.ratio} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
