"""A comparison's document as lines for people: a table of the tokenizers, one of the classes, differences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from formats.errors import shown
from pipeline.parity.causes import Cause
from pipeline.parity.comparison import REFERENCE
from pipeline.sources.errors import path_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

GROUPS_SHOWN = 24
"""Groups that have a column of their own in the table of groups."""
_IDS_SHOWN = 24

Row = tuple[str, ...]


def summary_rows(document: Mapping[str, Any]) -> tuple[Row, list[Row]]:
    """Give the head and the rows of the main table: the reference, then each party."""
    head = (
        "tokenizer", "samples equal", "tokens", "tokens/byte", "differences", "tokens differing", "text back",
    )  # fmt: skip
    reference, corpus = document["reference"], document["corpus"]
    samples = corpus["samples"]
    rows: list[Row] = [
        (
            REFERENCE,
            f"{samples} of {samples}",
            f"{reference['tokens']:,}",
            f"{reference['tokens_per_byte']:.4f}",
            "",
            "",
            f"{reference['returned']} of {samples}",
        )
    ]
    rows += [
        (
            party["party"],
            f"{party['equal']} of {party['samples']}",
            f"{party['tokens']:,}",
            f"{party['tokens_per_byte']:.4f}",
            f"{party['differences']:,}",
            percent(party["reference_tokens_differing"], party["reference_tokens"]),
            f"{party['returned']} of {party['samples']}",
        )
        for party in document["parties"]
    ]
    return head, rows


def class_rows(document: Mapping[str, Any]) -> tuple[Row, list[Row]]:
    """Give the head and the rows of the table of classes; classes that nobody has are left out."""
    parties = [party for party in document["parties"] if party["differences"]]
    used = [str(cause) for cause in Cause if any(str(cause) in party["classes"] for party in parties)]
    rows = [(party["party"], *(str(party["classes"].get(cause, "")) for cause in used)) for party in parties]
    return ("differences by class", *used), rows


def group_rows(document: Mapping[str, Any], names: Sequence[str]) -> tuple[Row, list[Row]]:
    """Give the head and the rows of a table of groups: how many samples of each are equal."""
    rows = []
    for party in document["parties"]:
        groups = {group["name"]: group for group in party["groups"]}
        cells = (groups[name] for name in names)
        rows.append((party["party"], *(f"{group['equal']}/{group['samples']}" for group in cells)))
    return ("samples equal", *map(path_words, names)), rows


def corpus_line(document: Mapping[str, Any]) -> str:
    """Say what was compared with what."""
    corpus, reference = document["corpus"], document["reference"]
    name, unit = path_words(corpus["name"]), corpus["unit"]
    return (
        f"corpus {name}: {corpus['samples']:,} samples ({unit}), {corpus['bytes']:,} bytes; "
        f"reference {reference['library']} {reference['version']}"
    )


def summary_lines(document: Mapping[str, Any]) -> list[str]:
    """Write the tables as aligned lines."""
    corpus, reference = document["corpus"], document["reference"]
    lines = [corpus_line(document), *aligned(*summary_rows(document))]
    head, rows = class_rows(document)
    if rows:
        lines += ["", *aligned(head, rows)]
    names = [group["name"] for group in corpus["groups"]]
    if 1 < len(names) <= GROUPS_SHOWN:
        # On its side: names of files are long, and there may be many.
        head, rows = group_rows(document, names)
        lines += ["", *aligned(*_on_its_side(head, rows))]
    lines += [
        f"note: {reference['library']} itself decodes token {token['id']}, {shown(token['text'])}, to "
        f"{shown(token['decoded'])}"
        for token in reference["decodes_otherwise"]
    ]
    return lines


def difference_lines(document: Mapping[str, Any], most: int) -> Iterator[str]:
    """Write the first differences of each party and class, each in three lines."""
    for party in document["parties"] if most else ():
        shown_of: Counter[str] = Counter()
        for entry in document["differences"]:
            if entry["party"] != party["party"] or shown_of[entry["classes"][0]] >= most:
                continue
            shown_of[entry["classes"][0]] += 1
            place = f"{path_words(entry['group'])}, sample {entry['sample']}, bytes {entry['start']}..{entry['end']}"
            yield f"{party['party']}: {', '.join(entry['classes'])}: {place}"
            for side in ("reference", "found"):
                tokens = entry[side]
                yield f"  {side:<9}  {ids_words(tokens['ids'])}  {pieces_words(tokens['pieces'])}".rstrip()
        left = party["differences"] - shown_of.total()
        if left:
            yield f"{party['party']}: {left:,} more"


def aligned(head: Row, rows: Iterable[Row]) -> list[str]:
    """Write a table in columns; the first is text, the others are numbers."""
    table = [head, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(head))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


def percent(part: int, whole: int) -> str:
    """Write a share; what is not all and not nothing does not look like it."""
    if not whole:
        return "0 %"
    share = 100 * part / whole
    if 0 < part < whole:
        share = min(max(share, 0.01), 99.99)
    return f"{share:.2f} %" if 0 < part < whole else f"{share:.0f} %"


def ids_words(ids: Sequence[int]) -> str:
    """Write ids; of many the first."""
    words = " ".join(map(str, ids[:_IDS_SHOWN])) or "nothing"
    return words if len(ids) <= _IDS_SHOWN else f"{words} ... ({len(ids)} ids)"


def pieces_words(pieces: Sequence[str]) -> str:
    """Write pieces; of many the first."""
    # A byte that is no character by itself is an escape already.
    words = " ".join(shown(piece).replace("\\\\x", "\\x") for piece in pieces[:_IDS_SHOWN])
    return words if len(pieces) <= _IDS_SHOWN else f"{words} ..."


def _on_its_side(head: Row, rows: Sequence[Row]) -> tuple[Row, list[Row]]:
    columns = list(zip(head, *rows, strict=True))
    return columns[0], columns[1:]
