"""Standard output. Its failures are told apart from those of the files that a command works on."""

from __future__ import annotations

import sys

from pipeline.errors import ConsoleError


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
