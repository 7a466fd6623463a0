"""The types of GGUF values, named as in the `gguf` package (a test holds the two together)."""

from __future__ import annotations

from enum import IntEnum


class ValueType(IntEnum):
    """The type of a value, or of an array's elements, as it stands in the file."""

    UINT8 = 0
    INT8 = 1
    UINT16 = 2
    INT16 = 3
    UINT32 = 4
    INT32 = 5
    FLOAT32 = 6
    BOOL = 7
    STRING = 8
    ARRAY = 9
    UINT64 = 10
    INT64 = 11
    FLOAT64 = 12

    @property
    def label(self) -> str:
        """The short name used in messages and in JSON: `u32`, `f64`, `string`."""
        return _LABELS[self]


_LABELS = {
    ValueType.UINT8: "u8",
    ValueType.INT8: "i8",
    ValueType.UINT16: "u16",
    ValueType.INT16: "i16",
    ValueType.UINT32: "u32",
    ValueType.INT32: "i32",
    ValueType.FLOAT32: "f32",
    ValueType.BOOL: "bool",
    ValueType.STRING: "string",
    ValueType.ARRAY: "array",
    ValueType.UINT64: "u64",
    ValueType.INT64: "i64",
    ValueType.FLOAT64: "f64",
}

INTEGERS = frozenset(
    {
        ValueType.UINT8,
        ValueType.INT8,
        ValueType.UINT16,
        ValueType.INT16,
        ValueType.UINT32,
        ValueType.INT32,
        ValueType.UINT64,
        ValueType.INT64,
    }
)
"""Types that hold whole numbers; a bool is none of them."""
