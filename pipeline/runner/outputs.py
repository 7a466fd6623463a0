"""The output folder: files are written beside it and renamed into it, whole or not at all.

`OUT/.pipeline/` holds the lock, the list of known files and the files being written; everything else
in the folder is an artifact, or not ours.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from pipeline.errors import MachineError, UsageError
from pipeline.runner.known_files import KnownFiles
from pipeline.sources.errors import path_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future, ThreadPoolExecutor
    from pathlib import Path

WORK_FOLDER = ".pipeline"
_KNOWN = "files.json"
_STAGING = "staging"


@dataclass(frozen=True, slots=True)
class Staged:
    """A file that was written under a temporary name: final name, size in bytes, SHA-256 (hex)."""

    name: str
    path: Path
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Committed:
    """A file under its final name; `changed` is false where the same bytes were there already."""

    name: str
    size: int
    sha256: str
    changed: bool


class StagedFile:
    """A file being written under a temporary name, hashed on the way."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("xb", buffering=0)
        self._digest = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes."""
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


class OutputFolder:
    """An output folder, for one run. Whoever writes holds the lock that `prepare` names."""

    def __init__(self, root: Path, *, writable: bool = True) -> None:
        """Open a folder.

        Args:
            root: the folder; need not exist where nothing is written.
            writable: clear what a killed run left behind, and be ready to write.

        """
        self.root = root
        self._writable = writable
        self._work = root / WORK_FOLDER
        self._serial = 0
        self._pool: ThreadPoolExecutor | None = None
        self._synced: dict[Path, Future[None]] = {}
        self._unsynced: set[Path] = set()
        self.known = KnownFiles(root, self._read(self._work / _KNOWN))
        self.drop_staged()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for path in sorted(self._unsynced):
            with suppress(FileNotFoundError):
                _sync(path)
        self.drop_staged()
        if self._pool is not None:
            self._pool.shutdown()

    @classmethod
    def prepare(cls, root: Path) -> Path:
        """Make the folder and its work folder.

        Returns:
            the path of the lock that whoever writes must hold.

        Raises:
            UsageError: the path is no folder.
            MachineError: the system refuses.

        """
        try:
            (root / WORK_FOLDER).mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise UsageError(f"{path_words(root)}: expected a folder for the output, found a file") from error
        except OSError as error:
            raise refusal(error, root) from error
        return root / WORK_FOLDER / "lock"

    def read(self, name: str) -> bytes:
        """Read an artifact."""
        return (self.root / name).read_bytes()

    def holds(self, name: str, data: bytes) -> bool:
        """Tell whether an artifact has these bytes."""
        return self.known.digest(name) == hashlib.sha256(data).hexdigest()

    @contextmanager
    def stage(self, name: str, staged: list[Staged], *, sync: bool = True) -> Iterator[StagedFile]:
        """Write a file under a temporary name; when it is whole it is added to `staged`.

        Args:
            name: its final name.
            staged: the files that are committed together.
            sync: bring it to the disk before it gets its name, and not at the end of the run only.

        """
        folder = self._work / _STAGING
        folder.mkdir(exist_ok=True)
        self._serial += 1
        path = folder / f"{self._serial:06}"
        file = StagedFile(path)
        try:
            yield file
        finally:
            file.close()
        if sync:
            self._synced[path] = self._sync_later(path)
        staged.append(Staged(name, path, file.size, file.sha256))

    def commit(self, staged: list[Staged], *, replace_strangers: bool = False) -> list[Committed]:
        """Give staged files their final names; a file that has the same bytes already stays untouched.

        Args:
            staged: whole files.
            replace_strangers: replace files that this tool did not write.

        Raises:
            UsageError: a file of that name is there and not ours.
            MachineError: the disk is full, or the system refuses; what has its final name is whole.

        """
        held = {file.name: self._held(file, replace_strangers=replace_strangers) for file in staged}
        for file in staged:
            if file.path in self._synced:
                self._synced.pop(file.path).result()
            else:
                self._unsynced.add(self.root / file.name)
            self.known.claim(file.name)
        self.save_known()
        committed = []
        for file in staged:
            path = self.root / file.name
            changed = held[file.name] != file.sha256
            if changed:
                path.parent.mkdir(parents=True, exist_ok=True)
                file.path.replace(path)
                self._unsynced.add(path.parent)
            else:
                file.path.unlink()
            self.known.remember(file.name, file.sha256)
            committed.append(Committed(file.name, file.size, file.sha256, changed))
        return committed

    def _held(self, file: Staged, *, replace_strangers: bool) -> str | None:
        """Tell the digest of the file that has the final name now; refuse to replace a stranger's."""
        path = self.root / file.name
        if path.exists() and not path.is_file():
            raise UsageError(
                f"{path_words(path)}: expected to write a file, found no file there; move it away"
            )
        found = self.known.digest(file.name)
        if found in (None, file.sha256) or file.name in self.known or replace_strangers:
            return found
        raise UsageError(
            f"{path_words(path)}: there is a file of that name that this tool did not write; move it away, or "
            "replace it with --force"
        )

    def save_known(self) -> None:
        """Write the list of known files where it changed."""
        if self.known.changed:
            temporary = self._work / f"{_KNOWN}.new"
            temporary.write_bytes(self.known.document())
            temporary.replace(self._work / _KNOWN)
            self.known.changed = False

    def drop_staged(self) -> None:
        """Remove what was staged and not committed, by this run or by one that was killed."""
        for future in self._synced.values():
            future.cancel()
        self._synced.clear()
        if self._writable:
            with suppress(FileNotFoundError):
                shutil.rmtree(self._work / _STAGING)

    def remove(self, name: str) -> None:
        """Remove a known file, and the folders that it leaves empty."""
        path = self.root / name
        with suppress(FileNotFoundError):
            path.unlink()
        self.known.forget(name)
        for folder in path.parents:
            if folder == self.root:
                break
            try:
                folder.rmdir()
            except OSError:  # not empty
                break

    def _sync_later(self, path: Path) -> Future[None]:
        """Bring a file to the disk while the next one is being made."""
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(1, "sync")
        return self._pool.submit(_sync, path)

    @staticmethod
    def _read(path: Path) -> bytes | None:
        try:
            return path.read_bytes()
        except OSError:
            return None


def _sync(path: Path) -> None:
    """Bring a file or a folder's entries to the disk."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def refusal(error: OSError, path: Path) -> MachineError:
    """Say what the system refused, in one line.

    Args:
        error: what was raised.
        path: the file or folder, where the error names none.

    """
    where = path_words(error.filename if isinstance(error.filename, str) else path)
    why = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return MachineError(f"{where}: {why}; make room and run again, nothing half-written is left")
    return MachineError(f"{where}: {why}")
