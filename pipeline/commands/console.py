"""Standard output. Its failures are told apart from those of the files that a command works on."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING

from formats.errors import shown
from pipeline.errors import ConsoleError

if TYPE_CHECKING:
    from collections.abc import Iterable

_BLOCK = 1000
"""Lines that are written in one go."""
_SHOWN = 100
"""Characters of a foreign word that are shown without quotes."""


def say(line: str = "", *, flush: bool = False) -> None:
    """Print a line.

    Raises:
        ConsoleError: it cannot be written.

    """
    try:
        print(line, flush=flush)
    except OSError as error:
        raise ConsoleError(error) from error


def put(data: bytes) -> None:
    """Write bytes as they are, at once. Raises as `say` does."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        raise ConsoleError(error) from error


def put_page(lines: Iterable[str]) -> None:
    """Write lines in UTF-8, whatever the console's encoding is: a page says so of itself. Raises as `say` does."""
    lines = iter(lines)
    while block := list(islice(lines, _BLOCK)):
        put("".join(f"{line}\n" for line in block).encode())


def plain(word: str) -> str:
    r"""Show a foreign word as it is where that drives no terminal and keeps a line short.

    >>> plain("blk.0.attn_q.weight"), plain("a\nb"), plain("")
    ('blk.0.attn_q.weight', "'a\\nb'", "''")
    """
    return word if word and word.isprintable() and len(word) <= _SHOWN else shown(word)
