"""GGUF files put together field by field, without the project's own writer or layout."""

from dataclasses import dataclass
from itertools import starmap

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
T_F32, T_F16, T_Q8_0, T_Q2_0 = 0, 1, 8, 42
CUT = "; the file is cut short or damaged: fetch it again"


def number(value, size=8):
    return value.to_bytes(size, "little")


def text(raw, length=None):
    return number(len(raw) if length is None else length) + raw


def pair(key, kind, payload, length=None):
    return text(key, length) + number(kind, 4) + payload


def array(key, kind, count, payload=b""):
    return pair(key, ARRAY, number(kind, 4) + number(count) + payload)


def info(name, ne=(8,), kind=T_F32, offset=0, n_dims=None):
    dims = len(ne) if n_dims is None else n_dims
    return text(name) + number(dims, 4) + b"".join(map(number, ne)) + number(kind, 4) + number(offset)


ARCH = pair(b"general.architecture", STRING, text(b"qwen2"))


def model(pairs=(), infos=(), data=0, *, n_kv=None, n_tensors=None, version=3, magic=b"GGUF", pad=32):
    """Put a file together: header, the architecture and other pairs, directory, padding, zero data."""
    pairs = [ARCH, *pairs]
    head = magic + number(version, 4)
    head += number(len(infos) if n_tensors is None else n_tensors)
    head += number(len(pairs) if n_kv is None else n_kv)
    body = head + b"".join(pairs) + b"".join(infos)
    return body + bytes(-len(body) % pad) + bytes(data)


def one(ne=(8,), kind=T_F32, offset=0, data=32, name=b"a", **options):
    """Put together a file of one tensor."""
    return model([], [info(name, ne, kind, offset, **options)], data)


def two(second, data=64):
    """Put together a file of one 32-byte tensor and another."""
    return model([], [info(b"a"), second], data)


@dataclass(frozen=True)
class Accept:
    """The file is read.

    Attributes:
        tensors: name, type label, shape, offset and size of each tensor.
        warnings: the lines of warning.

    """

    tensors: tuple = ()
    warnings: tuple = ()


def accept(*tensors, warnings=()):
    return Accept(tuple(starmap(row, tensors)), warnings)


def row(name="a", label="F32", shape=(8,), offset=0, size=32):
    return name, label, shape, offset, size
