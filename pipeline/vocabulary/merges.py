"""Merges: from the GGUF's "left right" texts to token ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formats.errors import shown
from formats.ps_bundle import first_repeat

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from formats.byte_strings import ByteStrings
    from formats.errors import FormatError
    from formats.layout import Place


@dataclass(frozen=True)
class Merges:
    """The merges in rank order.

    Attributes:
        texts: "left right", as the GGUF has them.
        left, right, out: token ids, shape (n_merges,), int64.

    """

    texts: ByteStrings
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    out: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.left)


def read_merges(
    texts: ByteStrings, ids: Mapping[bytes, int], n_tokens: int, element: Callable[[int], Place]
) -> Merges:
    """Look up every merge's two sides and its result.

    Args:
        texts: one merge a string: left side, a space, right side. A side may itself start with a
            space, so the cut is at the first space after the first byte.
        ids: the id of each normal token, by its text.
        n_tokens: number of ids.
        element: the place of a merge in its file, by rank.

    Raises:
        FormatError: a merge without a space, or one whose side or result is no normal token, or a
            pair that occurs twice; with its index.

    """
    sides: list[int] = []
    append = sides.append
    for rank, text in enumerate(texts):
        cut = text.find(b" ", 1)
        left, right = text[:cut], text[cut + 1 :]
        try:
            append(ids[left])
            append(ids[right])
            append(ids[left + right])
        except KeyError as error:
            raise _refusal(text, cut, error.args[0], element(rank)) from None
    columns = np.array(sides, dtype=np.int64).reshape(-1, 3)
    left_ids, right_ids, out_ids = (np.ascontiguousarray(columns[:, side]) for side in range(3))
    repeated = first_repeat(left_ids, right_ids, n_tokens)
    if repeated is not None:
        first, again = repeated
        raise element(again).error(
            "each pair once, since engines differ in which of two ranks counts",
            f"{_words(texts[again])}, which stands at [{first}] already",
        )
    return Merges(texts, left_ids, right_ids, out_ids)


def _refusal(text: bytes, cut: int, missing: bytes, place: Place) -> FormatError:
    if cut < 0:
        return place.error("two tokens parted by a space", _words(text))
    sides = {text[:cut]: "left side", text[cut + 1 :]: "right side"}
    side = sides.get(missing, "result")
    return place.error("a merge of two normal tokens to a third", f"{_words(text)}, whose {side} is none")


def _words(text: bytes) -> str:
    return shown(text.decode("utf-8", "backslashreplace"))


def reachable(merges: Merges, byte_tokens: NDArray[np.int64], n_tokens: int) -> NDArray[np.bool_]:
    """Mark the tokens that some run of merges makes out of single bytes.

    Args:
        merges: the merges.
        byte_tokens: ids of the single-byte tokens.
        n_tokens: number of ids.

    Returns:
        shape (n_tokens,). A token that is false here can never come out of text by merging.

    """
    made = np.zeros(n_tokens, dtype=np.bool_)
    made[byte_tokens] = True
    while True:
        more = made[merges.left] & made[merges.right] & ~made[merges.out]
        if not more.any():
            return made
        made[merges.out[more]] = True
