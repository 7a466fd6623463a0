"""Files outside of an output folder: written whole or not at all, and never over a stranger's."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from pipeline.errors import UsageError
from pipeline.runner.outputs import refusal
from pipeline.sources.errors import path_words
from pipeline.sources.files import stat_or_none

if TYPE_CHECKING:
    from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Write a file under a temporary name, and give it its own when it is whole.

    Raises:
        MachineError: the system refuses.

    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        file = temporary.open("xb")
    except OSError as error:
        raise refusal(error, path) from error
    try:
        with file:
            file.write(data)
        temporary.replace(path)
    except OSError as error:
        raise refusal(error, path) from error
    finally:
        with suppress(OSError):  # where it has its own name already
            temporary.unlink()


def require_replaceable(path: Path, start: bytes, what: str) -> None:
    """Refuse a place that is taken by what this tool did not write.

    Args:
        path: where a file is to be written.
        start: what a file that may be replaced begins with.
        what: what such a file is.

    Raises:
        UsageError: there is a folder, a pipe, or another file; or no folder to write it into.

    """
    if not path.parent.is_dir():
        raise UsageError(
            f"{path_words(path.parent)}: expected a folder for the {what}, found none; make it first"
        )
    status = stat_or_none(path)
    if status is None:
        return
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a device, pipe or socket"
        raise UsageError(
            f"{path_words(path)}: expected a file for the {what}, found {kind}; name another place"
        )
    with path.open("rb") as file:
        found = file.read(len(start))
    if found != start:
        raise UsageError(
            f"{path_words(path)}: there is a file that is no such {what}; move it away, or name another place"
        )
