"""A layout as tables: plain text for the console, Markdown for the docs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.catalog import FORMATS
from formats.layout.describe import field_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from formats.catalog import Format
    from formats.layout import Record
    from formats.layout.describe import FieldRow

HEAD = ("offset", "size", "type", "count", "field", "unit", "meaning", "must be")
KEY_HEAD = ("key", "type", "unit", "meaning")


def text_tables(known: Format) -> str:
    """Describe a format for the console: a table for each record."""
    layout = known.layout
    form = "lines of UTF-8" if known.is_text else "little-endian, packed"
    parts = [f"{known.name}: {layout.meaning}", f"File {layout.file_name}, {form}.", *_columns(layout)]
    if known.keys:
        parts += ["", "keys of the JSON:", *_aligned(KEY_HEAD, _key_cells(known))]
    for record in known.records:
        parts += ["", f"{record.name}: {record.meaning}", *_columns(record)]
    return "\n".join(parts) + "\n"


def _columns(record: Record) -> Iterator[str]:
    rows = list(field_rows(record))
    yield from _aligned(HEAD, [_cells(row) for row in rows])
    yield from (f"  {note}" for row in rows for note in row.notes)


def _aligned(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(line[column]) for line in (head, *rows)) for column in range(len(head))]
    for line in (head, *rows):
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield ("  " + "  ".join(cells)).rstrip()


def _key_cells(known: Format) -> list[tuple[str, ...]]:
    return [(key.path, key.type, key.unit, key.meaning) for key in known.keys]


def markdown_page(formats: Iterable[Format] = FORMATS) -> str:
    """Describe formats as a page of Markdown, by the modules that declare them."""
    parts = [
        "# Formats",
        (
            "In binary files all numbers are little-endian and all records packed. Each layout is declared once, "
            "with construct, in `formats/`; this page, the packers, the readers, the checks and what `pipeline "
            "schema` exports are made from that declaration. A size or count that is a name is that of an earlier "
            "field."
        ),
    ]
    modules: set[str] = set()
    described: set[str] = set()
    for known in formats:
        module = known.module.__name__
        if module not in modules:
            modules.add(module)
            described.clear()
            parts += [f"## {_title(module)}", known.description]
        file_name = known.layout.file_name
        parts += [
            f"### {known.name}",
            f"{known.layout.meaning} File: `{file_name}`.",
            _markdown(known.layout),
        ]
        if known.keys:
            rows = [(f"`{path}`", *rest) for path, *rest in _key_cells(known)]
            parts += ["Keys of the JSON:", markdown_table(KEY_HEAD, rows)]
        for record in known.records:
            if record.name not in described:
                described.add(record.name)
                parts += [f"#### {record.name}", record.meaning, _markdown(record)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _title(module: str) -> str:
    """Name a module's formats: `formats.q25tokrt.layout` declares `q25tokrt`."""
    return module.removeprefix("formats.").partition(".")[0]


def _markdown(record: Record) -> str:
    rows, notes = [], []
    for row in field_rows(record):
        offset, size, kind, count, name, *rest = _cells(row)
        rows.append((offset, size, f"`{kind}`", count, f"`{name}`", *rest))
        notes += [f"- {note}" for note in row.notes]
    table = markdown_table(HEAD, rows)
    return "\n\n".join([table, "\n".join(notes)]) if notes else table


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _cells(row: FieldRow) -> tuple[str, ...]:
    return (
        "" if row.offset is None else str(row.offset),
        "varies" if row.size is None else str(row.size),
        row.type,
        row.count,
        row.name,
        row.unit,
        row.meaning,
        row.constraint,
    )
