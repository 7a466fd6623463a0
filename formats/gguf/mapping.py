"""Mapping a file into memory, read-only, whatever the path turns out to be."""

from __future__ import annotations

import mmap
import os
import stat
from typing import TYPE_CHECKING

from formats.errors import FormatError

if TYPE_CHECKING:
    from pathlib import Path

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def map_file(path: Path) -> mmap.mmap:
    """Map a regular file that is not empty.

    Raises:
        FormatError: it is empty, or no regular file; a pipe or device is not waited for.
        OSError: it cannot be opened.

    """
    _check_regular(path.stat().st_mode, path)
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    try:
        status = os.fstat(descriptor)
        # Once more: the path may name something else by now.
        _check_regular(status.st_mode, path)
        if status.st_size == 0:
            raise empty_file(str(path))
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)


def empty_file(file: str) -> FormatError:
    """Make the refusal for a file without a byte."""
    return FormatError("a GGUF file", "an empty file", file=file, hint="fetch it again")


def _check_regular(mode: int, path: Path) -> None:
    if not stat.S_ISREG(mode):
        kind = next((words for holds, words in _KINDS if holds(mode)), "something else")
        raise FormatError("a regular file", kind, file=str(path), hint="name the GGUF file itself")
