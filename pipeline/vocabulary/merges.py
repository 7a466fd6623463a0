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

_NO_SEPARATORS = bytes(byte for byte in range(256) if byte not in b" \n")


@dataclass(frozen=True)
class Merges:
    """The merges in rank order.

    Attributes:
        lines: "left right" as the GGUF has them, a line each; the rank is the line's number from 0.
        left, right, out: token ids, shape (n_merges,), int64.

    """

    lines: bytes
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
        texts: one merge a string: left side, a blank, right side.
        ids: the id of each normal token, by its text.
        n_tokens: number of ids.
        element: the place of a merge in its file, by rank.

    Raises:
        FormatError: a merge without a blank, or one whose side or result is no normal token, or a
            pair that occurs twice; with its index.

    """
    # Sides are byte-level texts, which hold neither blanks nor line feeds: one call parts them all.
    lines = as_lines(texts)
    if lines.translate(None, _NO_SEPARATORS) != b" \n" * len(texts):
        raise _first_refusal(texts, ids, element)
    sides = lines.replace(b" ", b"\n").split(b"\n")[:-1]
    lefts, rights = sides[::2], sides[1::2]
    outs = lines.replace(b" ", b"").split(b"\n")[:-1]
    found = [list(map(ids.get, column)) for column in (lefts, rights, outs)]
    if any(None in column for column in found):
        raise _first_refusal(texts, ids, element)
    left_ids, right_ids, out_ids = (np.array(column, dtype=np.int64) for column in found)
    repeated = first_repeat(left_ids, right_ids, n_tokens)
    if repeated is not None:
        first, again = repeated
        raise element(again).error(
            "each pair once, since engines differ in which of two ranks counts",
            f"{_words(texts[again])}, which stands at [{first}] already",
        )
    return Merges(lines, left_ids, right_ids, out_ids)


def as_lines(texts: ByteStrings) -> bytes:
    """Write one merge a line, as the GGUF has it; the rank is the line's number from 0."""
    return texts.framed(np.full((len(texts), 1), ord("\n"), dtype=np.uint8))[1:] + b"\n"


def _first_refusal(
    merges: ByteStrings, ids: Mapping[bytes, int], element: Callable[[int], Place]
) -> FormatError:
    """Find the first merge that is not one of two normal tokens to a third."""
    for rank, text in enumerate(merges):
        left, blank, right = text.partition(b" ")
        if not blank:
            return element(rank).error("two tokens parted by a blank", _words(text))
        sides = {"left side": left, "right side": right, "result": left + right}
        wrong = next((side for side, token in sides.items() if token not in ids), None)
        if wrong is not None:
            return element(rank).error(
                "a merge of two normal tokens to a third", f"{_words(text)}, whose {wrong} is none"
            )
    raise AssertionError("every merge is in order")


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
