"""One run at a time in an output folder."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pipeline.errors import MachineError
from pipeline.sources.errors import path_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@contextmanager
def locked(path: Path, *, wait: bool, on_wait: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock file `path`; the system gives it back however the process ends.

    Args:
        path: the lock file, made where it is missing.
        wait: wait for the run that holds it, instead of stopping.
        on_wait: told whom the wait is for.

    Raises:
        MachineError: another run holds it.

    """
    # Its content is replaced: behind a link that would be somebody else's.
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags, 0o666)
    try:
        if not _take(handle, wait=False):
            who = _holder(handle)
            folder = path_words(path.parent.parent)
            if not wait:
                raise MachineError(f"{folder}: {who} works in this folder; wait for it, or use --wait")
            on_wait(f"{folder}: waiting for {who}")
            _take(handle, wait=True)
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(handle)


if sys.platform == "win32":

    def _take(handle: int, *, wait: bool) -> bool:
        import msvcrt
        import time

        while True:
            # A byte far behind the text: a lock on Windows also forbids reading what it covers.
            os.lseek(handle, 1 << 20, os.SEEK_SET)
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            except OSError:
                if not wait:
                    return False
                time.sleep(0.2)
            else:
                return True

else:

    def _take(handle: int, *, wait: bool) -> bool:
        import fcntl

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True


def _holder(handle: int) -> str:
    """Name the process that wrote its number into the lock file."""
    os.lseek(handle, 0, os.SEEK_SET)
    number = os.read(handle, 32).decode("ascii", "replace").strip()
    return f"another run (process {number})" if number.isdigit() else "another run"
