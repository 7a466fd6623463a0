"""The build record as a file of the output folder."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pipeline.runner.record import FILE_NAME, BuildRecord, read_record

if TYPE_CHECKING:
    from pipeline.runner.outputs import OutputFolder
    from pipeline.runner.staging import Staged


def load_record(folder: OutputFolder) -> BuildRecord:
    """Read a folder's build record; an empty one where there is none that can be read."""
    data = folder.read_or_none(FILE_NAME)
    record = None if data is None else read_record(data)
    if data is None or record is None:
        return BuildRecord()
    folder.known.adopt(FILE_NAME, hashlib.sha256(data).hexdigest())
    return record


def write_record(
    folder: OutputFolder, record: BuildRecord, *, replace_strangers: bool, is_last: bool = True
) -> None:
    """Write a record where it differs, and the list of known files.

    Args:
        folder: the output folder.
        record: what is in it.
        replace_strangers: replace a file of that name that this tool did not write.
        is_last: bring it to the disk before it gets its name; another record follows otherwise.

    """
    data = record.document()
    if FILE_NAME not in folder.known or not folder.holds(FILE_NAME, data):
        staged: list[Staged] = []
        with folder.stage(FILE_NAME, staged, sync=is_last) as file:
            file.write(data)
        folder.commit(staged, replace_strangers=replace_strangers)
    folder.save_known()


def orphans(folder: OutputFolder, record: BuildRecord) -> tuple[str, ...]:
    """List the files of earlier runs that no step of a record makes."""
    made = {artifact.name for artifact in record.artifacts()} | {FILE_NAME}
    return tuple(name for name in folder.known.names() if name not in made)
