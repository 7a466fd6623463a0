"""What a tensor's blocks stand for, as numbers to hold an implementation in hardware against.

The numbers are those of the `gguf` package, which llama.cpp's authors keep, in single precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formats.ggml_types import GgmlType

if TYPE_CHECKING:
    from numpy.typing import NDArray

SUFFIX = ".truth.dat"
TYPES = (
    *(GgmlType.F32, GgmlType.F16, GgmlType.BF16),
    *(GgmlType.Q4_0, GgmlType.Q4_1, GgmlType.Q5_0, GgmlType.Q5_1, GgmlType.Q8_0),
    *(GgmlType.Q2_K, GgmlType.Q3_K, GgmlType.Q4_K, GgmlType.Q5_K, GgmlType.Q6_K),
)
"""Types of which the tolerance below is known."""

TOLERANCE = 2.0**-23
"""How far another implementation in single precision may be off, as a share of the value.

Of these types every product of scale and quant is exact in single precision but for Q6_K, and at most one
operation of a value rounds: to half of 2^-23 of it. Two implementations are apart by that much twice.
"""


def dequantise(kind: GgmlType, data: bytes) -> NDArray[np.float32]:
    """Turn blocks into numbers.

    Args:
        kind: one of `TYPES`.
        data: whole blocks.

    Returns:
        float32 of shape (elements,), in the order of the blocks.

    """
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize

    blocks = np.frombuffer(data, dtype=np.uint8)
    if kind in (GgmlType.F32, GgmlType.F16):
        return blocks.view("<f4" if kind is GgmlType.F32 else "<f2").astype(np.float32)
    found: NDArray[np.float32] = dequantize(blocks, GGMLQuantizationType(int(kind)))
    return found.reshape(-1)


def truth_file(values: NDArray[np.float32]) -> bytes:
    """Write the numbers, one a line, with as many digits as tell each number of single precision apart."""
    return "".join(f"{value:.9g}\n" for value in values.tolist()).encode("ascii")
