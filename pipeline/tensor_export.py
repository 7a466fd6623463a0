"""Copying tensors out of a GGUF: hashed and written in one pass, in constant memory."""

from __future__ import annotations

import re
from fnmatch import translate
from typing import TYPE_CHECKING, Any

from formats.errors import shown
from pipeline.errors import ModelError
from pipeline.hashing import OverlappedSha256, TwoBuffers
from pipeline.safe_names import safe_names
from pipeline.tensor_names import EMBEDDING, OUTPUT
from pipeline.text_output import json_document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO

    from formats.ggml_types import GgmlType
    from formats.gguf.tensors import TensorInfo
    from pipeline.steps.step import Job

MANIFEST = "tensor_payload_export_manifest.json"
CHUNK = 1 << 20


def export_tensors(job: Job) -> None:
    """Do the work of the step `tensors`.

    Raises:
        ModelError: a tensor of unknown type, whose size is not known either; or a file that ends
            before its last tensor does.

    """
    tensors = job.model.gguf.tensors
    chosen = choose_tensors(job)
    files = safe_names(tensor.name for tensor in tensors)
    copy = job.parameters["mode"] == "copy"
    total = sum(tensor.size or 0 for tensor in chosen)
    done = 0
    entries = []
    buffers = TwoBuffers(CHUNK)
    with job.model.source.path.open("rb", buffering=0) as blob:
        for tensor in chosen:
            kind = known_type(tensor)
            chunks = _reported(tensor_chunks(blob, tensor, buffers), job, done, total)
            file = f"tensors/{files[tensor.name]}.bin" if copy else None
            if file is None:
                digest = OverlappedSha256()
                for chunk in chunks:
                    digest.update(chunk)
                sha256 = digest.hexdigest()
            else:
                with job.create(file) as sink:
                    for chunk in chunks:
                        sink.write(chunk)
                sha256 = sink.sha256
            entries.append(_entry(tensor, kind, sha256, file))
            done += tensor.size or 0
    job.write(MANIFEST, json_document(_document(job, entries)))
    indexed = "" if copy else "; indexed, not copied"
    job.say(f"{len(entries)} of {len(tensors)} tensors, {total:,} bytes{indexed}")


def choose_tensors(job: Job) -> list[TensorInfo]:
    """Apply the step's globs; one that matches nothing is probably misspelled, so it is named."""
    tensors = job.model.gguf.tensors
    patterns = {
        glob: re.compile(translate(glob)) for key in ("include", "exclude") for glob in job.parameters[key]
    }
    for glob, pattern in patterns.items():
        if not any(pattern.match(tensor.name) for tensor in tensors):
            job.warn(f"{shown(glob)} matches none of the {len(tensors)} tensors")

    def any_of(key: str, name: str) -> bool:
        return any(patterns[glob].match(name) for glob in job.parameters[key])

    return [
        tensor for tensor in tensors if any_of("include", tensor.name) and not any_of("exclude", tensor.name)
    ]


def known_type(tensor: TensorInfo) -> GgmlType:
    """Give a tensor's type; refuse a tensor of a type whose size is not known (ModelError)."""
    if tensor.type is None:
        raise ModelError(
            f"tensor {shown(tensor.name)}: expected a type of known size, found {tensor.type_label}; "
            "leave the tensor out with `exclude`"
        )
    return tensor.type


def tensor_chunks(blob: FileIO, tensor: TensorInfo, buffers: TwoBuffers) -> Iterator[memoryview]:
    """Read a tensor's bytes piece by piece; a piece is gone when the next but one is asked for.

    The file is read, not mapped: were it cut short meanwhile, a mapping would end the process.
    """
    left = tensor.size or 0
    blob.seek(tensor.absolute_offset)
    while left:
        buffer = buffers.take()
        count = blob.readinto(buffer[: min(left, len(buffer))])
        if not count:
            raise ModelError(
                f"tensor {shown(tensor.name)}: expected {tensor.size} bytes at offset {tensor.absolute_offset}, "
                f"found {left} of them missing; the file was cut short while it was read"
            )
        yield buffer[:count]
        left -= count


def _reported(chunks: Iterator[memoryview], job: Job, done: int, total: int) -> Iterator[memoryview]:
    """Pass pieces on and tell how far they are, from `done` bytes on."""
    for chunk in chunks:
        yield chunk
        done += len(chunk)
        job.progress(done, total)


def _entry(tensor: TensorInfo, kind: GgmlType, sha256: str, file: str | None) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "type": kind.name,
        "type_id": int(kind),
        "block_elements": kind.block_elements,
        "block_bytes": kind.block_bytes,
        "ne": list(tensor.ne),
        "shape": list(tensor.shape),
        "n_elements": tensor.n_elements,
        "offset": tensor.absolute_offset,
        "size": tensor.size,
        "sha256": sha256,
        "file": file,
    }


def _document(job: Job, entries: list[dict[str, Any]]) -> dict[str, Any]:
    gguf = job.model.gguf
    names = {tensor.name for tensor in gguf.tensors}
    return {
        "source": f"sha256:{job.model.source.sha256}",
        "alignment": gguf.alignment,
        "data_offset": gguf.data_offset,
        "mode": job.parameters["mode"],
        "include": list(job.parameters["include"]),
        "exclude": list(job.parameters["exclude"]),
        # Without a tensor of its own the output projection uses the embedding; nothing is duplicated.
        "tied": {OUTPUT: EMBEDDING} if EMBEDDING in names and OUTPUT not in names else {},
        "total_bytes": sum(entry["size"] for entry in entries),
        "tensors": entries,
    }
