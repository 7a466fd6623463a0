"""What the pages have in common: tables in Markdown, aims and their outcome, of the figures of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from encoder_bench.processes import ENCODERS, ENGINE_C, READERS, REFERENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Figures = dict[str, Any]
"""Those of a run, as `benchmarks/encoders.py` keeps them in `figures.json`."""

NOTICE = "<!-- Made by `make bench-encoders`; do not edit. -->"

LABELS = {ENGINE_C: "C reader, called from Python"} | {reader: reader for reader in READERS}

one_figure = "{:.1f}".format


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table.

    >>> print(table(("a", "b"), [("1", "2")]))
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))


def outcome(held: dict[str, bool]) -> str:
    """Say whether an aim was met: wholly, or what was missed.

    >>> outcome({"code": True, "mixed": False})
    'missed: mixed'
    """
    missed = [name for name, met in held.items() if not met]
    if not missed:
        return "met"
    return f"missed: {', '.join(missed)}" if len(held) > 1 else "missed"


def held_to(
    aim: str, found: dict[str, float], most: float, words: Callable[[float], str]
) -> tuple[str, str, str]:
    """Make the row of an aim that is an upper limit: aim, figures, outcome."""
    named = ", ".join(f"{name} {words(one)}".strip() for name, one in found.items())
    return aim, named, outcome({name: one <= most for name, one in found.items()})


def at_least(
    aim: str, found: dict[str, float], least: float, words: Callable[[float], str]
) -> tuple[str, str, str]:
    """Make the row of an aim that is a lower limit."""
    named = ", ".join(f"{name} {words(one)}".strip() for name, one in found.items())
    return aim, named, outcome({name: one >= least for name, one in found.items()})


def ratios(figures: Figures, to: str = REFERENCE) -> dict[str, dict[str, float]]:
    """Divide speeds by those of an encoder: encoder -> text -> ratio."""
    speed = figures["speed"]
    return {
        encoder: {name: one / speed[to][name] for name, one in found.items()}
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


def label(name: str) -> str:
    """Return how tables call an encoder; other rows have their own words."""
    return LABELS.get(name, f"`{name}`" if name in ENCODERS else name)


def machine_text(figures: Figures) -> str:
    """Say on what it was measured, and how busy that was."""
    machine, versions = figures["machine"], figures["versions"]
    programs = ", ".join(versions[name] for name in ("gcc", "valgrind"))
    peers = ", ".join(f"{name} {versions[name]}" for name in ENCODERS if name in versions)
    return (
        f"{machine['cpu']}, {machine['cores']} cores, load average {machine['load']:.1f} at the start;\n"
        f"{machine['system']}, Python {versions['python']}, {programs}.\nCompared: {peers}."
    )
