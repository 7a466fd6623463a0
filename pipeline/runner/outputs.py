"""The output folder: files are written beside it and renamed into it, whole or not at all.

`OUT/.pipeline/` holds the lock, the list of known files and the files being written; everything else
in the folder is an artifact, or not ours.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from pipeline.errors import MachineError, UsageError
from pipeline.runner.known_files import WORK_FOLDER, KnownFiles
from pipeline.runner.staging import Staging, bring_to_disk
from pipeline.sources.errors import path_words

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pipeline.runner.staging import Staged, StagedFile

_KNOWN = "files.json"
_LIMIT = 64 << 20
"""Bytes that a record or a list of files may have; a longer one is not ours."""


@dataclass(frozen=True, slots=True)
class Committed:
    """A file under its final name; `changed` is false where the same bytes were there already."""

    name: str
    size: int
    sha256: str
    changed: bool


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
        self._staging = Staging(self._work / "staging")
        self._unsynced: set[Path] = set()
        self.known = KnownFiles(root, self.read_or_none(f"{WORK_FOLDER}/{_KNOWN}"))
        self.drop_staged()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            for path in sorted(self._unsynced):
                with suppress(FileNotFoundError):
                    bring_to_disk(path)
            self.drop_staged()
        finally:
            self._staging.close()

    @classmethod
    def prepare(cls, root: Path) -> Path:
        """Make the folder and its work folder.

        Returns:
            the path of the lock that whoever writes must hold.

        Raises:
            UsageError: the path is no folder.
            MachineError: the system refuses.

        """
        work = root / WORK_FOLDER
        try:
            root.mkdir(parents=True, exist_ok=True)
            # Behind a link lies what is not ours; some of it would be cleared as left over.
            if work.is_symlink():
                raise UsageError(
                    f"{path_words(work)}: expected a folder, found a symbolic link; move it away"
                )
            work.mkdir(exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            found = next((path for path in (work, *work.parents) if os.path.lexists(path)), root)
            raise UsageError(
                f"{path_words(found)}: expected a folder for the output, found a file; move it away"
            ) from error
        except OSError as error:
            raise refusal(error, root) from error
        return work / "lock"

    def place(self, name: str) -> Path:
        """Tell where an artifact lies.

        Raises:
            UsageError: on the way there is a file or a link where a folder belongs.

        """
        path = self.root
        for part in name.split("/")[:-1]:
            path /= part
            mode = _mode(path)
            if mode is not None and not stat.S_ISDIR(mode):
                raise UsageError(f"{path_words(path)}: expected a folder, found {_kind(mode)}; move it away")
        return self.root / name

    def read(self, name: str) -> bytes:
        """Read an artifact."""
        return (self.root / name).read_bytes()

    def read_or_none(self, name: str) -> bytes | None:
        """Read a file of this tool's own; None where there is none that can be read."""
        path = self.root / name
        try:
            status = path.stat()
            # Opening a pipe would wait for ever.
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LIMIT:
                return None
            return path.read_bytes()
        except OSError:
            return None

    def holds(self, name: str, data: bytes) -> bool:
        """Tell whether an artifact has these bytes."""
        return self.known.digest(name) == hashlib.sha256(data).hexdigest()

    def stage(
        self, name: str, staged: list[Staged], *, sync: bool = True
    ) -> AbstractContextManager[StagedFile]:
        """Write a file under a temporary name; when it is whole it is added to `staged`.

        Args:
            name: its final name.
            staged: the files that are committed together.
            sync: bring it to the disk before it gets its name, not only at the end of the run.

        """
        return self._staging.stage(name, staged, sync=sync)

    def commit(self, staged: list[Staged], *, replace_strangers: bool = False) -> list[Committed]:
        """Give staged files their final names; a file that has the same bytes already stays untouched.

        Args:
            staged: whole files.
            replace_strangers: replace files that this tool did not write.

        Raises:
            UsageError: what is there is no file, or a file that is not ours.
            OSError: the disk is full, or the system refuses; what has its final name is whole.

        """
        held = {file.name: self._held(file, replace_strangers=replace_strangers) for file in staged}
        synced = set()
        for file in staged:
            (self.root / file.name).parent.mkdir(parents=True, exist_ok=True)
            if self._staging.settle(file):
                synced.add(file.name)
            self.known.claim(file.name)
        self.save_known()
        committed = []
        for file in staged:
            path = self.root / file.name
            changed = held[file.name] != file.sha256
            if changed:
                file.path.replace(path)
                self._unsynced.add(path.parent)
                if file.name not in synced:
                    self._unsynced.add(path)
            else:
                file.path.unlink()
            self.known.remember(file.name, file.sha256)
            committed.append(Committed(file.name, file.size, file.sha256, changed))
        return committed

    def _held(self, file: Staged, *, replace_strangers: bool) -> str | None:
        """Tell the digest of the file that has the final name now; refuse to replace a stranger's."""
        path = self.place(file.name)
        mode = _mode(path)
        if mode is None:
            return None
        if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
            raise UsageError(f"{path_words(path)}: expected a file, found {_kind(mode)}; move it away")
        found = self.known.digest(file.name)
        if found == file.sha256 or file.name in self.known or replace_strangers:
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
            bring_to_disk(temporary)
            temporary.replace(self._work / _KNOWN)
            self.known.changed = False

    def drop_staged(self) -> None:
        """Remove what was staged and not committed, by this run or by one that was killed."""
        if self._writable:
            self._staging.clear()

    def remove(self, name: str) -> None:
        """Remove a known file, and the folders that it leaves empty.

        Raises:
            UsageError: on the way to it there is a file or a link where a folder belongs.

        """
        path = self.place(name)
        path.unlink(missing_ok=True)
        self.known.forget(name)
        for folder in path.parents:
            if folder == self.root:
                break
            try:
                folder.rmdir()
            except OSError:  # not empty
                break


def _mode(path: Path) -> int | None:
    """Tell what kind of thing a path is, links themselves; None where nothing is there."""
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    if stat.S_ISREG(mode):
        return "a file"
    return "a folder" if stat.S_ISDIR(mode) else "a device, pipe or socket"


def refusal(error: OSError, path: Path) -> MachineError:
    """Say what the system refused, in one line.

    Args:
        error: what was raised.
        path: the file or folder, where the error names none.

    """
    # Of a renaming the final name is the one that the user knows.
    named = error.filename2 or error.filename
    where = path_words(str(named) if named else path)
    why = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return MachineError(f"{where}: {why}; make room and run again, nothing half-written is left")
    return MachineError(f"{where}: {why}")
