"""Writing GGUF files: the sample model and the tests' models are made with it.

The same values give the same bytes. What the reader would refuse is refused here as well, before
the first byte is written; only a tensor's data is asked for when its turn comes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from formats.byte_strings import ByteStrings
from formats.errors import FormatError, shown
from formats.gguf.keys import ALIGNMENT
from formats.gguf.layout import (
    DEFAULT_ALIGNMENT,
    HEADER,
    KEY_VALUE,
    MAX_DIMS,
    MAX_KEY_BYTES,
    SCALARS,
    TENSOR_INFO,
)
from formats.gguf.tensors import padded, shape_fault, tensor_size
from formats.gguf.value_types import INTEGERS, ValueType
from formats.layout import u64
from formats.layout.dtypes import dtype_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from formats.ggml_types import GgmlType

    Bytes = bytes | bytearray | memoryview | NDArray[Any]
    Scalar = bool | int | float | str | bytes
    Pair = tuple[str, ValueType, "Scalar | ArrayToWrite"]


@dataclass(frozen=True, slots=True)
class ArrayToWrite:
    """An array value with the type of its elements.

    Attributes:
        element_type: any type but array.
        values: numbers or bools as a list or a column of shape (n,); strings as str, as bytes
            or as `ByteStrings`.

    """

    element_type: ValueType
    values: Sequence[Scalar] | NDArray[Any] | ByteStrings


@dataclass(frozen=True, slots=True)
class TensorToWrite:
    """A tensor for the file.

    Attributes:
        name: unique, UTF-8 without NUL.
        type: the element type.
        ne: elements in each dimension, the fastest first, at most 4.
        data: the blocks, or a function that makes them when they are written.

    """

    name: str
    type: GgmlType
    ne: tuple[int, ...]
    data: Bytes | Callable[[], Bytes]


def write_gguf(
    stream: BinaryIO,
    key_values: Sequence[Pair],
    tensors: Sequence[TensorToWrite] = (),
    *,
    alignment: int = DEFAULT_ALIGNMENT,
    version: int = 3,
) -> None:
    """Write a whole file, in the given order.

    Args:
        stream: where the file goes, from its current position on.
        key_values: key, type and value of each pair; the value of an array is an `ArrayToWrite`.
        tensors: in the order of their data.
        alignment: of the data section and every tensor, a power of two in bytes. Another than 32
            is stated in the file as `general.alignment`, unless `key_values` states it already.
        version: 2 or 3.

    Raises:
        FormatError: with the key or the tensor that cannot be written.

    """
    pairs = _with_alignment(key_values, alignment)
    parts = [HEADER.build({"version": version, "n_tensors": len(tensors), "n_kv": len(pairs)})]
    seen: set[str] = set()
    for key, kind, value in pairs:
        if key in seen:
            raise FormatError("each key once", "a second one", path=f"key {shown(key)}")
        seen.add(key)
        parts.append(_pair(key, kind, value))
    parts.extend(_directory(tensors, alignment))
    metadata = b"".join(parts)
    stream.write(metadata)
    # A file without tensors ends here: there is no data section to align.
    if tensors:
        stream.write(bytes(padded(len(metadata), alignment) - len(metadata)))
    for tensor in tensors:
        blocks: Any = tensor.data() if callable(tensor.data) else tensor.data
        data = memoryview(blocks)
        size = tensor_size(tensor.type, tensor.ne)
        if data.nbytes != size:
            raise FormatError(f"{size} bytes of data", str(data.nbytes), path=f"tensor {shown(tensor.name)}")
        stream.write(data)
        stream.write(bytes(padded(size, alignment) - size))


def _with_alignment(key_values: Sequence[Pair], alignment: int) -> list[Pair]:
    """Make the key/values state the alignment where readers would not assume it."""
    if not 0 < alignment < 2**32 or alignment & (alignment - 1):
        raise FormatError("a power of two below 2^32", str(alignment), path="alignment")
    pairs = list(key_values)
    stated = [pair for pair in pairs if pair[0] == ALIGNMENT]
    pair: Pair = (ALIGNMENT, ValueType.UINT32, alignment)
    if not stated and alignment != DEFAULT_ALIGNMENT:
        pairs.append(pair)
    if stated and stated[0] != pair:
        found = f"{stated[0][1].label} {shown(stated[0][2])}"
        raise FormatError(f"u32 {alignment}, as asked for", found, path=f"key {shown(ALIGNMENT)}")
    return pairs


def _pair(key: str, kind: ValueType, value: Scalar | ArrayToWrite) -> bytes:
    path = f"key {shown(key)}"
    name = _utf8(key, path)
    if not 0 < len(name) <= MAX_KEY_BYTES:
        raise FormatError(f"a key of 1 to {MAX_KEY_BYTES} bytes", f"{len(name)} bytes", path=path)
    if isinstance(value, ArrayToWrite) != (kind is ValueType.ARRAY):
        raise FormatError(f"a value of type {kind.label}", type(value).__name__, path=path)
    if isinstance(value, ArrayToWrite) and value.element_type is ValueType.ARRAY:
        raise FormatError("an array of another type than array", "an array of arrays", path=path)
    head = {"key": {"length": len(name), "text": name}, "type": kind}
    if isinstance(value, ArrayToWrite):
        # An empty array ends with its count; elements are too many to be built one by one.
        empty = {"element_type": value.element_type, "count": 0, "elements": []}
        count, elements = _elements(value, path)
        return b"".join((KEY_VALUE.build({**head, "value": empty})[:-8], u64.build(count), elements))
    if kind is ValueType.STRING:
        text = _utf8(value, path)
        plain: Any = {"length": len(text), "text": text}
    else:
        plain = _numbers([value], kind, path, indexed=False)[0].item()
    return bytes(KEY_VALUE.build({**head, "value": plain}))


def _elements(array: ArrayToWrite, path: str) -> tuple[int, bytes]:
    """Return the number of elements and their bytes."""
    values = array.values
    if array.element_type is ValueType.STRING:
        if not isinstance(values, ByteStrings):
            values = ByteStrings.from_list(_utf8(text, f"{path}[{row}]") for row, text in enumerate(values))
        return len(values), values.framed(values.lengths.astype("<u8"))
    if isinstance(values, ByteStrings):
        raise FormatError(f"elements of type {array.element_type.label}", "strings", path=path)
    numbers = _numbers(values, array.element_type, path, indexed=True)
    return len(numbers), numbers.tobytes()


def _numbers(values: Any, kind: ValueType, path: str, *, indexed: bool) -> NDArray[Any]:
    """Convert numbers to the column of a value type; refuse what would change on the way."""
    dtype = dtype_of(SCALARS[kind])
    # Objects keep numbers that no common numpy type holds, such as -1 beside 2^63.
    column = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    rows = column.tolist()

    def refuse(row: int, expected: str) -> FormatError:
        return FormatError(expected, shown(rows[row]), path=f"{path}[{row}]" if indexed else path)

    if column.ndim != 1:
        raise FormatError(f"a row of values of type {kind.label}", f"shape {column.shape}", path=path)
    accepted = (bool,) if kind is ValueType.BOOL else (int,) if kind in INTEGERS else (int, float)
    for row, value in enumerate(rows):
        if type(value) not in accepted:
            raise refuse(row, f"a value of type {kind.label}")
    if kind in INTEGERS:
        limits = np.iinfo(dtype)
        low, high = int(limits.min), int(limits.max)
        for row, value in enumerate(rows):
            if not low <= value <= high:
                raise refuse(row, f"{low} to {high} ({kind.label})")
        return column.astype(dtype)
    with np.errstate(over="ignore"):
        packed = column.astype(dtype)
    for row in np.flatnonzero(~np.isfinite(packed)).tolist() if kind is not ValueType.BOOL else []:
        if math.isfinite(rows[row]):
            raise refuse(row, f"a value in the range of {kind.label}")
    return packed


def _directory(tensors: Sequence[TensorToWrite], alignment: int) -> list[bytes]:
    """Build the directory: every tensor starts where the padded ones before it end."""
    entries: list[bytes] = []
    seen: set[str] = set()
    offset = 0
    for tensor in tensors:
        path = f"tensor {shown(tensor.name)}"
        name = _utf8(tensor.name, path)
        if "\0" in tensor.name:
            raise FormatError("a name without NUL", shown(tensor.name), path=path)
        if tensor.name in seen:
            raise FormatError("each name once", "a second one", path=path)
        seen.add(tensor.name)
        if len(tensor.ne) > MAX_DIMS:
            raise FormatError(f"at most {MAX_DIMS} dimensions", str(len(tensor.ne)), path=path)
        bad_shape = shape_fault(tensor.type, tensor.ne)
        if bad_shape:
            raise FormatError(bad_shape.expected, bad_shape.found, path=f"{path}.{bad_shape.part}")
        entry = {
            "name": {"length": len(name), "text": name},
            "n_dims": len(tensor.ne),
            "ne": tensor.ne,
            "type": tensor.type,
            "offset": offset,
        }
        entries.append(TENSOR_INFO.build(entry))
        offset += padded(tensor_size(tensor.type, tensor.ne), alignment)
    return entries


def _utf8(text: object, path: str) -> bytes:
    """Encode a text; bytes are taken as they are."""
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise FormatError("a string", type(text).__name__, path=path)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError("text that UTF-8 can hold", shown(text), path=path) from None
