"""The special-token index: the added tokens that may start at a byte, longest first.

32 bytes of bitmap tell whether any added token starts with a byte; the ids follow, sorted by first
byte, then by descending length, then by id, so that the first match in a run is the longest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from formats.errors import FormatError
from formats.token_types import TokenType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formats.byte_strings import ByteStrings

BITMAP_BYTES = 32

ADDED_TYPES = (TokenType.UNKNOWN, TokenType.CONTROL, TokenType.USER_DEFINED)
"""Types that are matched in text as a whole."""


def added_ids(types: NDArray[Any], first_pad_id: int) -> NDArray[np.int64]:
    """List the ids of added tokens, ascending; padding is none of them, whatever its type.

    Args:
        types: token types of shape (n_tokens,).
        first_pad_id: ids from here on are padding.

    """
    ids: NDArray[np.int64] = np.flatnonzero(
        np.isin(types[:first_pad_id], [int(kind) for kind in ADDED_TYPES])
    )
    return ids


def build(tokens: ByteStrings, types: NDArray[np.uint16], first_pad_id: int) -> bytes:
    """Pack the index.

    Args:
        tokens: the tokens' bytes in id order.
        types: token types of shape (n_tokens,).
        first_pad_id: where padding starts.

    Raises:
        FormatError: an added token without bytes; it could not be found by its first byte.

    """
    ids = added_ids(types, first_pad_id)
    lengths = tokens.lengths[ids]
    if len(ids) and not lengths.all():
        raise FormatError(
            "added tokens of at least one byte",
            f"token {int(ids[np.argmin(lengths)])} without any",
            path="special_token_index",
        )
    firsts = tokens.data[tokens.starts[ids]]
    order = np.lexsort((ids, -lengths, firsts))
    bitmap = np.zeros(256, dtype=np.uint8)
    bitmap[firsts] = 1
    return np.packbits(bitmap, bitorder="little").tobytes() + ids[order].astype("<u4").tobytes()
