"""The construct declaration as a second reader: slow, plain, and made of nothing the fast one uses."""

import numpy as np

from formats.byte_strings import ByteStrings
from formats.gguf import ValueType
from formats.gguf.layout import METADATA


def plain(value):
    """Turn a value of the reader into lists, numbers and bytes."""
    if isinstance(value, ByteStrings):
        return list(value)
    return value.tolist() if isinstance(value, np.ndarray) else value


def declared(kind, value):
    """Turn a value that construct parsed into the same."""
    if kind == ValueType.ARRAY:
        return [declared(value.element_type, element) for element in value.elements]
    if kind == ValueType.STRING:
        return value.text
    return bool(value) if kind == ValueType.BOOL else value


def same(one, other):
    """Compare values; NaN equals NaN, and 1 is not True."""
    return repr(one) == repr(other)


def assert_agrees(data, opened):
    """Hold an opened file to what the declaration makes of its bytes."""
    parsed = METADATA.parse(data)
    assert opened.version == parsed.version
    assert len(opened.key_values) == len(parsed.key_values) == parsed.n_kv
    for (key, value), pair in zip(opened.key_values.items(), parsed.key_values, strict=True):
        assert key.encode() == pair.key.text
        assert value.type == pair.type
        assert value.element_type == (pair.value.element_type if pair.type == ValueType.ARRAY else None)
        assert value.count == (pair.value.count if pair.type == ValueType.ARRAY else 1)
        assert same(plain(value.value), declared(pair.type, pair.value))
    assert len(opened.tensors) == len(parsed.tensors) == parsed.n_tensors
    for tensor, entry in zip(opened.tensors, parsed.tensors, strict=True):
        assert tensor.name.encode() == entry.name.text
        assert tensor.ne == tuple(entry.ne)
        assert (tensor.type_id, tensor.offset) == (entry.type, entry.offset)
