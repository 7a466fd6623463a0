"""The page `profiles.md`, which helps to choose a profile; made of nothing but the figures of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from encoder_bench import target, worst
from encoder_bench.processes import READERS, REFERENCE
from encoder_bench.tables import (
    NOTICE,
    Figures,
    at_least,
    held_to,
    machine_text,
    one_figure,
    ratios,
    table,
    totals,
)
from formats.q25tokrt.layout import Profile

if TYPE_CHECKING:
    from collections.abc import Callable

QUICKTOK = "quicktok-v1"
FAST_A53, FAST_WORST, FAST_TIMES_QUICKTOK = 130, 350, 1.3
COMPACT_BYTES, COMPACT_TIMES_REFERENCE = 1_350_000, 5
MORE_SECONDS, PACKING_MIB = 3, 400
"""What is aimed at."""

WORST = ("one letter", "random letters", "random Han")
"""The worst cases with an aim."""

SHORT = "in parts of 2,000 bytes"


def page(figures: Figures) -> str:
    """Write the page."""
    parts = [
        "# Choosing a profile",
        NOTICE,
        (
            "An image of any profile gives the same ids and the same text; `runtime_image: {profile: NAME}` chooses.\n"
            "They differ in size and in what encoding costs. The vocabulary is Qwen3's, the reader that of\n"
            "`examples/q25_nl_tokenizer`, everything was measured in one run of `benchmarks/encoders.py`; how, and on\n"
            "which texts, is said in [encoders.md](encoders.md)."
        ),
        table(("", *(reader_name(reader) for reader in READERS)), rows(figures)),
        (
            "Instructions are those of the Cortex-A53 build for each byte of text, in parts of 2,000 bytes,\n"
            "as prompts are, or all in one call. Code is that of a reader which opens, encodes and decodes with\n"
            "this profile alone; one for all profiles takes "
            f"{figures['sizes'][target.ALL]['text_linked']:,} bytes. What fits in the\n"
            "reader's stack frame needs no scratch."
        ),
        "## Worst cases",
        (
            f"Texts of {figures['worst_bytes']:,} bytes, each but the last one single piece, the last nowhere NFC:\n"
            "instructions for each byte of the Cortex-A53 build, and bytes of scratch for each byte."
        ),
        table(
            (
                "text",
                *(
                    f"{name}, {what}"
                    for name in map(reader_name, READERS)
                    for what in ("instructions", "scratch")
                ),
            ),
            worst_rows(figures),
        ),
        "## Aims",
        table(("aim", "measured", "outcome"), aims(figures)),
        machine_text(figures),
    ]
    return "\n\n".join(parts) + "\n"


def reader_name(reader: str) -> str:
    """Return a profile's name."""
    return READERS[reader].name.lower()


def rows(figures: Figures) -> list[tuple[str, ...]]:
    """List what each profile takes and costs: what, then a cell for each profile."""
    names = list(totals(figures))
    times = ratios(figures)

    def row(what: str, cell: Callable[[str], str]) -> tuple[str, ...]:
        return (what, *(cell(reader) for reader in READERS))

    def most_scratch(reader: str) -> str:
        return f"{max(one['needed'] for one in figures['scratch'][reader].values()):,}"

    return [
        row("image, bytes", lambda reader: f"{figures['packing'][reader]['bytes']:,}"),
        row("code, bytes", lambda reader: f"{figures['sizes'][reader_name(reader)]['text_linked']:,}"),
        row(
            "largest stack frame, bytes", lambda reader: f"{figures['sizes'][reader_name(reader)]['frame']:,}"
        ),
        row("the most scratch that a document needed, bytes", most_scratch),
        row(
            "instructions to open",
            lambda reader: f"{figures['opening'][reader]['a53_instructions']:,.0f}",
        ),
        *(
            row(
                f"instructions, {name}, {call}",
                lambda reader, name=name, call=call: one_figure(figures["a53"][reader][call][name]),
            )
            for call in (SHORT, "in one call")
            for name in names
        ),
        *(
            row(
                f"times as fast as `{REFERENCE}`, {name}",
                lambda reader, name=name: one_figure(times[reader][name]),
            )
            for name in names
        ),
        row(
            "packing, seconds of the processor", lambda reader: f"{figures['packing'][reader]['seconds']:.2f}"
        ),
        row("packing, MiB of memory at most", lambda reader: f"{figures['packing'][reader]['mib']:.0f}"),
    ]


def worst_rows(figures: Figures) -> list[tuple[str, ...]]:
    """List the worst cases: text, then instructions and scratch for each profile."""
    found = figures["worst"]
    texts = list(next(iter(found.values())))
    return [
        (
            text,
            *(
                cell
                for reader in READERS
                for cell in (
                    one_figure(found[reader][text]["instructions"]),
                    f"{found[reader][text]['scratch']:.3f}",
                )
            ),
        )
        for text in texts
    ]


def aims(figures: Figures) -> list[tuple[str, str, str]]:
    """Hold what was measured against what was aimed at: aim, figures, outcome."""
    by_profile = {profile: reader for reader, profile in READERS.items()}
    standard, fast, compact = (by_profile[one] for one in (Profile.STANDARD, Profile.FAST, Profile.COMPACT))
    worst_of_fast = figures["worst"][fast]
    quicktok = ratios(figures, QUICKTOK)[fast]
    packing = figures["packing"]
    return [
        held_to(
            f"compact: an image of at most {COMPACT_BYTES:,} bytes",
            {"": packing[compact]["bytes"]},
            COMPACT_BYTES,
            "{:,} bytes".format,
        ),
        at_least(
            f"compact: at least {COMPACT_TIMES_REFERENCE} times as fast as `{REFERENCE}`",
            ratios(figures)[compact],
            COMPACT_TIMES_REFERENCE,
            one_figure,
        ),
        held_to(
            f"fast: at most {FAST_A53} instructions for each byte of mixed text",
            {call: one["mixed"] for call, one in figures["a53"][fast].items()},
            FAST_A53,
            one_figure,
        ),
        held_to(
            f"fast: at most {FAST_WORST} instructions for each byte of 1 MiB of one piece",
            {name: worst_of_fast[name]["instructions"] for name in WORST},
            FAST_WORST,
            one_figure,
        ),
        held_to(
            "fast: at most n / 8 + 64 bytes of scratch for n bytes that are NFC",
            {
                "": max(
                    one["scratch"] * figures["worst_bytes"]
                    for name, one in worst_of_fast.items()
                    if name != worst.NOT_NFC
                )
            },
            figures["worst_bytes"] / 8 + 64,
            f"{{:,.0f}} bytes for {figures['worst_bytes']:,}".format,
        ),
        at_least(
            f"fast: at least {FAST_TIMES_QUICKTOK} times as fast as `{QUICKTOK}`",
            {name: quicktok[name] for name in ("mixed", "Chinese")},
            FAST_TIMES_QUICKTOK,
            "{:.2f}".format,
        ),
        held_to(
            f"packing: at most {MORE_SECONDS} seconds more than standard",
            {
                reader_name(reader): one["seconds"] - packing[standard]["seconds"]
                for reader, one in packing.items()
            },
            MORE_SECONDS,
            "{:.2f}".format,
        ),
        held_to(
            f"packing: at most {PACKING_MIB} MiB of memory",
            {reader_name(reader): one["mib"] for reader, one in packing.items()},
            PACKING_MIB,
            "{:.0f}".format,
        ),
    ]
