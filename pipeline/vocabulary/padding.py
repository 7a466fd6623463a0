"""Padding: the run of `[PADn]` tokens that fills a vocabulary up to the rows of the embedding.

llama.cpp's converter names a pad by its id (`[PAD151665]`), Ollama's counts from 0 (`[PAD0]`). Their
type differs between versions, so a pad is known by the run of such names at the end.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from formats.token_types import TokenType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from formats.byte_strings import ByteStrings

_PAD = re.compile(rb"\[PAD(0|[1-9][0-9]{0,9})\]")  # an id is a u32: ten digits
PAD_TYPES = (TokenType.CONTROL, TokenType.USER_DEFINED, TokenType.UNUSED)


def first_pad(texts: ByteStrings, types: NDArray[np.int32]) -> int:
    """Find where padding starts.

    Args:
        texts: UTF-8 texts of all tokens, in id order.
        types: token types of shape (n_tokens,).

    Returns:
        the first padded id, or n_tokens where nothing is padded.

    """
    n_tokens = len(texts)

    def number(token_id: int) -> int | None:
        match = _PAD.fullmatch(texts[token_id]) if types[token_id] in PAD_TYPES else None
        return None if match is None else int(match[1])

    last = number(n_tokens - 1) if n_tokens else None
    if last is None:
        return n_tokens
    zero = n_tokens - 1 - last  # the id that the number 0 stands for
    first = n_tokens
    while first > 0 and number(first - 1) == first - 1 - zero:
        first -= 1
    return first if zero in (0, first) else n_tokens
