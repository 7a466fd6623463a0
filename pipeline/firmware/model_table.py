"""A model's dimensions and tensors as firmware reads them: a binary table, C, and packed payloads."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from formats import model_table
from formats.errors import shown
from formats.gguf import keys
from formats.gguf.kinds import STR
from formats.gguf.tensors import padded
from formats.gguf.value_types import INTEGERS, ValueType
from formats.model_table import Container, Tensor
from pipeline.errors import ModelError
from pipeline.hashing import TwoBuffers
from pipeline.tensor_export import CHUNK, choose_tensors, known_type, tensor_chunks
from pipeline.tensor_names import EMBEDDING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from formats.gguf.reader import GgufFile
    from formats.gguf.tensors import TensorInfo
    from pipeline.steps.step import Job, Sink

KEYS = {
    "block_count": "block_count",
    "context_length": "context_length",
    "embedding_length": "embedding_length",
    "feed_forward_length": "feed_forward_length",
    "head_count": "attention.head_count",
    "head_count_kv": "attention.head_count_kv",
    "key_length": "attention.key_length",
    "value_length": "attention.value_length",
    "rope_dimension_count": "rope.dimension_count",
    "expert_count": "expert_count",
    "expert_used_count": "expert_used_count",
    "rope_freq_base": "rope.freq_base",
    "rms_norm_epsilon": "attention.layer_norm_rms_epsilon",
}
"""The field of the table, and the key of the GGUF behind the architecture's name."""

_FLOATS = ("rope_freq_base", "rms_norm_epsilon")
_FLOAT_TYPES = (ValueType.FLOAT32, ValueType.FLOAT64)


def read_hyperparameters(gguf: GgufFile) -> tuple[dict[str, Any], list[str]]:
    """Read the dimensions that a GGUF states.

    Returns:
        a value for each field of `formats.model_table.HYPERPARAMETERS`, 0 where the GGUF states
        none; and a line for each value that is no single number.

    """
    architecture = gguf.get(keys.ARCHITECTURE, STR) or ""
    values: dict[str, Any] = {"architecture": architecture}
    warnings = []
    for field, key in KEYS.items():
        found = gguf.key_values.get(f"{architecture}.{key}")
        wanted = _FLOAT_TYPES if field in _FLOATS else INTEGERS
        values[field] = 0
        if found is not None and found.type in wanted:
            values[field] = found.value
        elif found is not None:
            warnings.append(
                f"{shown(f'{architecture}.{key}')} is {found.type_label}, not one number; 0 in the table"
            )
    embedding = next((tensor for tensor in gguf.tensors if tensor.name == EMBEDDING), None)
    values["embedding_rows"] = embedding.ne[1] if embedding is not None and len(embedding.ne) > 1 else 0
    return values, warnings


def table_of_gguf(job: Job) -> bytes:
    """Make a table whose offsets count in the GGUF."""
    gguf = job.model.gguf
    chosen = choose_tensors(job)
    sums = _sums(job, chosen, None, 1)
    rows = [_row(tensor, tensor.absolute_offset, crc) for tensor, crc in zip(chosen, sums, strict=True)]
    # A writer may align less than the file says it does; each offset is a multiple of what all share.
    return _build(job, rows, Container.GGUF, gguf.size, gguf.alignment)


def table_of_pack(job: Job) -> bytes:
    """Write the pack, the chosen tensors one behind the other, and make its table."""
    align = job.parameters["align"]
    chosen = sorted(choose_tensors(job), key=lambda tensor: tensor.absolute_offset)
    rows, at = [], 0
    with job.create(model_table.PACK_FILE) as sink:
        for tensor, crc in zip(chosen, _sums(job, chosen, sink, align), strict=True):
            rows.append(_row(tensor, at, crc))
            at = padded(at + (tensor.size or 0), align)
    return _build(job, rows, Container.PACK, at, align)


def _sums(job: Job, chosen: list[TensorInfo], sink: Sink | None, align: int) -> Iterator[int]:
    """Give each tensor's CRC-32; write its bytes, padded, where there is a sink for them."""
    buffers = TwoBuffers(CHUNK)
    total, done = sum(tensor.size or 0 for tensor in chosen), 0
    fill = bytes([job.parameters["fill"]])
    with job.model.source.path.open("rb", buffering=0) as blob:
        for tensor in chosen:
            known_type(tensor)
            crc = 0
            for chunk in tensor_chunks(blob, tensor, buffers):
                crc = zlib.crc32(chunk, crc)
                if sink is not None:
                    sink.write(chunk)
                done += len(chunk)
                job.progress(done, total)
            size = tensor.size or 0
            if sink is not None:
                sink.write(fill * (padded(size, align) - size))
            yield crc


def _row(tensor: TensorInfo, offset: int, crc: int) -> Tensor:
    if len(tensor.name.encode()) >= model_table.NAME_BYTES:
        raise ModelError(
            f"tensor {shown(tensor.name)}: expected a name of at most {model_table.NAME_BYTES - 1} bytes, found "
            f"{len(tensor.name.encode())}; leave the tensor out with `exclude`"
        )
    return Tensor(tensor.name, known_type(tensor), tensor.ne, offset, tensor.size or 0, crc)


def _build(job: Job, rows: list[Tensor], container: Container, size: int, align: int) -> bytes:
    values, warnings = read_hyperparameters(job.model.gguf)
    for line in warnings:
        job.warn(line)
    return model_table.build(
        values,
        rows,
        container=container,
        container_bytes=size,
        align=align,
        source_sha256=job.model.source.sha256,
    )
