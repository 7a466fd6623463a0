"""SHA-256 of whole files, taken once per file, and the identity that shows a later change.

A model's blob has gigabytes and is hashed before anything is built from it. The digest is
remembered in the cache by the file's real path, device, inode, size, mtime and ctime, so that the
next run only asks for the file's status.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from pipeline.cache import read_small, write_small
from pipeline.errors import ModelError
from pipeline.hashing import OverlappedSha256, TwoBuffers
from pipeline.sources.errors import InputChanged, path_words
from pipeline.sources.files import failure, require_file, stat_or_none

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Progress = Callable[[int, int], None]
    """Called now and then with the bytes done and the bytes there are."""

CHUNK = 1 << 20
RACY_NS = 2_000_000_000
"""A file that changed this short a time before it was hashed may change again without a new
time stamp: some file systems count in steps of two seconds. Its digest is not remembered."""

_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class FileStamp:
    """A file's identity: what its status says. Times are in nanoseconds since 1970."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int

    @classmethod
    def of_status(cls, status: os.stat_result) -> FileStamp:
        """Take the identity out of a file's status."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev)


@dataclass(frozen=True, slots=True)
class FileDigest:
    """A file's SHA-256 (64 hex digits) and its identity while it was hashed."""

    sha256: str
    stamp: FileStamp


def stamp_of(path: Path) -> FileStamp:
    """Tell a regular file's identity now. Raises ModelError where it is missing or no file."""
    status = stat_or_none(path)
    if status is None:
        raise ModelError(f"{path_words(path)}: expected a file, found nothing there")
    require_file(path, status)
    return FileStamp.of_status(status)


def check_unchanged(path: Path, stamp: FileStamp) -> None:
    """Refuse a file that is no longer the one that `stamp` was taken from (InputChanged)."""
    status = stat_or_none(path)
    now = None if status is None else FileStamp.of_status(status)
    if now == stamp:
        return
    if now is None:
        what = "removed"
    elif (now.inode, now.device) != (stamp.inode, stamp.device):
        what = "replaced by another file"
    elif now.size != stamp.size:
        what = f"changed from {stamp.size:,} to {now.size:,} bytes"
    else:
        what = "written to"
    raise InputChanged(
        f"{path_words(path)}: {what} while it was being read; run again when nothing writes it"
    )


def hash_file(path: Path, progress: Progress | None = None) -> FileDigest:
    """Hash a regular file from end to end, in constant memory.

    Raises InputChanged where the file changes meanwhile, ModelError where it is missing or no
    file, MachineError where the system refuses to read it.
    """
    stamp = stamp_of(path)
    digest, buffers, done = OverlappedSha256(), TwoBuffers(CHUNK), 0
    try:
        with path.open("rb", buffering=0) as file:
            while count := file.readinto(buffer := buffers.take()):
                digest.update(buffer[:count])
                done += count
                if progress is not None:
                    progress(done, stamp.size)
    except OSError as error:
        raise failure(path, error) from error
    check_unchanged(path, stamp)
    return FileDigest(digest.hexdigest(), stamp)


class DigestCache:
    """Digests of files, remembered in a folder; without a folder every file is hashed anew."""

    def __init__(self, cache: Path | None) -> None:
        self._folder = None if cache is None else cache / "digests"

    def sha256(self, path: Path, progress: Progress | None = None) -> FileDigest:
        """Tell a file's digest, hashing it only where no entry fits. Raises as `hash_file` does."""
        stamp = stamp_of(path)
        real = os.path.realpath(path)
        entry = self._entry(real)
        known = None if entry is None else _recall(entry, real, stamp)
        if known is not None:
            return FileDigest(known, stamp)
        started = time.time_ns()
        result = hash_file(path, progress)
        settled = started - max(result.stamp.mtime_ns, result.stamp.ctime_ns) >= RACY_NS
        if entry is not None and settled:
            record = {"path": real, **asdict(result.stamp), "sha256": result.sha256}
            write_small(entry, json.dumps(record).encode("ascii") + b"\n")
        return result

    def _entry(self, real: str) -> Path | None:
        if self._folder is None:
            return None
        key = hashlib.sha256(os.fsencode(real)).hexdigest()
        return self._folder / f"{key}.json"


def _recall(entry: Path, real: str, stamp: FileStamp) -> str | None:
    data = read_small(entry)
    if data is None:
        return None
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    known = record.get("sha256")
    if not isinstance(known, str) or not _HEX.fullmatch(known):
        return None
    return known if record == {"path": real, **asdict(stamp), "sha256": known} else None
