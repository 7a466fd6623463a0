"""Careful access to files of others: every failure of the system has its one line.

Nothing is opened before it is known to be a regular file, for opening a FIFO waits for ever.
"""

from __future__ import annotations

import errno
import stat
from typing import TYPE_CHECKING

from pipeline.sources.errors import InputChanged, StoreError, StoreFault, StoreUnreadable, path_words

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from pipeline.errors import PipelineError

_ABSENT = {errno.ENOENT, errno.ENAMETOOLONG, errno.EINVAL}
"""What systems answer where no file can be; EINVAL is Windows' answer to a ':' in a file's name."""
_DENIED = {errno.EACCES, errno.EPERM}


def failure(path: Path, error: OSError) -> PipelineError:
    """Turn the system's refusal to read `path` into the error that names the state."""
    words = path_words(path)
    if error.errno in _DENIED:
        return StoreUnreadable(
            StoreFault.NO_PERMISSION,
            f"{words}: no permission to read it; grant it to this user, or join the group that owns it"
            " (`ollama` where Ollama runs as a service)",
        )
    if error.errno == errno.ELOOP:
        return StoreError(
            StoreFault.LINK_LOOP, f"{words}: symbolic links that lead in a circle; remove the link"
        )
    if error.errno == errno.ENOTDIR:
        file = next((p for p in reversed(path.parents) if not p.is_dir()), path)
        return StoreError(
            StoreFault.NOT_A_FOLDER,
            f"{path_words(file)}: expected a folder, found a file; correct the path or move the file away",
        )
    if error.errno in _ABSENT:
        return InputChanged(f"{words}: vanished while it was being read; run again when nothing changes it")
    reason = error.strerror or type(error).__name__
    return StoreUnreadable(StoreFault.READ_FAILED, f"{words}: cannot be read: {reason}")


def stat_or_none(path: Path, *, follow: bool = True) -> os.stat_result | None:
    """Tell a path's status; None where nothing is there (a broken link counts as nothing).

    Raises StoreError or StoreUnreadable for every other answer of the system.
    """
    try:
        return path.stat(follow_symlinks=follow)
    except ValueError:  # a NUL in the name: no system has such a file
        return None
    except OSError as error:
        if error.errno in _ABSENT:
            return None
        raise failure(path, error) from error


def is_folder(path: Path) -> bool:
    """Tell whether a folder is there. Raises as `stat_or_none` does."""
    status = stat_or_none(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def require_file(path: Path, status: os.stat_result) -> None:
    """Refuse what is there but is no regular file."""
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a device, pipe or socket"
        raise StoreError(
            StoreFault.NOT_A_FILE,
            f"{path_words(path)}: expected a file, found {kind}; correct the path or move that away",
        )


def read_up_to(path: Path, limit: int) -> bytes:
    """Read a regular file, but at most `limit` + 1 bytes: one more than allowed shows that it is longer."""
    try:
        with path.open("rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        raise failure(path, error) from error


def names_in(folder: Path) -> list[str]:
    """List a folder's names in order; [] where there is no such folder."""
    try:
        return sorted(entry.name for entry in folder.iterdir())
    except OSError as error:
        if error.errno in _ABSENT:
            return []
        raise failure(folder, error) from error
