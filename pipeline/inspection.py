"""What a GGUF holds, as plain values: the step `inspect` writes it, the command `inspect` prints it."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.byte_strings import ByteStrings
from formats.gguf.value_types import ValueType

if TYPE_CHECKING:
    from formats.gguf.reader import GgufFile
    from formats.gguf.tensors import TensorInfo
    from formats.gguf.values import GgufValue

SHOWN_ELEMENTS = 64
"""Longer arrays are given by count and digest; the tokenizer's are exported by their own step."""


def describe_gguf(gguf: GgufFile) -> dict[str, Any]:
    """List key/values, tensors and counts of a GGUF, in the file's order."""
    return {
        "gguf_version": gguf.version,
        "file_size": gguf.size,
        "alignment": gguf.alignment,
        "data_offset": gguf.data_offset,
        "counts": count(gguf),
        "warnings": list(gguf.warnings),
        "key_values": {key: describe_value(value) for key, value in gguf.key_values.items()},
        "tensors": [describe_tensor(tensor) for tensor in gguf.tensors],
    }


def count(gguf: GgufFile) -> dict[str, Any]:
    """Count key/values, tensors, parameters, and the tensors and bytes of each type."""
    types: dict[str, dict[str, int]] = {}
    for tensor in gguf.tensors:
        entry = types.setdefault(tensor.type_label, {"tensors": 0, "bytes": 0})
        entry["tensors"] += 1
        entry["bytes"] += tensor.size or 0
    return {
        "key_values": len(gguf.key_values),
        "tensors": len(gguf.tensors),
        "parameters": sum(tensor.n_elements for tensor in gguf.tensors),
        "tensor_bytes": sum(tensor.size or 0 for tensor in gguf.tensors),
        "types": dict(sorted(types.items())),
    }


def describe_value(value: GgufValue) -> dict[str, Any]:
    """Give a value with its type; a long array as its count and the digest of its bytes."""
    found: Any = value.value
    if value.element_type is None:
        return {"type": value.type_label, "value": plain(found, value.type)}
    described = {"type": value.type_label, "count": value.count}
    if value.count > SHOWN_ELEMENTS:
        raw = found.joined() if isinstance(found, ByteStrings) else found.tobytes()
        return {**described, "sha256": hashlib.sha256(raw).hexdigest()}
    return {**described, "value": [plain(element, value.element_type) for element in found]}


def plain(value: Any, kind: ValueType) -> Any:
    """Turn a scalar into what JSON holds; numbers that JSON lacks become words, bytes stay readable."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if kind in (ValueType.FLOAT32, ValueType.FLOAT64):
        # The shortest decimal that names the same float32: 1e-06, not 9.999999974752427e-07.
        number = float(str(np.float32(value))) if kind is ValueType.FLOAT32 else float(value)
        return number if math.isfinite(number) else str(number)
    return bool(value) if kind is ValueType.BOOL else int(value)


def describe_tensor(tensor: TensorInfo) -> dict[str, Any]:
    """Give a tensor's entry; `size` is None where the type is not known."""
    return {
        "name": tensor.name,
        "type": tensor.type_label,
        "ne": list(tensor.ne),
        "shape": list(tensor.shape),
        "n_elements": tensor.n_elements,
        "offset": tensor.absolute_offset,
        "size": tensor.size,
    }
