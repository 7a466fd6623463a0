"""Verifying an output folder against its build record, and single files against theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.errors import FormatError
from pipeline.errors import CheckFailed, PipelineError
from pipeline.runner.known_files import is_inside
from pipeline.runner.record import FILE_NAME, BuildRecord, read_record
from pipeline.sources.digests import hash_file
from pipeline.sources.errors import path_words
from pipeline.verification.layouts import check_for, known_names

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.runner.record import ArtifactRecord


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
    """Check every artifact of an output folder: digest, then layout.

    Raises:
        CheckFailed: the folder has no build record that can be read.

    """
    record = _record(root)
    checked, faults = [], []
    for artifact in record.artifacts():
        checked.append(artifact.name)
        fault = _fault(root, artifact)
        if fault:
            faults.append(fault)
    return Verdict(tuple(checked), tuple(faults))


def verify_file(path: Path) -> Verdict:
    """Check one file: by the record of its folder where it is in one, and by its layout.

    Raises:
        CheckFailed: nothing is known of such a file.
        OSError: it cannot be read.

    """
    artifact = _recorded(path)
    check = check_for(path)
    if artifact is None and check is None:
        raise CheckFailed(
            f"{path_words(path)}: nothing is known of such a file; expected one that a build record lists, a GGUF, "
            f"a Q25TOKRT image, or one of these names: {', '.join(known_names())}"
        )
    fault = _layout_fault(path) or (_digest_fault(path, artifact) if artifact is not None else None)
    return Verdict((path.name,), () if fault is None else (fault,))


def _record(root: Path) -> BuildRecord:
    path = root / FILE_NAME
    try:
        data = path.read_bytes()
    except OSError as error:
        why = error.strerror or error
        raise CheckFailed(f"{path_words(path)}: {why}; verify an output folder, or name a file") from error
    record = read_record(data)
    if record is None:
        raise CheckFailed(
            f"{path_words(path)}: expected a build record, found something else; run the manifest again"
        )
    return record


def _recorded(path: Path) -> ArtifactRecord | None:
    """Find a file in the build record of its folder, or of the folder above."""
    for root in list(path.absolute().parents)[:2]:
        if (root / FILE_NAME).is_file():
            name = path.absolute().relative_to(root).as_posix()
            return next((a for a in _record(root).artifacts() if a.name == name), None)
    return None


def _fault(root: Path, artifact: ArtifactRecord) -> str | None:
    if not is_inside(artifact.name):
        return (
            f"{path_words(root / FILE_NAME)}: expected artifacts inside the folder, found {artifact.name!r}"
        )
    path = root / artifact.name
    try:
        if not path.exists():
            return f"{path_words(path)}: missing; run the manifest again"
        # A broken layout says where the fault is; the digest then says that there is one at all.
        return _layout_fault(path) or _digest_fault(path, artifact)
    except PipelineError as error:
        return str(error)
    except OSError as error:
        return f"{path_words(path)}: {error.strerror or error}"


def _layout_fault(path: Path) -> str | None:
    check = check_for(path)
    try:
        if check is not None:
            check(path)
    except FormatError as error:
        return str(error)
    return None


def _digest_fault(path: Path, artifact: ArtifactRecord) -> str | None:
    size = path.stat().st_size
    if size != artifact.size:
        return f"{path_words(path)}: expected {artifact.size} bytes, found {size}; run the manifest again"
    found = hash_file(path).sha256
    if found != artifact.sha256:
        return f"{path_words(path)}: expected sha256:{artifact.sha256}, found sha256:{found}; run the manifest again"
    return None
