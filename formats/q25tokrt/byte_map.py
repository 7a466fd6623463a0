"""The byte-token map: for each byte value the token that is exactly that byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formats.q25tokrt.layout import NONE
from formats.token_types import TokenType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formats.byte_strings import ByteStrings


def build(tokens: ByteStrings, types: NDArray[np.uint16]) -> NDArray[np.uint32]:
    """Find the single-byte tokens among the normal ones; the lowest id serves a byte.

    Args:
        tokens: the tokens' bytes in id order.
        types: token types of shape (n_tokens,).

    Returns:
        shape (256,), little-endian uint32; 0xFFFFFFFF where the vocabulary has no such token.

    """
    ids = np.flatnonzero((tokens.lengths == 1) & (types == TokenType.NORMAL))
    values, firsts = np.unique(tokens.data[tokens.starts[ids]], return_index=True)
    table = np.full(256, NONE, dtype="<u4")
    table[values] = ids[firsts]
    return table
