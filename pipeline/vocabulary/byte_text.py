"""Byte-level texts to the bytes they stand for, all tokens at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formats.byte_level import BYTE_OF_GLYPH
from formats.byte_strings import ByteStrings
from formats.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from formats.errors import FormatError
    from formats.layout import Place

_NONE = -1
_BYTE_OF_CODE = np.full(0x10000, _NONE, dtype=np.int16)
for _glyph, _byte in BYTE_OF_GLYPH.items():
    _BYTE_OF_CODE[ord(_glyph)] = _byte


def decode_texts(
    texts: ByteStrings, encoded: NDArray[np.bool_], element: Callable[[int], Place]
) -> ByteStrings:
    """Decode the byte-level texts among the tokens' texts; the others are bytes already.

    All byte-level texts are decoded as one: in UTF-16 each glyph is one code, and so one byte.

    Args:
        texts: UTF-8 texts of all tokens, in id order.
        encoded: shape (n_tokens,): true for byte-level texts.
        element: the place of a text in its file, by id.

    Raises:
        FormatError: a byte-level text with a character that is not in the alphabet.

    """
    ids = np.flatnonzero(encoded)
    glyphs, plain = texts.take(ids), texts.take(np.flatnonzero(~encoded))
    joined, offsets = glyphs.joined(), glyphs.offsets()
    begins = np.frombuffer(joined, dtype=np.uint8) & 0xC0 != 0x80  # true where a character begins
    try:
        codes = np.frombuffer(joined.decode().encode("utf-16-le"), dtype="<u2")
    except UnicodeDecodeError:
        raise _first_refusal(glyphs, ids, element) from None
    values = _BYTE_OF_CODE[codes]
    # Two texts that are no UTF-8 by themselves may be when joined.
    torn = not begins[offsets[:-1][glyphs.lengths > 0]].all()
    if torn or (values == _NONE).any():
        raise _first_refusal(glyphs, ids, element)

    bounds = np.zeros(len(joined) + 1, dtype=np.int64)
    np.cumsum(begins, out=bounds[1:])
    bounds = bounds[offsets]
    lengths = np.empty(len(texts), dtype=np.int64)
    lengths[ids] = np.diff(bounds)
    lengths[~encoded] = plain.lengths
    starts = np.empty(len(texts), dtype=np.int64)
    starts[ids] = bounds[:-1]
    starts[~encoded] = bounds[-1] + plain.offsets()[:-1]
    data = values.astype(np.uint8).tobytes() + plain.joined()
    return ByteStrings(np.frombuffer(data, dtype=np.uint8), starts, lengths)


def _first_refusal(
    glyphs: ByteStrings, ids: NDArray[np.int64], element: Callable[[int], Place]
) -> FormatError:
    """Find the first byte-level text that cannot be decoded."""
    for token_id, raw in zip(ids.tolist(), glyphs, strict=True):
        try:
            strange = any(char not in BYTE_OF_GLYPH for char in raw.decode())
        except UnicodeDecodeError:
            strange = True
        if strange:
            return _refusal(raw, element(token_id))
    raise AssertionError("every text is in order")


def _refusal(raw: bytes, place: Place) -> FormatError:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return place.error("text in UTF-8", shown(raw))
    stranger = next(char for char in text if char not in BYTE_OF_GLYPH)
    return place.error(
        "characters of the byte alphabet, as normal tokens of byte-level BPE have",
        f"U+{ord(stranger):04X} in {shown(text)}",
    )
