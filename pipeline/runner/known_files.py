"""What this tool wrote into an output folder: file names, digests, and stamps to recognise them by.

The list serves three ends. A file that is not on it is somebody else's and is never replaced. A file
whose stamp is the one on the list need not be hashed again. And `clean` removes what is on the list,
still as it was written, and made by no step any more.
"""

from __future__ import annotations

import json
import stat
import time
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

from pipeline.errors import MachineError
from pipeline.sources.digests import RACY_NS, FileStamp, hash_file
from pipeline.sources.errors import InputChanged, StoreUnreadable, path_words

if TYPE_CHECKING:
    import os
    from pathlib import Path

VERSION = 1
WORK_FOLDER = ".pipeline"
"""The folder inside the output folder that is this tool's own."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file on the list.

    Attributes:
        written: SHA-256 (hex) of what this tool wrote; None while that is being done.
        sha256: of what was found there last.
        stamp: the file's identity at that time.
        seen_ns: that time.

    """

    written: str | None
    sha256: str | None = None
    stamp: FileStamp | None = None
    seen_ns: int = 0


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

    def is_as_written(self, name: str) -> bool:
        """Tell whether a file is there and holds what this tool wrote."""
        entry = self._entries.get(name)
        return entry is not None and entry.written is not None and self.digest(name) == entry.written

    def claim(self, name: str) -> None:
        """Put a file on the list before it gets its name, so that a killed run leaves no stranger behind."""
        if name not in self._entries:
            self._entries[name] = _Entry(None)
            self.changed = True

    def adopt(self, name: str, sha256: str) -> None:
        """Put a file on the list that a build record lists, if it holds what the record says."""
        if name not in self._entries and self.digest(name) == sha256:
            self.remember(name, sha256)

    def forget(self, name: str) -> None:
        """Take a file off the list."""
        self.changed |= self._entries.pop(name, None) is not None

    def remember(self, name: str, sha256: str) -> None:
        """Note what this tool wrote."""
        status = _status(self._root / name)
        if status is not None:
            self._entries[name] = _Entry(sha256, sha256, FileStamp.of_status(status), time.time_ns())
            self.changed = True

    def digest(self, name: str) -> str | None:
        """Tell a file's SHA-256, hashing it only where its stamp is new or too fresh to be trusted.

        Returns:
            64 hex digits, or None where there is no regular file.

        Raises:
            MachineError: it cannot be read.

        """
        path = self._root / name
        status = _status(path)
        if status is None:
            return None
        entry = self._entries.get(name)
        stamp = FileStamp.of_status(status)
        settled = entry is not None and entry.seen_ns - max(stamp.mtime_ns, stamp.ctime_ns) >= RACY_NS
        if entry is not None and settled and entry.stamp == stamp and entry.sha256 is not None:
            return entry.sha256
        seen = time.time_ns()
        try:
            found = hash_file(path)
        except StoreUnreadable as error:
            reason = error.__cause__.strerror if isinstance(error.__cause__, OSError) else error
            raise MachineError(f"{path_words(path)}: cannot be read: {reason}") from error
        except InputChanged as error:
            raise MachineError(f"{path_words(path)}: another program changed it during the run") from error
        if entry is not None:
            self._entries[name] = replace(entry, sha256=found.sha256, stamp=found.stamp, seen_ns=seen)
            self.changed = True
        return found.sha256

    def document(self) -> bytes:
        """Write the list as JSON."""
        files = {
            name: [
                entry.written,
                entry.sha256,
                None if entry.stamp is None else astuple(entry.stamp),
                entry.seen_ns,
            ]
            for name, entry in sorted(self._entries.items())
        }
        return json.dumps({"version": VERSION, "files": files}).encode("ascii") + b"\n"


def _status(path: Path) -> os.stat_result | None:
    """Tell a regular file's status; None where there is none, or none that a name can reach."""
    try:
        status = path.stat()
    except PermissionError as error:
        raise MachineError(f"{path_words(path)}: {error.strerror}") from error
    except (OSError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _parse(data: bytes) -> dict[str, _Entry]:
    try:
        document = json.loads(data)
        if document["version"] != VERSION:
            return {}
        entries = {}
        for name, (written, sha256, stamp, seen_ns) in document["files"].items():
            if is_inside(name):
                known = None if stamp is None else FileStamp(*(int(part) for part in stamp))
                entries[name] = _Entry(_digest(written), _digest(sha256), known, int(seen_ns))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return {}
    return entries


def _digest(value: object) -> str | None:
    return None if value is None else str(value)


def is_inside(name: str) -> bool:
    """Tell whether a name is one of a file in the folder it is relative to, on any system.

    The names of this tool's own folder are none, nor are those that would not print on a line.
    """
    parts = name.replace("\\", "/").split("/")
    strange = ":" in name or not name.isprintable() or {"", ".", ".."} & set(parts)
    return not strange and parts[0].lower() != WORK_FOLDER
