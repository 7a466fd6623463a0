"""From a path to bytes: rows of a table, a section of an image, a tensor's blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.errors import shown
from pipeline.errors import UsageError

if TYPE_CHECKING:
    from formats.ggml_types import GgmlType
    from formats.layout.tree import Part
    from pipeline.dump.paths import Selection
    from pipeline.firmware.slice_paths import SlicePath
    from pipeline.steps.step import Job

_BLOCKS = re.compile(r"(?P<name>.*?)(?:\[(?P<start>\d{0,20}):(?P<stop>\d{0,20})\])?", re.DOTALL)


@dataclass(frozen=True)
class Slice:
    """Bytes, and where they are from.

    Attributes:
        data: the bytes.
        file: the artifact, or the tensor's payload, that they lie in.
        offset: of the first, in that file.
        type: of a tensor's blocks; None for a part of an artifact.

    """

    data: bytes
    file: str
    offset: int
    type: GgmlType | None = None


def cut(job: Job, path: SlicePath) -> Slice:
    """Get the bytes that a path names.

    Raises:
        UsageError: it leads nowhere, or to what is no run of bytes.

    """
    return _tensor(job, path) if path.artifact is None else _part(job, path.artifact, path.inner)


def _part(job: Job, artifact: str, inner: str) -> Slice:
    from formats.catalog import FORMATS
    from formats.layout.walk import walk
    from pipeline.dump.paths import select

    data = job.read(artifact)
    layout = next(known.layout for known in FORMATS if known.layout.file_name == artifact)
    found = walk(layout, data, artifact)
    selection = select(found.root, inner, artifact)
    start, end = _bounds(selection, inner)
    return Slice(data[start:end], artifact, start)


def _bounds(selection: Selection, inner: str) -> tuple[int, int]:
    from formats.layout.tree import List

    part: Part = selection.part
    if selection.below:
        raise UsageError(
            f"path {shown(inner)}: expected whole rows, found a field of several; they are no run of bytes"
        )
    if selection.rows is None or not isinstance(part, List):
        return part.offset, part.end
    if not selection.rows:
        return part.offset, part.offset
    return part.bounds(selection.rows[0])[0], part.bounds(selection.rows[-1])[1]


def _tensor(job: Job, path: SlicePath) -> Slice:
    from pipeline.tensor_export import known_type

    match = _BLOCKS.fullmatch(path.inner)
    name = match["name"] if match else path.inner
    gguf = job.model.gguf
    tensor = next((each for each in gguf.tensors if each.name in (path.inner, name)), None)
    if tensor is None:
        from pipeline.manifest.kinds import nearest

        near = nearest(name, tuple(each.name for each in gguf.tensors))
        raise UsageError(
            f"the model has no tensor {shown(name)}" + (f"; did you mean {shown(near)}?" if near else "")
        )
    kind = known_type(tensor)
    data = gguf.data_of(tensor)
    blocks = len(data) // kind.block_bytes
    start, stop = 0, blocks
    if match and tensor.name == name and tensor.name != path.inner:
        start, stop = int(match["start"] or 0), int(match["stop"] or blocks)
    if not start <= stop <= blocks:
        raise UsageError(f"tensors/{path.inner}: expected blocks inside 0:{blocks}")
    first, last = start * kind.block_bytes, stop * kind.block_bytes
    return Slice(bytes(data[first:last]), f"tensors/{tensor.name}", first, kind)
