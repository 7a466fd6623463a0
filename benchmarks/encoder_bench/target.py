"""The Cortex-A53 build: its size, its stack, its scratch, its instructions; with an image of each profile."""

from __future__ import annotations

import re
import statistics
from typing import TYPE_CHECKING

from encoder_bench import worst
from encoder_bench.corpus import cut
from encoder_bench.instructions import on_a53, on_host
from encoder_bench.processes import READERS, harness
from encoder_bench.workplace import A53, READER, run
from formats.q25tokrt.layout import Profile

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

ALL = "all profiles"


def builds() -> dict[str, list[str]]:
    """Return the readers that can be built: for all profiles, and for each alone; name -> defines.

    Profile standard is what remains where all others are left out.
    """
    others = [profile for profile in Profile if profile != Profile.STANDARD]
    return {ALL: []} | {
        profile.name.lower(): [f"-DQ25_NL_NO_{other.name}" for other in others if other != profile]
        for profile in Profile
    }


def sizes(place: Workplace) -> dict[str, dict[str, int]]:
    """Return bytes of code, of tables and of the largest stack frame: build -> figure."""
    found = {}
    reader = READER / "q25_nl_tokenizer.c"
    roots = [f"-Wl,-u,{name}" for name in KEPT]
    link = ("-nostdlib", "-static", "-Wl,--gc-sections", f"-Wl,-e,{KEPT[0]}", *roots)
    for name, defines in builds().items():
        whole, linked = place.folder / "size-a53.o", place.folder / "size-a53"
        run(COMPILER, *A53, *defines, "-fstack-usage", "-c", reader, "-o", whole)
        sections = ("-ffunction-sections", "-fdata-sections")
        run(COMPILER, *A53, *defines, *sections, *link, reader, "-o", linked)
        found[name] = {
            "text_linked": section_bytes(run("aarch64-linux-gnu-size", "-A", linked), ".text"),
            "text_all": section_bytes(run("aarch64-linux-gnu-size", "-A", whole), ".text"),
            "tables": section_bytes(run("aarch64-linux-gnu-size", "-A", whole), ".rodata"),
            "frame": largest_frame(whole.with_suffix(".su").read_text()),
        }
    return found


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


def instructions_per_byte(
    place: Workplace, plugin: Path, most: int
) -> dict[str, dict[str, dict[str, float]]]:
    """Return instructions for each byte of the first documents: reader -> call -> text -> figure."""
    found: dict[str, dict[str, dict[str, float]]] = {
        reader: {call: {} for call in CALLS} for reader in READERS
    }
    for one in place.corpora:
        sample = one.sample(most)
        for call, parts in CALLS.items():
            file = place.documents("a53", parts(sample))
            for reader, profile in READERS.items():
                count = on_a53(place, plugin, profile, "encode", file, 1)
                found[reader][call][one.name] = count / sum(map(len, sample))
    return found


def worst_cases(place: Workplace, plugin: Path, size: int) -> dict[str, dict[str, dict[str, float]]]:
    """Return, reader -> text -> figure, instructions for each byte and the scratch that was needed."""
    found: dict[str, dict[str, dict[str, float]]] = {reader: {} for reader in READERS}
    for name, text in worst.texts(size).items():
        file = place.documents("worst", [text])
        for reader, profile in READERS.items():
            count = on_a53(place, plugin, profile, "encode", file, 1)
            needed, _ = map(int, run(*harness(place, profile, "scratch", file)).split())
            found[reader][name] = {"instructions": count / len(text), "scratch": needed / len(text)}
    return found


def opening(place: Workplace, plugin: Path, runs: int) -> dict[str, dict[str, float]]:
    """Return microseconds and instructions of opening on this machine, and the Cortex-A53's: reader -> figure."""
    turns = 200 * OPENS
    found = {}
    for reader, profile in READERS.items():
        times = [int(run(*harness(place, profile, "open", turns))) for _ in range(runs)]
        found[reader] = {
            "microseconds": statistics.median(times) / turns / 1000,
            "instructions": on_host(place, profile, "open", OPENS) / OPENS,
            "a53_instructions": on_a53(place, plugin, profile, "open", OPENS) / OPENS,
        }
    return found


def scratch(place: Workplace) -> dict[str, dict[str, dict[str, int]]]:
    """Return the most scratch that a document needed and the longest piece, in bytes: reader -> text -> figure."""
    found: dict[str, dict[str, dict[str, int]]] = {reader: {} for reader in READERS}
    for reader, profile in READERS.items():
        for one, file in zip(place.corpora, place.files(), strict=True):
            needed, piece = map(int, run(*harness(place, profile, "scratch", file)).split())
            found[reader][one.name] = {"needed": needed, "piece": piece}
    return found


def scratch_bound() -> str:
    """Return the bound for any text of n bytes, as the header has it."""
    header = (READER / "q25_nl_tokenizer.h").read_text(encoding="ascii")
    factor, constant = re.search(
        r"Q25_NL_SCRATCH_BYTES\(n\) \(\(size_t\)(\d+) \* \(size_t\)\(n\) \+ (\d+)u\)", header
    ).groups()
    return f"{factor} n + {constant}"
