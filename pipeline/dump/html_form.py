"""Rows as one HTML file that needs nothing else."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pipeline.dump.rows import Heading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pipeline.dump.rows import Row

BYTES_A_ROW = 32
_STYLE = """\
:root { color-scheme: light dark; }
body { font: 14px/1.4 ui-monospace, monospace; margin: 1.5em; }
table { border-collapse: collapse; }
td, th { padding: 0.1em 0.8em; text-align: left; vertical-align: top; white-space: pre-wrap; }
tr:nth-child(even) td { background: color-mix(in srgb, CanvasText 6%, Canvas); }
th[colspan] { padding-top: 0.8em; }
.address { opacity: 0.6; }
.path { color: color-mix(in srgb, CanvasText 40%, teal); }
.value { font-weight: bold; overflow-wrap: anywhere; }
.fault { color: color-mix(in srgb, CanvasText 20%, red); }
"""


def html_lines(
    title: str, rows: Iterable[Row | Heading], data: memoryview, faults: Iterable[str]
) -> Iterator[str]:
    """Write a page with a table of the rows; everything from the file is escaped."""
    yield f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>'
    yield f"<style>\n{_STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>"
    for fault in faults:
        yield f'<p class="fault">{escape(fault)}</p>'
    yield "<table>\n<thead><tr>"
    for name in ("address", "bytes", "path", "type", "value", "meaning"):
        yield f'<th scope="col">{name}</th>'
    yield "</tr></thead>\n<tbody>"
    for row in rows:
        if isinstance(row, Heading):
            words = f"{row.path}  {row.words}"
            yield f'<tr><th colspan="6" scope="rowgroup">{escape(words)}</th></tr>'
        else:
            yield f"<tr>{''.join(_cells(row, data))}</tr>"
    yield "</tbody>\n</table>\n</body>\n</html>"


def _cells(row: Row, data: memoryview) -> Iterator[str]:
    shown = data[row.offset : row.offset + min(row.size, BYTES_A_ROW)]
    more = " +" if row.size > BYTES_A_ROW else ""
    unit = f" [{row.unit}]" if row.unit else ""
    fault = f'<br><span class="fault">expected {escape(row.fault)}</span>' if row.fault else ""
    yield f'<td class="address">{row.offset:08X}</td>'
    yield f"<td>{shown.hex(' ').upper()}{more}</td>"
    yield f'<td class="path">{escape(row.path)}</td>'
    yield f"<td>{escape(row.type)}</td>"
    yield f'<td class="value">{escape(row.value)}{fault}</td>'
    yield f"<td>{escape(row.meaning + unit)}</td>"
