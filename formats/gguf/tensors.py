"""Tensors as the directory describes them, and what their names, shapes and places must satisfy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from formats.ggml_types import GgmlType, known_type, type_label

MAX_ELEMENTS = 2**63 - 1
LLAMA_CPP_NAME_BYTES = 63
"""llama.cpp refuses longer tensor names; Ollama and others read them."""


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """An entry of the tensor directory, checked.

    Attributes:
        name: as in the file; any text without NUL, also empty. It never decides a path.
        type_id: the element type's id; see `type` and `type_label`.
        ne: elements in each dimension, the fastest first; empty for a single element.
        offset: first byte, from the start of the data section.
        absolute_offset: first byte, from the start of the file.
        entry_offset: where the directory entry starts, from the start of the file.

    """

    name: str
    type_id: int
    ne: tuple[int, ...]
    offset: int
    absolute_offset: int
    entry_offset: int

    @property
    def type(self) -> GgmlType | None:
        """The element type, or None where its id is unknown or removed."""
        return known_type(self.type_id)

    @property
    def type_label(self) -> str:
        """The element type's name, or `unknown type 99`."""
        return type_label(self.type_id)

    @property
    def shape(self) -> tuple[int, ...]:
        """The row-major shape, as numpy and PyTorch state it: `ne` reversed."""
        return self.ne[::-1]

    @property
    def n_elements(self) -> int:
        """Number of elements; 1 without dimensions, 0 where a dimension is 0."""
        return math.prod(self.ne)

    @property
    def size(self) -> int | None:
        """Bytes of the tensor without padding, or None where the type is not known."""
        return None if self.type is None else tensor_size(self.type, self.ne)


class Fault(NamedTuple):
    """What is wrong with one part of a tensor.

    Attributes:
        part: the part, as `ne[0]`.
        skip: bytes from the first dimension to the part, in the directory entry.
        expected, found: words for the message.

    """

    part: str
    skip: int
    expected: str
    found: str


def tensor_size(kind: GgmlType, ne: tuple[int, ...]) -> int:
    """Bytes of a tensor of whole blocks, without padding."""
    return math.prod(ne) // kind.block_elements * kind.block_bytes


def padded(size: int, alignment: int) -> int:
    """Round up to a multiple of the alignment, a power of two."""
    return (size + alignment - 1) & -alignment


def shape_fault(type_id: int, ne: tuple[int, ...]) -> Fault | None:
    """Say what is wrong with a shape of at most 4 dimensions, or None.

    The number of elements must stay below 2^63, and a row must hold whole blocks. A tensor without
    dimensions is one row of one element.
    """
    for index, count in enumerate(ne):
        if count > MAX_ELEMENTS:
            return Fault(f"ne[{index}]", 8 * index, "a dimension below 2^63", str(count))
    if math.prod(ne) > MAX_ELEMENTS:
        product = " x ".join(map(str, ne))
        return Fault("ne", 0, "fewer than 2^63 elements", f"{product} = {math.prod(ne)}")
    kind = known_type(type_id)
    row = ne[0] if ne else 1
    if kind is not None and row % kind.block_elements:
        expected = f"rows of whole blocks, {kind.block_elements} elements each in {kind.name}"
        return Fault("ne[0]" if ne else "ne", 0, expected, f"a row of {row}")
    return None
