"""Measure the C reader against other encoders, in one run on one machine; write `encoders.md` and `profiles.md`.

    python benchmarks/encoders.py [--quick] [--runs N] [--work FOLDER] [--pages FOLDER]

For Debian and Python 3.11 or 3.12 (bpe-qwen has no build for a newer one), with the programs that
`encoder_bench/workplace.py` names. The peers are installed into an environment of their own, and texts are
downloaded as Debian packages (after `apt-get update`), both into FOLDER.

Speed is in the processor's time and a median of runs in which the encoders take turns, so that a busy
machine blurs the figures and turns nothing round; still only ratios mean anything on another machine.
Instructions and sizes are the same everywhere with the same compilers.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from encoder_bench import (  # noqa: E402
    instructions,
    packing,
    page,
    processes,
    profiles_page,
    speed,
    tables,
    target,
    workplace,
)

PAGES = {"encoders.md": page.page, "profiles.md": profiles_page.page}
FULL = {
    "text_bytes": 3_000_000,
    "sample_bytes": 262_144,
    "worst_bytes": 1 << 20,
    "runs": 5,
    "start_runs": 11,
}
QUICK = {"text_bytes": 200_000, "sample_bytes": 32_768, "worst_bytes": 1 << 16, "runs": 1, "start_runs": 1}


def measure(place: workplace.Workplace, sizes: dict[str, int]) -> tables.Figures:
    """Measure everything."""
    load = os.getloadavg()[0]
    runs = sizes["runs"]
    plugin = instructions.build_plugin(place)
    return {
        "machine": machine() | {"load": load},
        "versions": versions(place),
        "packages": place.packages,
        "corpora": [
            {
                "name": one.name,
                "origin": one.origin,
                "documents": len(one.documents),
                "bytes": one.size,
                "sha256": one.sha256,
            }
            for one in place.corpora
        ],
        "runs": runs,
        "start_runs": sizes["start_runs"],
        "sample_bytes": sizes["sample_bytes"],
        "worst_bytes": sizes["worst_bytes"],
        "a53_flags": " ".join(workplace.A53),
        "wrong": told("wrong documents", speed.wrong_documents, place),
        "speed": told("speed", speed.megabytes_per_second, place, runs),
        "first": told("first tokens", speed.first_tokens, place, sizes["start_runs"]),
        "sizes": told("sizes", target.sizes, place),
        "scratch_bound": target.scratch_bound(),
        "scratch": told("scratch", target.scratch, place),
        "a53": told("Cortex-A53", target.instructions_per_byte, place, plugin, sizes["sample_bytes"]),
        "worst": told("worst cases", target.worst_cases, place, plugin, sizes["worst_bytes"]),
        "packing": told("packing", packing.packing, place, runs),
        "opening": told("opening", target.opening, place, plugin, runs),
        "instructions": told(
            "instructions", instructions.instructions_per_byte, place, sizes["sample_bytes"]
        ),
    }


def told(what: str, call, *arguments):
    """Call, and say so: a run takes minutes."""
    print(f"{what} ...", file=sys.stderr, flush=True)
    return call(*arguments)


def machine() -> dict[str, object]:
    """Describe the processor and the system."""
    cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"^model name\s*: (.*)$", cpuinfo, re.MULTILINE)
    release = platform.freedesktop_os_release()
    return {
        "cpu": model[1] if model else "a processor without a name",
        "arch": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "system": release["PRETTY_NAME"],
    }


def versions(place: workplace.Workplace) -> dict[str, str]:
    """Return the version of each peer and of each program that was used."""
    listed = workplace.run(
        *(place.peer_python, "-m", "pip", "--disable-pip-version-check", "list", "--format", "json")
    )
    installed = {entry["name"]: entry["version"] for entry in json.loads(listed)}
    programs = {
        tool: workplace.run(tool, "--version").splitlines()[0]
        for tool in ("gcc", "valgrind", target.COMPILER, "qemu-aarch64")
    }
    peers = {name: installed[name] for name in (processes.REFERENCE, *processes.PEERS)}
    return {"python": platform.python_version(), **programs, **peers}


def main() -> int:
    """Prepare, measure, write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small texts, one run: whether it works")
    parser.add_argument("--runs", type=int, metavar="N", help="runs behind each median of speed")
    parser.add_argument("--work", type=Path, metavar="FOLDER", default=ROOT / "build" / "bench-encoders")
    parser.add_argument(
        "--pages", type=Path, metavar="FOLDER", help="default: docs; with --quick, that of --work"
    )
    arguments = parser.parse_args()
    sizes = QUICK if arguments.quick else FULL
    sizes = sizes | ({"runs": arguments.runs} if arguments.runs else {})
    place = told("texts, peers, programs", workplace.prepare, arguments.work, sizes["text_bytes"])
    cores = machine()["cores"]
    processes.stay_on_one_core()
    figures = measure(place, sizes)
    figures["machine"]["cores"] = cores
    (place.folder / "figures.json").write_text(json.dumps(figures, indent=1))
    folder = arguments.pages or (place.folder if arguments.quick else ROOT / "docs")
    for name, write in PAGES.items():
        (folder / name).write_text(write(figures), encoding="utf-8")
        print(folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
