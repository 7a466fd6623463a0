"""A file, or every file below a folder: what a step reads that no step makes and no model holds."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.errors import UsageError
from pipeline.sources.errors import path_words
from pipeline.sources.files import failure, require_file, stat_or_none

if TYPE_CHECKING:
    from pipeline.sources.digests import DigestCache


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file of a tree.

    Attributes:
        name: below the folder, parted by `/`; of a single file its own name.
        path: where it lies.

    """

    name: str
    path: Path


def files_of(root: Path) -> list[TreeFile]:
    """List a tree's regular files, in the order of their names' bytes.

    Left out are files and folders whose name begins with a dot, links to folders, and links that
    lead nowhere. Names that are not UTF-8 keep their bytes as Python spells them.

    Raises:
        UsageError: there is nothing at the path.
        StoreError: it is neither a file nor a folder, or a file below it is a device or a pipe.
        StoreUnreadable: the system refuses.

    """
    status = stat_or_none(root)
    if status is None:
        raise UsageError(f"{path_words(root)}: there is no such file or folder")
    if not stat.S_ISDIR(status.st_mode):
        require_file(root, status)
        return [TreeFile(root.name, root)]
    found = []
    for folder, folders, names in os.walk(root, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(folder, name)
            below = None if name.startswith(".") else stat_or_none(path)
            if below is not None:
                require_file(path, below)
                found.append(TreeFile(path.relative_to(root).as_posix(), path))
    return sorted(found, key=lambda file: os.fsencode(file.name))


def tree_sha256(root: Path, digests: DigestCache) -> str:
    """Tell a tree's digest: of a file that of its bytes, of a folder that of its files' names and digests.

    Raises:
        PipelineError: as `files_of`, and where a file cannot be read.

    """
    files = files_of(root)
    if len(files) == 1 and files[0].path == root:
        return digests.sha256(root).sha256
    listed = hashlib.sha256()
    for file in files:
        listed.update(os.fsencode(file.name) + b"\0" + digests.sha256(file.path).sha256.encode() + b"\n")
    return listed.hexdigest()


def _refuse(error: OSError) -> None:
    raise failure(Path(error.filename), error) from error
