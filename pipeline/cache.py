"""The user's cache folder, and small files in it that are whole or absent.

Nothing in the cache is ever needed: what cannot be read is made again, what cannot be written is
made again next time. So no function here raises for a folder that is missing, full or read-only.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = "q25-firmware-assets"
SMALL = 64 * 1024
"""Bytes that a cached file may have; a longer one is not ours and is ignored."""


def cache_folder(environ: Mapping[str, str] | None = None, platform: str | None = None) -> Path | None:
    """Tell where this user's cache lies; the folder need not exist.

    `PIPELINE_CACHE` names the folder itself. Otherwise it is `q25-firmware-assets` in
    `XDG_CACHE_HOME` (absolute, as its standard wants) or `~/.cache`, on macOS in
    `~/Library/Caches`, on Windows in `LOCALAPPDATA`. None where the user has no home either.
    """
    environ = os.environ if environ is None else environ
    platform = sys.platform if platform is None else platform
    named = environ.get("PIPELINE_CACHE", "").strip()
    if named:
        return Path(named).absolute()
    home = home_folder(environ, platform)
    if platform == "win32":
        local = environ.get("LOCALAPPDATA", "").strip()
        if local:
            return Path(local) / FOLDER
        return None if home is None else home / "AppData" / "Local" / FOLDER
    xdg = environ.get("XDG_CACHE_HOME", "").strip()
    if xdg and Path(xdg).is_absolute():
        return Path(xdg) / FOLDER
    if home is None:
        return None
    return home / ("Library/Caches" if platform == "darwin" else ".cache") / FOLDER


def home_folder(environ: Mapping[str, str], platform: str) -> Path | None:
    """Tell the user's home: from the environment, else from the system; None where there is none."""
    named = environ.get("USERPROFILE" if platform == "win32" else "HOME", "").strip()
    if named:
        return Path(named)
    try:
        return Path.home()
    except RuntimeError:  # no entry in the password database, as in some containers
        return None


def read_small(path: Path) -> bytes | None:
    """Read a file of at most `SMALL` bytes; None where that does not work out."""
    try:
        with path.open("rb") as file:
            data = file.read(SMALL + 1)
    except OSError:
        return None
    return data if len(data) <= SMALL else None


def write_small(path: Path, data: bytes) -> bool:
    """Write a file under a temporary name and rename it; False where that does not work out.

    Any number of processes may write the same path at once: a reader sees one of their files, whole.
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        return False
    return True
