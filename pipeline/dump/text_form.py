"""Rows for the console: address, hex, ASCII, and beside it path, type, value and meaning."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from pipeline.dump.rows import Heading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pipeline.dump.rows import Row

BYTES_A_LINE = 8
LINES_A_ROW = 4
"""Lines of hex that one row takes at the most."""
_ASCII = bytes(byte if 0x20 <= byte < 0x7F else ord(".") for byte in range(256))
_COLORS = {"address": "2", "path": "36", "value": "1", "fault": "31", "heading": "1;34"}


def use_color() -> bool:
    """Tell whether standard output is a terminal that wants colours."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def text_lines(rows: Iterable[Row | Heading], data: memoryview, *, color: bool) -> Iterator[str]:
    """Write each row on a line, and the bytes it has beyond the first few on more.

    Args:
        rows: of one file.
        data: its bytes.
        color: whether to mark the columns with escapes.

    """
    width = max(8, len(f"{max(len(data) - 1, 0):X}"))

    def painted(kind: str, words: str) -> str:
        return f"\x1b[{_COLORS[kind]}m{words}\x1b[0m" if color and words else words

    for row in rows:
        if isinstance(row, Heading):
            yield f"{painted('heading', row.path)}  {row.words}"
            continue
        words = [painted("path", row.path), row.type, painted("value", row.value)]
        unit = f" [{row.unit}]" if row.unit else ""
        words += [f"{row.meaning}{unit}"] if row.meaning else []
        if row.fault:
            words.append(painted("fault", f"!! expected {row.fault}"))
        shown = data[row.offset : row.offset + min(row.size, BYTES_A_LINE * LINES_A_ROW)]
        hexes = [shown[at : at + BYTES_A_LINE] for at in range(0, len(shown), BYTES_A_LINE)] or [shown]
        if row.is_folded or (row.size > BYTES_A_LINE and not any(shown)):
            hexes = hexes[:1]  # zeros look alike
        for number, piece in enumerate(hexes):
            address = painted("address", f"{row.offset + number * BYTES_A_LINE:0{width}X}")
            beside = "  ".join(word for word in words if word) if number == 0 else ""
            more = "+" if number == len(hexes) - 1 and row.size > (number + 1) * BYTES_A_LINE else " "
            ascii_words = piece.tobytes().translate(_ASCII).decode("ascii")
            hex_words = piece.hex(" ").upper()
            line = f"{address}  {hex_words:<{3 * BYTES_A_LINE - 1}}{more} {ascii_words:<{BYTES_A_LINE}}  {beside}"
            yield line.rstrip()
