"""model_table.bin: a model's hyperparameters and where each tensor lies, for firmware without a JSON parser.

A header, then a record of 128 bytes for each tensor, in the order of their offsets. Offsets count from
the start of the container: the GGUF itself, or `tensors.pack`, where each tensor starts on a multiple
of `align`. Every structure has the alignment that C gives it, so firmware reads the table in place.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import construct

from formats.errors import FormatError, shown
from formats.ggml_types import GgmlType
from formats.layout import (
    BytesToEnd,
    Counted,
    Field,
    FileLayout,
    Place,
    Record,
    between,
    exactly,
    f32,
    magic,
    power_of_two,
    reserved,
    u16,
    u32,
    u64,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FILE_NAME = "model_table.bin"
PACK_FILE = "tensors.pack"
MAGIC = b"Q25MODEL"
MAJOR = 1
MINOR = 0
NAME_BYTES = 64
MAX_DIMS = 4
ARCHITECTURE_BYTES = 32
REBUILD = "build the table again"


class Container(IntEnum):
    """What a table's offsets count in."""

    GGUF = 0
    PACK = 1


_TYPES = {int(known): known for known in GgmlType}
_NOT_STATED = "0: the model does not state one number for it"

HYPERPARAMETERS = Record(
    "model_table_hyperparameters",
    f"The model's dimensions as its GGUF states them. {_NOT_STATED}.",
    Field(
        "architecture", construct.Bytes(ARCHITECTURE_BYTES), "general.architecture, NUL-padded", form="text"
    ),
    Field("block_count", u32, "transformer blocks"),
    Field("context_length", u32, "longest text the model was trained on", unit="tokens"),
    Field("embedding_length", u32, "elements of a token's vector"),
    Field("feed_forward_length", u32, "elements of the feed-forward layer"),
    Field("head_count", u32, "attention heads"),
    Field("head_count_kv", u32, "attention heads of keys and values"),
    Field("key_length", u32, "elements of a key of one head"),
    Field("value_length", u32, "elements of a value of one head"),
    Field("rope_dimension_count", u32, "elements of a head that are rotated"),
    Field("embedding_rows", u32, "rows of token_embd.weight", unit="tokens"),
    Field("expert_count", u32, "experts of a mixture"),
    Field("expert_used_count", u32, "experts that a token passes"),
    Field("rope_freq_base", f32, "base of the rotary frequencies"),
    Field("rms_norm_epsilon", f32, "added under the root of a norm"),
)

HEADER = Record(
    "model_table_header",
    "The start of the table.",
    magic("magic", MAGIC, "the format's name"),
    Field("major", u16, "a reader refuses another major version", rule=exactly(MAJOR)),
    Field("minor", u16, "a higher minor version adds what older readers may skip"),
    Field("header_bytes", u32, "size of this header; the tensors follow", unit="bytes", rule=exactly(192)),
    Field("total_bytes", u32, "size of the table", unit="bytes"),
    Field("n_tensors", u32, "tensors in the table"),
    Field("tensor_bytes", u32, "size of a tensor's record", unit="bytes", rule=exactly(128)),
    Field("container", u32, "what offsets count in", names=Container),
    Field("container_bytes", u64, "size of the container", unit="bytes"),
    Field(
        "align",
        u32,
        "every tensor's offset is a multiple of it",
        unit="bytes",
        rule=power_of_two(1, 1 << 31),
    ),
    reserved("reserved", 4),
    Field("source_sha256", construct.Bytes(32), "SHA-256 of the GGUF"),
    Field("hyperparameters", HYPERPARAMETERS, "the model's dimensions"),
    reserved("reserved_end", 20),
    Field("crc32", u32, "CRC-32 (zlib) of the bytes before it followed by all tensors' records", form="hex"),
)

TENSOR = Record(
    "model_table_tensor",
    "One tensor.",
    Field(
        "name", construct.Bytes(NAME_BYTES), "its name in the GGUF, NUL-padded, at most 63 bytes", form="text"
    ),
    Field("type", u32, "element type", names=GgmlType),
    Field("n_dims", u32, "dimensions that the GGUF states", rule=between(0, MAX_DIMS)),
    Field("ne", Counted(MAX_DIMS, u64), "elements in each dimension, the fastest first; 1 beyond n_dims"),
    Field("offset", u64, "of its first byte, from the start of the container", unit="bytes", form="hex"),
    Field("size", u64, "of its blocks, without padding", unit="bytes"),
    Field("crc32", u32, "CRC-32 (zlib) of its blocks", form="hex"),
    reserved("reserved", 4),
)

MODEL_TABLE = FileLayout(
    "model_table",
    "A model's hyperparameters and tensors for firmware.",
    Field("header", HEADER, "hyperparameters, and what the offsets count in"),
    Field("tensors", Counted("header.n_tensors", TENSOR), "the tensors in the order of their offsets"),
    file_name=FILE_NAME,
    signature=MAGIC,
)

TENSOR_PACK = FileLayout(
    "tensor_pack",
    "Tensors' bytes, each on a multiple of the table's align, with fill between; the table says which and where.",
    Field("blocks", BytesToEnd(), "the tensors' blocks"),
    file_name=PACK_FILE,
)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A row of the table.

    Attributes:
        name: as in the GGUF, at most 63 bytes of UTF-8.
        type: element type.
        ne: elements in each dimension, the fastest first; at most four.
        offset, size: in bytes, from the start of the container.
        crc32: of the blocks.

    """

    name: str
    type: GgmlType
    ne: tuple[int, ...]
    offset: int
    size: int
    crc32: int

    def fields(self) -> dict[str, Any]:
        """Give the record's fields."""
        return {
            "name": self.name.encode().ljust(NAME_BYTES, b"\0"),
            "type": int(self.type),
            "n_dims": len(self.ne),
            "ne": [*self.ne, *[1] * (MAX_DIMS - len(self.ne))],
            "offset": self.offset,
            "size": self.size,
            "crc32": self.crc32,
        }


@dataclass(frozen=True)
class ModelTable:
    """A table that was read: its header by attribute, and its tensors."""

    header: construct.Container
    tensors: tuple[Tensor, ...]


def build(
    hyperparameters: Mapping[str, Any],
    tensors: Iterable[Tensor],
    *,
    container: Container,
    container_bytes: int,
    align: int,
    source_sha256: str,
) -> bytes:
    """Pack a table.

    Args:
        hyperparameters: a value for every field of `HYPERPARAMETERS`, the architecture as text.
        tensors: in any order.
        container, container_bytes: what the offsets count in, and its size.
        align: that of every offset.
        source_sha256: of the GGUF, 64 hex digits.

    Raises:
        FormatError: a value that its field cannot hold, two tensors that overlap, one outside.

    """
    rows = sorted(tensors, key=lambda tensor: (tensor.offset, tensor.size, tensor.name))
    for index, tensor in enumerate(rows):
        if len(tensor.name.encode()) >= NAME_BYTES:
            expected = f"a name of at most {NAME_BYTES - 1} bytes"
            raise FormatError(expected, shown(tensor.name), path=f"tensors[{index}].name", file=FILE_NAME)
    records = b"".join(TENSOR.build(tensor.fields()) for tensor in rows)
    architecture = str(hyperparameters["architecture"]).encode()[: ARCHITECTURE_BYTES - 1]
    head = HEADER.build(
        {
            "minor": MINOR,
            "total_bytes": HEADER.size + len(records),
            "n_tensors": len(rows),
            "container": int(container),
            "container_bytes": container_bytes,
            "align": align,
            "source_sha256": bytes.fromhex(source_sha256),
            "hyperparameters": {
                **hyperparameters,
                "architecture": architecture.ljust(ARCHITECTURE_BYTES, b"\0"),
            },
            "crc32": 0,
        }
    )
    at = HEADER.offset_of("crc32")
    data: bytes = head[:at] + u32.build(zlib.crc32(records, zlib.crc32(head[:at]))) + records
    read(data, FILE_NAME)
    return data


def read(data: bytes, file: str = "") -> ModelTable:
    """Read a table and check everything that it says.

    Raises:
        FormatError: what is wrong, with path and offset.

    """
    header = HEADER.read(data, 0, file, "header")
    place = Place(file, "header")
    total = HEADER.size + header.n_tensors * TENSOR.size
    if total != len(data):
        raise HEADER.member(place, "n_tensors").error(
            f"{(len(data) - HEADER.size) // TENSOR.size} or a table of {total} bytes",
            f"{header.n_tensors} in {len(data)} bytes",
            REBUILD,
        )
    if header.total_bytes != total:
        raise HEADER.member(place, "total_bytes").error(str(total), str(header.total_bytes), REBUILD)
    at = HEADER.offset_of("crc32")
    crc = zlib.crc32(data[HEADER.size :], zlib.crc32(data[:at]))
    if crc != header.crc32:
        raise HEADER.member(place, "crc32").error(f"0x{crc:08X}", f"0x{header.crc32:08X}", REBUILD)
    tensors: list[Tensor] = []
    end = 0
    for index in range(header.n_tensors):
        offset = HEADER.size + index * TENSOR.size
        path = f"tensors[{index}]"
        tensor = _tensor(TENSOR.read(data, offset, file, path), Place(file, path, offset))
        _check_place(tensor, end, header, Place(file, path, offset))
        end = tensor.offset + tensor.size
        tensors.append(tensor)
    return ModelTable(header, tuple(tensors))


def _tensor(row: construct.Container, place: Place) -> Tensor:
    """Check a record by itself."""
    padded = bytes(row.name)
    name = padded.rstrip(b"\0")
    if len(name) == NAME_BYTES or b"\0" in name:
        raise TENSOR.member(place, "name").error("at most 63 bytes, then NULs", shown(padded))
    if any(count != 1 for count in row.ne[row.n_dims :]):
        raise TENSOR.member(place, "ne").error(f"1 beyond the {row.n_dims} dimensions", shown(list(row.ne)))
    kind = _TYPES[row.type]
    size = math.prod(row.ne) // kind.block_elements * kind.block_bytes
    if row.ne[0] % kind.block_elements or row.size != size:
        expected = f"{size}, the blocks of {kind.name} that ne asks for"
        raise TENSOR.member(place, "size").error(expected, str(row.size))
    ne = tuple(row.ne[: row.n_dims])
    try:
        text = name.decode()
    except UnicodeDecodeError:
        raise TENSOR.member(place, "name").error("UTF-8", shown(name)) from None
    return Tensor(text, kind, ne, row.offset, row.size, row.crc32)


def _check_place(tensor: Tensor, end: int, header: construct.Container, place: Place) -> None:
    """Check where a tensor lies, behind those before it, which end at `end`."""
    at = TENSOR.member(place, "offset")
    found = f"0x{tensor.offset:X} ({tensor.offset})"
    if tensor.offset % header.align:
        raise at.error(f"a multiple of align {header.align}", found)
    if tensor.offset < end:
        raise at.error(f"at least 0x{end:X} ({end}), the end of the tensor before it", found)
    if tensor.offset + tensor.size > header.container_bytes:
        expected = f"an end inside the container of {header.container_bytes} bytes"
        raise at.error(expected, f"{found} and {tensor.size} bytes")
