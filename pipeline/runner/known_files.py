"""What this tool wrote into an output folder: file names, digests, and stamps to recognise them by.

The list serves three ends. A file that is not on it is somebody else's and is never replaced. A file
whose stamp is the one on the list need not be hashed again. And `clean` removes what is on the list
but made by no step any more.
"""

from __future__ import annotations

import json
import time
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from pipeline.sources.digests import RACY_NS, FileStamp, hash_file
from pipeline.sources.files import stat_or_none

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file as it was last seen: SHA-256 (hex), stamp, and when that was; None while it is written."""

    sha256: str | None
    stamp: FileStamp | None
    seen_ns: int


class KnownFiles:
    """The list of one output folder. Names are relative to the folder, with `/`."""

    def __init__(self, root: Path, data: bytes | None) -> None:
        """Read a list; one that is damaged counts as empty."""
        self._root = root
        self._entries = {} if data is None else _parse(data)
        self.changed = False

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def names(self) -> list[str]:
        """List the files, sorted."""
        return sorted(self._entries)

    def digest_when_written(self, name: str) -> str | None:
        """Give the SHA-256 that a file had when this tool last wrote or hashed it."""
        entry = self._entries.get(name)
        return None if entry is None else entry.sha256

    def claim(self, name: str) -> None:
        """Put a file on the list before it gets its name, so that a killed run leaves no stranger behind."""
        if name not in self._entries:
            self._entries[name] = _Entry(None, None, 0)
            self.changed = True

    def forget(self, name: str) -> None:
        """Take a file off the list."""
        self.changed |= self._entries.pop(name, None) is not None

    def remember(self, name: str, sha256: str) -> None:
        """Note what a file holds now."""
        status = stat_or_none(self._root / name)
        if status is not None:
            self._entries[name] = _Entry(sha256, FileStamp.of_status(status), time.time_ns())
            self.changed = True

    def digest(self, name: str) -> str | None:
        """Tell a file's SHA-256, hashing it only where its stamp is new or too fresh to be trusted.

        Returns:
            64 hex digits, or None where there is no such file.

        Raises:
            ModelError, MachineError: it is no regular file, or cannot be read.

        """
        path = self._root / name
        status = stat_or_none(path)
        if status is None:
            return None
        entry = self._entries.get(name)
        stamp = FileStamp.of_status(status)
        settled = entry is not None and entry.seen_ns - max(stamp.mtime_ns, stamp.ctime_ns) >= RACY_NS
        if entry is not None and settled and entry.stamp == stamp and entry.sha256 is not None:
            return entry.sha256
        found = hash_file(path)
        if entry is not None:
            self._entries[name] = _Entry(found.sha256, found.stamp, time.time_ns())
            self.changed = True
        return found.sha256

    def document(self) -> bytes:
        """Write the list as JSON."""
        files = {
            name: [entry.sha256, None if entry.stamp is None else astuple(entry.stamp), entry.seen_ns]
            for name, entry in sorted(self._entries.items())
        }
        return json.dumps({"version": VERSION, "files": files}).encode("ascii") + b"\n"


def _parse(data: bytes) -> dict[str, _Entry]:
    try:
        document = json.loads(data)
        if document["version"] != VERSION:
            return {}
        entries = {}
        for name, (sha256, stamp, seen_ns) in document["files"].items():
            if is_inside(name):
                known = None if stamp is None else FileStamp(*(int(part) for part in stamp))
                entries[name] = _Entry(None if sha256 is None else str(sha256), known, int(seen_ns))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return entries


def is_inside(name: str) -> bool:
    """Tell whether a name stays inside the folder it is relative to, on any system."""
    parts = name.replace("\\", "/").split("/")
    return bool(name) and ":" not in name and "\0" not in name and not {"", ".", ".."} & set(parts)
