"""The Cortex-A53 build: its size, its stack, its scratch, its instructions."""

from __future__ import annotations

import re
import statistics
from typing import TYPE_CHECKING

from encoder_bench.corpus import cut
from encoder_bench.instructions import on_a53, on_host
from encoder_bench.processes import harness
from encoder_bench.workplace import A53, READER, run

if TYPE_CHECKING:
    from pathlib import Path

    from encoder_bench.workplace import Workplace

COMPILER = "aarch64-linux-gnu-gcc"
SMALL_PART = 2000
"""Bytes of a short text, as a prompt is."""

CALLS = {
    "in one call": lambda sample: [b"".join(sample)],
    "by document": lambda sample: sample,
    f"in parts of {SMALL_PART:,} bytes": lambda sample: [
        part for document in sample for part in cut(document, SMALL_PART)
    ],
}
"""Ways to give the reader a text; each makes what is one call of documents."""

OPENS = 1000

KEPT = (
    "q25_nl_tokenizer_runtime_image_open",
    "q25_nl_tokenizer_bundle_encode_bpe_bounded",
    "q25_nl_tokenizer_bundle_detokenize",
    "q25_nl_tokenizer_stream_id",
    "q25_nl_tokenizer_stream_finish",
)
"""What firmware calls that opens, encodes and decodes: without verification and the byte fallback."""


def sizes(place: Workplace) -> dict[str, int]:
    """Return bytes of code, of tables and of the largest stack frame."""
    reader = READER / "q25_nl_tokenizer.c"
    whole = place.folder / "size-a53.o"
    run(COMPILER, *A53, "-fstack-usage", "-c", reader, "-o", whole)
    linked = place.folder / "size-a53"
    roots = [f"-Wl,-u,{name}" for name in KEPT]
    sections = ("-ffunction-sections", "-fdata-sections")
    link = ("-nostdlib", "-static", "-Wl,--gc-sections", f"-Wl,-e,{KEPT[0]}", *roots)
    run(COMPILER, *A53, *sections, *link, reader, "-o", linked)
    return {
        "text_linked": section_bytes(run("aarch64-linux-gnu-size", "-A", linked), ".text"),
        "text_all": section_bytes(run("aarch64-linux-gnu-size", "-A", whole), ".text"),
        "tables": section_bytes(run("aarch64-linux-gnu-size", "-A", whole), ".rodata"),
        "frame": largest_frame(whole.with_suffix(".su").read_text()),
    }


def section_bytes(listing: str, name: str) -> int:
    """Add up the sections whose names begin so, in what `size -A` printed."""
    rows = [line.split() for line in listing.splitlines() if line.startswith(name)]
    return sum(int(row[1]) for row in rows)


def largest_frame(usage: str) -> int:
    """Return the largest frame in what `-fstack-usage` wrote; all must be known when it is compiled."""
    rows = [line.split("\t") for line in usage.splitlines()]
    if any(kind != "static" for *_, kind in rows):
        raise SystemExit("a stack frame has no fixed size")
    return max(int(size) for _, size, _ in rows)


def instructions_per_byte(place: Workplace, plugin: Path, most: int) -> dict[str, dict[str, float]]:
    """Return instructions for each byte of the first documents of each text: call -> text -> figure."""
    found: dict[str, dict[str, float]] = {call: {} for call in CALLS}
    for one in place.corpora:
        sample = one.sample(most)
        for call, parts in CALLS.items():
            file = place.documents("a53", parts(sample))
            found[call][one.name] = on_a53(place, plugin, "encode", file, 1) / sum(map(len, sample))
    return found


def opening(place: Workplace, plugin: Path, runs: int) -> dict[str, float]:
    """Return microseconds and instructions of opening the image on this machine, and the Cortex-A53's."""
    turns = 200 * OPENS
    times = [int(run(*harness(place, "open", turns))) for _ in range(runs)]
    return {
        "microseconds": statistics.median(times) / turns / 1000,
        "instructions": on_host(place, "open", OPENS) / OPENS,
        "a53_instructions": on_a53(place, plugin, "open", OPENS) / OPENS,
    }


def scratch(place: Workplace) -> dict[str, dict[str, int]]:
    """Return, for each corpus, the most scratch that a document needed and the longest piece, in bytes."""
    found = {}
    for one, file in zip(place.corpora, place.files(), strict=True):
        needed, piece = map(int, run(*harness(place, "scratch", file)).split())
        found[one.name] = {"needed": needed, "piece": piece}
    return found


def scratch_bound() -> str:
    """Return the bound for any text of n bytes, as the header has it."""
    header = (READER / "q25_nl_tokenizer.h").read_text(encoding="ascii")
    factor, constant = re.search(
        r"Q25_NL_SCRATCH_BYTES\(n\) \(\(size_t\)(\d+) \* \(size_t\)\(n\) \+ (\d+)u\)", header
    ).groups()
    return f"{factor} n + {constant}"
