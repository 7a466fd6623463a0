"""Artifacts as files: opened, recognised by their first bytes or their name, and read as far as they go."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from formats.catalog import BY_NAME, FORMATS
from formats.errors import shown
from formats.layout.walk import walk
from pipeline.errors import UsageError
from pipeline.sources.errors import path_words
from pipeline.sources.files import require_file

if TYPE_CHECKING:
    from pathlib import Path

    from formats.catalog import Format
    from formats.layout.walk import Walk


SIGNATURE = 16
"""Bytes of the longest signature, at the most."""


@dataclass(frozen=True)
class ArtifactFile:
    """A file that was opened.

    Attributes:
        path: where it lies.
        format: its format.
        data: its bytes, mapped.
        walk: what it holds, as far as it can be read.

    """

    path: Path
    format: Format
    data: memoryview
    walk: Walk


def open_artifact(path: Path, format_name: str | None = None) -> ArtifactFile:
    """Open a file and read it as far as it goes.

    Args:
        path: the file.
        format_name: its format, where that is not to be recognised.

    Raises:
        UsageError: there is no such format, or nothing tells the file's.
        ModelError: it is a folder, a pipe or a device.
        OSError: it cannot be read.

    """
    data = map_bytes(path)
    known = [find_format(format_name)] if format_name else candidates(path, bytes(data[:SIGNATURE]))
    if not known:
        names = ", ".join(found.name for found in FORMATS)
        raise UsageError(f"{path_words(path)}: nothing tells its format; name one with --format: {names}")
    walks = [(found, walk(found.layout, data, str(path))) for found in known]
    # Where two layouts share a name, the one that leads further is the one that was meant.
    best, walked = max(walks, key=lambda pair: _reach(pair[1]))
    return ArtifactFile(path, best, data, walked)


def map_bytes(path: Path) -> memoryview:
    """Map a regular file; an empty one is no bytes."""
    status = path.stat()
    require_file(path, status)
    with path.open("rb") as file:
        if status.st_size == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def start_of(path: Path) -> bytes:
    """Read the first bytes of a file: as many as a signature has."""
    require_file(path, path.stat())
    with path.open("rb") as file:
        return file.read(SIGNATURE)


def find_format(name: str) -> Format:
    """Find a format by its name.

    Raises:
        UsageError: there is none of that name.

    """
    from pipeline.manifest.kinds import nearest

    if name not in BY_NAME:
        near = nearest(name, tuple(BY_NAME))
        hint = f"did you mean {near}?" if near else "known are " + ", ".join(BY_NAME)
        raise UsageError(f"there is no format {shown(name)}; {hint}")
    return BY_NAME[name]


def candidates(path: Path, start: bytes) -> list[Format]:
    """List the formats that a file may have: by how it begins, or else by its name."""
    signed = [
        known for known in FORMATS if known.layout.signature and start.startswith(known.layout.signature)
    ]
    if signed:
        return signed
    name, folder = path.name, f"{path.absolute().parent.name}/{path.name}"
    return [
        known
        for known in FORMATS
        if fnmatchcase(folder if "/" in known.layout.file_name else name, known.layout.file_name)
    ]


def _reach(found: Walk) -> tuple[int, int]:
    """Tell how far a reading came, and how little it objected to."""
    stop = found.root.size if found.stop is None else found.stop.offset or 0
    return stop, -len(found.broken)
