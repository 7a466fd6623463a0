"""The page `encoders.md`, made of nothing but the figures of one run."""

from __future__ import annotations

from encoder_bench.corpus import DOCUMENT_BYTES
from encoder_bench.processes import C_READER, READERS, REFERENCE
from encoder_bench.tables import (
    NOTICE,
    Figures,
    at_least,
    by_text,
    held_to,
    label,
    machine_text,
    one_figure,
    ratios,
    table,
    totals,
)
from formats.q25tokrt.layout import Profile

TIMES_REFERENCE, A53_INSTRUCTIONS, OPEN_US, TEXT, TABLES, FRAME = 10, 240, 1, 12_000, 80_000, 600
"""What the C reader is meant to reach with an image of profile standard."""

STANDARD = Profile.STANDARD.name.lower()


def page(figures: Figures) -> str:
    """Write the page."""
    arch = figures["machine"]["arch"]
    size = f"the first {figures['sample_bytes']:,} bytes of each text"
    parts = [
        "# Encoders compared",
        NOTICE,
        (
            "The C reader of `examples/q25_nl_tokenizer` beside other encoders of the same vocabulary, all measured\n"
            "in one run of `benchmarks/encoders.py`. Every process has one core and one thread. The reader\n"
            "opens images of each profile; [profiles.md](profiles.md), made in the same run, helps to choose one."
        ),
        machine_text(figures),
        "## Aims",
        "Of the reader with an image of profile standard, built without the others where its own size counts.",
        table(("aim", "measured", "outcome"), aims(figures)),
        "## Speed",
        (
            f"Megabytes of text in a second of the processor's time, median of {figures['runs']} runs in which the\n"
            "encoders take turns. A document is one call. Each process goes over the text once before it is timed.\n"
            "The C reader's process is written in C and maps the image; the others are called from Python and give\n"
            "a list of ids."
        ),
        by_text(figures, figures["speed"], one_figure),
        f"As multiples of `{REFERENCE}`:",
        by_text(figures, ratios(figures), one_figure),
        "## Instructions",
        (
            f"Instructions for each byte of text on {arch}, counted by callgrind on the second of two passes over\n"
            f"{size}; for the C reader, as the difference between one pass and two."
        ),
        by_text(figures, figures["instructions"], "{:,.0f}".format),
        "## Wrong documents",
        f"Documents whose ids are not those of `{REFERENCE}` with the model's own `tokenizer.json`, which does NFC.",
        by_text(figures, figures["wrong"] | {"of": totals(figures)}, "{:,}".format),
        "## First token",
        (
            "From the request for a process to the first id of a short text, by the clock on the wall, what the\n"
            "processor worked for the whole process, and the process's peak of resident memory; medians of\n"
            f"{figures['start_runs']} runs with all files in the system's cache."
        ),
        first_tokens(figures),
        "## Cortex-A53",
        (
            f"`{figures['a53_flags']}`, {figures['versions']['aarch64-linux-gnu-gcc']};\n"
            "sizes of a reader of profile standard alone."
        ),
        table(("what", "bytes"), memory(figures)),
        (
            f"Instructions for each byte of text, counted by a plugin of {figures['versions']['qemu-aarch64']}\n"
            f"on {size}, as the difference between one pass and two:"
        ),
        by_text(figures, by_call(figures), one_figure, head="image, and how text is given"),
        opening_text(figures),
        "## The texts",
        (
            f"Documents are whole files, or parts of at most {DOCUMENT_BYTES:,} bytes that end with a line where\n"
            "they can. Files come in an order that is fixed and not the alphabet's (by the SHA-256 of their names),\n"
            "until the size is reached."
        ),
        table(("text", "documents", "bytes", "from", "SHA-256"), texts(figures)),
        "Debian packages, unpacked and not installed: "
        + ", ".join(f"{name} {version}" for name, version in figures["packages"].items())
        + ".",
    ]
    return "\n\n".join(parts) + "\n"


def aims(figures: Figures) -> list[tuple[str, str, str]]:
    """Hold what was measured against what was aimed at: aim, figures, outcome."""
    mixed = {call: counts["mixed"] for call, counts in figures["a53"][C_READER].items()}
    opening = {"": figures["opening"][C_READER]["microseconds"]}
    open_words = f"{{:.2f}} microseconds, on {figures['machine']['arch']}".format
    sizes = figures["sizes"][STANDARD]
    return [
        at_least(
            f"at least {TIMES_REFERENCE} times as fast as `{REFERENCE}`",
            ratios(figures)[C_READER],
            TIMES_REFERENCE,
            one_figure,
        ),
        held_to(
            f"Cortex-A53: at most {A53_INSTRUCTIONS} instructions for each byte of mixed text",
            mixed,
            A53_INSTRUCTIONS,
            one_figure,
        ),
        held_to(f"an image is opened in at most {OPEN_US} microsecond", opening, OPEN_US, open_words),
        *(
            held_to(
                f"Cortex-A53: {what}: at most {most:,} bytes", {"": sizes[key]}, most, "{:,} bytes".format
            )
            for what, key, most in (
                ("code to open, encode and decode", "text_linked", TEXT),
                ("tables", "tables", TABLES),
                ("stack frames", "frame", FRAME),
            )
        ),
    ]


def first_tokens(figures: Figures) -> str:
    """Write the table of starts."""
    rows = [
        (label(name), *(f"{one[key]:,.1f}" for key in ("milliseconds", "processor_milliseconds", "mib")))
        for name, one in figures["first"].items()
    ]
    return table(("encoder", "milliseconds", "of the processor", "MiB"), rows)


def memory(figures: Figures) -> list[tuple[str, str]]:
    """List what the Cortex-A53 build takes."""
    sizes, needed = figures["sizes"][STANDARD], figures["scratch"][C_READER]
    by_name = {
        key: ", ".join(f"{name} {one[key]:,}" for name, one in needed.items()) for key in ("needed", "piece")
    }
    return [
        ("code to open, encode and decode", f"{sizes['text_linked']:,}"),
        ("code with verification and byte fallback", f"{sizes['text_all']:,}"),
        ("tables", f"{sizes['tables']:,}"),
        ("largest stack frame", f"{sizes['frame']:,}"),
        ("scratch, enough for any text of n bytes", figures["scratch_bound"]),
        ("the most scratch that a document needed", by_name["needed"]),
        ("the longest piece in a document", by_name["piece"]),
    ]


def by_call(figures: Figures) -> dict[str, dict[str, float]]:
    """Return instructions on the Cortex-A53: profile and call -> text -> figure."""
    return {
        f"{READERS[reader].name.lower()}, {call}": found
        for reader, calls in figures["a53"].items()
        for call, found in calls.items()
    }


def opening_text(figures: Figures) -> str:
    """Say what opening an image takes."""
    opening, arch = figures["opening"][C_READER], figures["machine"]["arch"]
    return (
        f"Opening an image takes {opening['a53_instructions']:,.0f} instructions; the {arch} build takes "
        f"{opening['instructions']:,.0f}, in {opening['microseconds']:.2f} microseconds."
    )


def texts(figures: Figures) -> list[tuple[str, ...]]:
    """List the texts."""
    return [
        (one["name"], f"{one['documents']:,}", f"{one['bytes']:,}", one["origin"], f"`{one['sha256'][:16]}`")
        for one in figures["corpora"]
    ]
