"""Tensors, vocabulary and parity as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.parity.table import GROUPS_SHOWN, class_rows, corpus_line, group_rows, summary_rows
from pipeline.report.elements import LINE, Html, figure, join, row, share_bar, share_words, table, tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipeline.report.tensors import TensorList
    from pipeline.report.vocabulary import VocabularyCounts

MOST_TENSORS = 2000
"""Tensors that have a row of their own."""


def tensors_view(found: TensorList) -> Html:
    """Show tensors by type, and each by size."""
    whole = found.size
    types = [
        row(
            total.type,
            f"{total.tensors:,}",
            f"{total.elements:,}",
            f"{total.size:,}",
            share_bar(total.size, whole),
            numbers=(1, 2, 3),
        )
        for total in found.by_type()
    ]
    listed = found.rows[:MOST_TENSORS]
    tensors = [
        row(
            tensor.name,
            tensor.type,
            " × ".join(map(str, tensor.ne)) or "1",
            "unknown" if tensor.size is None else f"{tensor.size:,}",
            share_words(tensor.size or 0, whole),
            numbers=(3, 4),
        )
        for tensor in listed
    ]
    left = len(found.rows) - len(listed)
    return join(
        tag("p", f"{len(found.rows):,} tensors of {whole:,} bytes, as {found.source} lists them."),
        table("Tensors by type", ("type", "tensors", "elements", "bytes", "share"), types, (1, 2, 3)),
        tag(
            "details",
            tag("summary", "Every tensor, the largest first", tag("span", f"{len(listed):,}", class_="soft")),
            table("Tensors by size", ("name", "type", "ne", "bytes", "share"), tensors, (3, 4)),
            tag("p", f"{left:,} more are not listed.") if left else "",
        ),
        LINE,
    )


def vocabulary_view(counts: VocabularyCounts) -> Html:
    """Show a vocabulary's counts."""
    figures = [
        figure("tokens", f"{counts.tokens:,}"),
        figure("base", f"{counts.base:,}", "type normal"),
        figure("added", f"{counts.added:,}", "matched as a whole"),
        figure("padded", f"{counts.padded:,}", "at the end"),
    ]
    if counts.others:
        figures.append(figure("others", f"{counts.others:,}", "of other types"))
    figures.append(figure("longest token", f"{counts.longest:,}", "bytes"))
    most_long = max((count for *_, count in counts.lengths), default=0)
    lengths = [
        row(
            str(first) if first == last else f"{first} to {last}",
            f"{count:,}",
            share_words(count, counts.base),
            _bar(count, most_long),
            numbers=(1, 2),
        )
        for first, last, count in counts.lengths
    ]
    most = max((count for _, count in counts.scripts), default=0)
    scripts = [
        row(name, f"{count:,}", share_words(count, counts.base), _bar(count, most), numbers=(1, 2))
        for name, count in counts.scripts
    ]
    types = [
        row(name, f"{count:,}", share_words(count, counts.tokens), numbers=(1, 2))
        for name, count in counts.types
    ]
    return join(
        tag("p", f"Counted in {counts.source}."),
        tag("dl", figures, class_="figures"),
        LINE,
        tag(
            "div",
            tag(
                "div",
                table("Base tokens by length in bytes", ("bytes", "tokens", "share", ""), lengths, (1, 2)),
                table("All tokens by type", ("type", "tokens", "share"), types, (1, 2)),
            ),
            tag("div", table("Base tokens by script", ("script", "tokens", "share", ""), scripts, (1, 2))),
            class_="columns",
        ),
        LINE,
    )


def _bar(count: int, most: int) -> Html:
    """Draw a count beside the largest."""
    width = f"width:{100 * count / max(most, 1):.2f}%"
    bar = tag("span", tag("span", style=width), class_="bar", aria_hidden="true")
    return tag("span", bar, class_="share alone")


def parity_view(document: Mapping[str, Any]) -> Html:
    """Show the tables that the command `parity` prints."""
    tables = [_parity_table("Tokenizers against the reference", *summary_rows(document))]
    head, rows = class_rows(document)
    if rows:
        tables.append(_parity_table("Differences by class", head, rows))
        meanings = [
            join(tag("dt", name), tag("dd", meaning))
            for name, meaning in document["classes"].items()
            if name in head
        ]
        words = tag("summary", "What the classes mean")
        tables.append(tag("details", words, tag("dl", meanings, class_="meanings")))
    names = [group["name"] for group in document["corpus"]["groups"]]
    if 1 < len(names) <= GROUPS_SHOWN:
        tables.append(_parity_table("Samples equal in each text", *group_rows(document, names)))
    return join(tag("p", corpus_line(document) + "."), tables)


def _parity_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Html:
    numbers = range(1, len(head))
    return table(caption, head, [row(*cells, numbers=numbers) for cells in rows], numbers)
