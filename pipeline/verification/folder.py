"""Verifying an output folder against its build record, and single files against theirs."""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.errors import FormatError, shown
from pipeline.errors import CheckFailed, PipelineError
from pipeline.runner.known_files import is_inside
from pipeline.runner.record import FILE_NAME, BuildRecord, read_record
from pipeline.sources.digests import hash_file
from pipeline.sources.errors import path_words
from pipeline.sources.files import require_file, stat_or_none
from pipeline.steps.step import MODEL
from pipeline.verification.layouts import check_for, known_names

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.runner.record import ArtifactRecord


_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Verdict:
    """What verification found.

    Attributes:
        checked: names of the files that were checked.
        faults: one line for each fault.

    """

    checked: tuple[str, ...]
    faults: tuple[str, ...]


def verify_folder(root: Path) -> Verdict:
    """Check every artifact of an output folder by its digest and by its layout.

    Raises:
        CheckFailed: the folder has no build record that can be read.

    """
    record = record_of(root, "verify an output folder, or name a file")
    artifacts = list(record.artifacts())
    changed = [change_of(root, artifact) for artifact in artifacts]
    faults = record_faults(root / FILE_NAME, record)
    for artifact, change in zip(artifacts, changed, strict=True):
        path = root / artifact.name
        if change is not None:
            # A broken layout says where the fault is; the digest says that there is one at all.
            error = _layout_error(path, artifact.name) if change.readable else None
            faults.append(str(error) if error is not None and error.file == str(path) else change.words)
        elif not any(changed):
            # Layouts look at the files beside them, so they are asked only when all of those are whole.
            error = _layout_error(path, artifact.name)
            faults += [] if error is None else [str(error)]
    return Verdict(tuple(artifact.name for artifact in artifacts), tuple(faults))


def verify_file(path: Path) -> Verdict:
    """Check one file: by the record of its folder where it is in one, and by its layout.

    Raises:
        CheckFailed: nothing is known of such a file.
        ModelError: it is a folder, a pipe or a device.
        OSError: it cannot be read.

    """
    require_file(path, path.stat())
    artifact = _recorded(path)
    name = path.name if artifact is None else artifact.name
    if artifact is None and check_for(path, name) is None:
        raise CheckFailed(
            f"{path_words(path)}: nothing is known of such a file; expected one that a build record lists, a GGUF, "
            f"a Q25TOKRT image, or one of these names: {', '.join(known_names())}"
        )
    error = _layout_error(path, name)
    digest_fault = None if artifact is None else _digest_fault(path, artifact)
    fault = digest_fault if error is None else str(error)
    return Verdict((path.name,), () if fault is None else (fault,))


def record_faults(path: Path, record: BuildRecord) -> list[str]:
    """Hold what the record says of its steps' inputs against its source and its artifacts."""
    gguf = record.source.get("gguf")
    source = gguf.get("sha256") if isinstance(gguf, dict) else gguf
    known = {MODEL: f"sha256:{source}"}
    known |= {artifact.name: f"sha256:{artifact.sha256}" for artifact in record.artifacts()}
    return [
        f"{path_words(path)}: steps.{step.step}.inputs: {name}: expected {shown(known[name])}, found {shown(digest)}; "
        "run the manifest again"
        for step in record.steps.values()
        for name, digest in step.inputs.items()
        if name in known and digest != known[name]
    ]


def record_of(root: Path, hint: str) -> BuildRecord:
    """Read a folder's build record.

    Args:
        root: the folder.
        hint: what to do where it has none.

    Raises:
        CheckFailed: it has none that can be read.

    """
    path = root / FILE_NAME
    try:
        # Opening a pipe would wait for ever.
        data = path.read_bytes() if stat.S_ISREG(path.stat().st_mode) else b""
    except OSError as error:
        why = error.strerror or error
        raise CheckFailed(f"{path_words(path)}: {why}; {hint}") from error
    record = read_record(data)
    if record is None:
        raise CheckFailed(
            f"{path_words(path)}: expected a build record, found something else; run the manifest again"
        )
    return record


def _recorded(path: Path) -> ArtifactRecord | None:
    """Find a file in the build record of its folder, or of the folder above."""
    for root in list(path.absolute().parents)[:2]:
        try:
            record = record_of(root, "name an output folder")
        except CheckFailed:  # no record, or somebody else's file of that name
            continue
        name = path.absolute().relative_to(root).as_posix()
        return next((artifact for artifact in record.artifacts() if artifact.name == name), None)
    return None


@dataclass(frozen=True)
class Change:
    """How a file differs from its record, and whether its bytes can be looked at."""

    words: str
    readable: bool = False


def change_of(root: Path, artifact: ArtifactRecord) -> Change | None:
    """Tell how an artifact is not what the record says; None where it is."""
    name, record = shown(artifact.name), path_words(root / FILE_NAME)
    if not is_inside(artifact.name):
        return Change(f"{record}: expected artifacts inside the folder, found {name}")
    if not _SHA256.fullmatch(artifact.sha256):
        return Change(
            f"{record}: expected a SHA-256 of 64 hex digits for {name}, found {shown(artifact.sha256)}"
        )
    path = root / artifact.name
    try:
        status = stat_or_none(path)
        if status is None:
            return Change(f"{path_words(path)}: missing; run the manifest again")
        require_file(path, status)
        fault = _digest_fault(path, artifact)
    except PipelineError as error:
        return Change(str(error))
    return None if fault is None else Change(fault, readable=True)


def _layout_error(path: Path, name: str) -> FormatError | None:
    check = check_for(path, name)
    try:
        if check is not None:
            check(path)
    except FormatError as error:
        return error
    return None


def _digest_fault(path: Path, artifact: ArtifactRecord) -> str | None:
    size = path.stat().st_size
    if size != artifact.size:
        return f"{path_words(path)}: expected {artifact.size} bytes, found {size}; run the manifest again"
    found = hash_file(path).sha256
    if found != artifact.sha256:
        return (
            f"{path_words(path)}: expected sha256:{artifact.sha256}, found sha256:{found}; "
            "run the manifest again"
        )
    return None
