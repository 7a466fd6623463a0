"""The numpy dtype of a declared layout."""

from __future__ import annotations

from typing import Any

import construct
import numpy as np

from formats.layout.numbers import number_kind


def dtype_of(layout: construct.Construct) -> np.dtype[Any]:
    """Derive the numpy dtype of a layout of fixed size: little-endian, packed.

    Raises:
        TypeError: for a layout that numpy cannot hold (its size depends on the data).

    """
    if isinstance(layout, construct.Renamed):
        return dtype_of(layout.subcon)
    if isinstance(layout, construct.Struct):
        offsets, offset = [], 0
        for field in layout.subcons:
            offsets.append(offset)
            offset += field.sizeof()
        return np.dtype(
            {
                "names": [field.name for field in layout.subcons],
                "formats": [dtype_of(field) for field in layout.subcons],
                "offsets": offsets,
                "itemsize": offset,
            }
        )
    if isinstance(layout, construct.FormatField):
        return np.dtype(f"<{number_kind(layout)}{layout.length}")
    if isinstance(layout, construct.Array) and isinstance(layout.count, int):
        return np.dtype((dtype_of(layout.subcon), (layout.count,)))
    if isinstance(layout, construct.Bytes) and isinstance(layout.length, int):
        return np.dtype((np.uint8, (layout.length,)))
    raise TypeError(f"{layout!r} has no fixed size")
