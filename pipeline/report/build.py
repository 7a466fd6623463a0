"""An output folder as its record has it, with the state of each file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from formats.errors import FormatError, shown
from pipeline.artifact_files import open_artifact
from pipeline.errors import PipelineError
from pipeline.runner.record import FILE_NAME
from pipeline.sources.errors import path_words
from pipeline.verification.folder import change_of, record_faults, record_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pipeline.artifact_files import ArtifactFile
    from pipeline.runner.record import ArtifactRecord, BuildRecord, StepRecord


@dataclass(frozen=True)
class BuiltFile:
    """A file that a build record lists.

    Attributes:
        record: what the record says of it.
        path: where it lies.
        fault: how it is not what the record says; empty where it is.
        readable: whether its bytes can be looked at.

    """

    record: ArtifactRecord
    path: Path
    fault: str
    readable: bool


@dataclass
class Build:
    """A build.

    Attributes:
        root: the output folder.
        record: its build record.
        files: by name, in the record's order.
        faults: a line for everything that is not as it should be; readers of the files add to them.

    """

    root: Path
    record: BuildRecord
    files: dict[str, BuiltFile]
    faults: list[str] = field(default_factory=list)

    def of_step(self, step: StepRecord) -> list[BuiltFile]:
        """List the files that a step made."""
        return [self.files[artifact.name] for artifact in step.artifacts]

    def of_layout(self, layout: str) -> Iterator[BuiltFile]:
        """Give the files of a layout that can be read, by the layout's name in the record."""
        for file in self.files.values():
            if file.record.layout == layout and file.readable:
                yield file

    def inside(self, fault: str) -> str:
        """Write a fault with the names that files have in the folder, so that no page says where that lies."""
        return fault.replace(f"{path_words(self.root)}/", "")

    def note(self, fault: object) -> None:
        """Note a fault, once."""
        if str(fault) not in self.faults:
            self.faults.append(str(fault))

    def open(self, file: BuiltFile) -> ArtifactFile | None:
        """Read a binary file as far as it goes and note what is wrong with it; None where it cannot be read."""
        try:
            found = open_artifact(file.path)
        except (PipelineError, OSError) as error:
            self.note(error)
            return None
        for fault in found.walk.faults:
            self.note(fault)
        return found

    def document(self, file: BuiltFile) -> dict[str, Any]:
        """Read a JSON document; what is none is noted, and empty."""
        try:
            data = file.path.read_bytes()
        except OSError as error:
            self.note(error)
            return {}
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found
        self.note(FormatError("a JSON object", shown(data), file=str(file.path)))
        return {}


def open_build(root: Path) -> Build:
    """Read a folder's record, and hold its files against it.

    Raises:
        CheckFailed: the folder holds no build.

    """
    record = record_of(root, "name the output folder of a build")
    build = Build(root, record, {}, record_faults(root / FILE_NAME, record))
    for artifact in record.artifacts():
        change = change_of(root, artifact)
        fault = "" if change is None else change.words
        build.files[artifact.name] = BuiltFile(
            artifact, root / artifact.name, fault, change is None or change.readable
        )
        if fault:
            build.note(fault)
    return build
