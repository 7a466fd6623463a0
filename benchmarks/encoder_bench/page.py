"""The page: tables in Markdown, made of nothing but the figures of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from encoder_bench.corpus import DOCUMENT_BYTES
from encoder_bench.processes import C_READER, ENCODERS, ENGINE_C, REFERENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

NOTICE = "<!-- Made by `make bench-encoders`; do not edit. -->"

LABELS = {C_READER: "C reader", ENGINE_C: "C reader, called from Python"}

TIMES_REFERENCE, A53_INSTRUCTIONS, OPEN_US, TEXT, TABLES, FRAME = 10, 240, 1, 12_000, 80_000, 600
"""What the C reader is meant to reach."""

Figures = dict[str, Any]

_ONE_FIGURE = "{:.1f}".format


def page(figures: Figures) -> str:
    """Write the page.

    Args:
        figures: those of a run, as `benchmarks/encoders.py` keeps them in `figures.json`.

    """
    arch = figures["machine"]["arch"]
    size = f"the first {figures['sample_bytes']:,} bytes of each text"
    parts = [
        "# Encoders compared",
        NOTICE,
        (
            "The C reader of `examples/q25_nl_tokenizer` beside other encoders of the same vocabulary, all measured\n"
            "in one run of `benchmarks/encoders.py`. Every process has one core and one thread."
        ),
        machine_text(figures),
        "## Aims",
        table(("aim", "measured", "outcome"), aims(figures)),
        "## Speed",
        (
            f"Megabytes of text in a second of the processor's time, median of {figures['runs']} runs in which the\n"
            "encoders take turns. A document is one call. Each process goes over the text once before it is timed.\n"
            "The C reader's process is written in C and maps the image; the others are called from Python and give\n"
            "a list of ids."
        ),
        by_text(figures, figures["speed"], _ONE_FIGURE),
        f"As multiples of `{REFERENCE}`:",
        by_text(figures, ratios(figures), _ONE_FIGURE),
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
        f"`{figures['a53_flags']}`, {figures['versions']['aarch64-linux-gnu-gcc']}.",
        table(("what", "bytes"), memory(figures)),
        (
            f"Instructions for each byte of text, counted by a plugin of {figures['versions']['qemu-aarch64']}\n"
            f"on {size}, as the difference between one pass and two:"
        ),
        by_text(figures, figures["a53"], _ONE_FIGURE, head="text is given"),
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


def machine_text(figures: Figures) -> str:
    """Say on what it was measured, and how busy that was."""
    machine, versions = figures["machine"], figures["versions"]
    programs = ", ".join(versions[name] for name in ("gcc", "valgrind"))
    peers = ", ".join(f"{name} {versions[name]}" for name in ENCODERS if name in versions)
    return (
        f"{machine['cpu']}, {machine['cores']} cores, load average {machine['load']:.1f} at the start;\n"
        f"{machine['system']}, Python {versions['python']}, {programs}.\nCompared: {peers}."
    )


def aims(figures: Figures) -> list[tuple[str, str, str]]:
    """Hold what was measured against what was aimed at: aim, figures, outcome."""
    times = ratios(figures)[C_READER]
    mixed = {call: counts["mixed"] for call, counts in figures["a53"].items()}
    microseconds = figures["opening"]["microseconds"]
    rows = [
        (
            f"at least {TIMES_REFERENCE} times as fast as `{REFERENCE}`",
            ", ".join(f"{name} {one:.1f}" for name, one in times.items()),
            outcome({name: one >= TIMES_REFERENCE for name, one in times.items()}),
        ),
        (
            f"Cortex-A53: at most {A53_INSTRUCTIONS} instructions for each byte of mixed text",
            ", ".join(f"{call} {count:.1f}" for call, count in mixed.items()),
            outcome({call: count <= A53_INSTRUCTIONS for call, count in mixed.items()}),
        ),
        (
            f"an image is opened in at most {OPEN_US} microsecond",
            f"{microseconds:.2f} microseconds, on {figures['machine']['arch']}",
            outcome({"": microseconds <= OPEN_US}),
        ),
    ]
    for what, key, most in (
        ("code to open, encode and decode", "text_linked", TEXT),
        ("tables", "tables", TABLES),
        ("stack frames", "frame", FRAME),
    ):
        size = figures["sizes"][key]
        rows.append(
            (f"Cortex-A53: {what}: at most {most:,} bytes", f"{size:,} bytes", outcome({"": size <= most}))
        )
    return rows


def outcome(held: dict[str, bool]) -> str:
    """Say whether an aim was met: wholly, or what was missed.

    >>> outcome({"code": True, "mixed": False})
    'missed: mixed'
    """
    missed = [name for name, met in held.items() if not met]
    if not missed:
        return "met"
    return f"missed: {', '.join(missed)}" if len(held) > 1 else "missed"


def ratios(figures: Figures) -> dict[str, dict[str, float]]:
    """Divide speeds by the reference's: encoder -> text -> ratio."""
    speed = figures["speed"]
    return {
        encoder: {name: one / speed[REFERENCE][name] for name, one in found.items()}
        for encoder, found in speed.items()
    }


def totals(figures: Figures) -> dict[str, int]:
    """Return the number of documents of each text."""
    return {one["name"]: one["documents"] for one in figures["corpora"]}


def by_text(
    figures: Figures,
    found: dict[str, dict[str, float]],
    words: Callable[[float], str],
    head: str = "encoder",
) -> str:
    """Write a table of what was found for each text."""
    names = list(totals(figures))
    rows = [(label(row), *(words(one[name]) for name in names)) for row, one in found.items()]
    return table((head, *names), rows)


def first_tokens(figures: Figures) -> str:
    """Write the table of starts."""
    rows = [
        (label(name), *(f"{one[key]:,.1f}" for key in ("milliseconds", "processor_milliseconds", "mib")))
        for name, one in figures["first"].items()
    ]
    return table(("encoder", "milliseconds", "of the processor", "MiB"), rows)


def label(name: str) -> str:
    """Return how tables call an encoder; other rows have their own words."""
    return LABELS.get(name, f"`{name}`" if name in ENCODERS else name)


def memory(figures: Figures) -> list[tuple[str, str]]:
    """List what the Cortex-A53 build takes."""
    sizes, needed = figures["sizes"], figures["scratch"]
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


def opening_text(figures: Figures) -> str:
    """Say what opening an image takes."""
    opening, arch = figures["opening"], figures["machine"]["arch"]
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


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table.

    >>> print(table(("a", "b"), [("1", "2")]))
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))
