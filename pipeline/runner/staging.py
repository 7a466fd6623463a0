"""Files that are being written: under temporary names, hashed on the way, brought to the disk meanwhile."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.hashing import OverlappedSha256

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future, ThreadPoolExecutor
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Staged:
    """A file that was written under a temporary name: final name, size in bytes, SHA-256 (hex)."""

    name: str
    path: Path
    size: int
    sha256: str


class StagedFile:
    """A file being written under a temporary name, hashed on the way."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("xb", buffering=0)
        self._digest = OverlappedSha256()
        self.size = 0

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes; a buffer may be changed again when the next call has returned."""
        self._digest.update(data)
        self.size += len(data)
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]

    @property
    def sha256(self) -> str:
        """SHA-256 of what was written, 64 hex digits."""
        return self._digest.hexdigest()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Staging:
    """The folder of the files being written; one run uses it at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._serial = 0
        self._pool: ThreadPoolExecutor | None = None
        self._syncs: dict[Path, Future[None]] = {}

    @contextmanager
    def stage(self, name: str, staged: list[Staged], *, sync: bool) -> Iterator[StagedFile]:
        """Write a file; when it is whole it is added to `staged`, and brought to the disk if `sync`."""
        self._folder.mkdir(exist_ok=True)
        self._serial += 1
        path = self._folder / f"{self._serial:06}"
        file = StagedFile(path)
        try:
            yield file
        finally:
            file.close()
        if sync:
            self._syncs[path] = self._sync_later(path)
        staged.append(Staged(name, path, file.size, file.sha256))

    def settle(self, file: Staged) -> bool:
        """Wait until a file is on the disk; false where nobody asked for that.

        Raises:
            OSError: the disk is full, or failing.

        """
        sync = self._syncs.pop(file.path, None)
        if sync is None:
            return False
        sync.result()
        return True

    def clear(self) -> None:
        """Remove every file that did not get its final name, of this run or of one that was killed."""
        for sync in self._syncs.values():
            sync.cancel()
        self._syncs.clear()
        with suppress(FileNotFoundError):
            shutil.rmtree(self._folder)

    def close(self) -> None:
        """End the thread that brings files to the disk."""
        if self._pool is not None:
            self._pool.shutdown()

    def _sync_later(self, path: Path) -> Future[None]:
        """Bring a file to the disk while the next one is being made."""
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(1, "sync")
        return self._pool.submit(bring_to_disk, path)


def bring_to_disk(path: Path) -> None:
    """Wait until a file, or a folder's entries, are on the disk."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
