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
_BYTE_OF_CODE = np.full(0x800, _NONE, dtype=np.int16)
for _glyph, _byte in BYTE_OF_GLYPH.items():
    _BYTE_OF_CODE[ord(_glyph)] = _byte


def decode_texts(
    texts: ByteStrings, encoded: NDArray[np.bool_], element: Callable[[int], Place]
) -> ByteStrings:
    """Decode the byte-level texts among the tokens' texts; the others are bytes already.

    Every glyph of the alphabet takes one or two bytes of UTF-8, so the whole vocabulary is decoded
    with a handful of array operations.

    Args:
        texts: UTF-8 texts of all tokens, in id order.
        encoded: shape (n_tokens,): true for byte-level texts.
        element: the place of a text in its file, by id.

    Raises:
        FormatError: a byte-level text with a character that is not in the alphabet.

    """
    source = np.frombuffer(texts.joined(), dtype=np.uint8)
    offsets = texts.offsets()
    in_encoded = np.repeat(encoded, texts.lengths)
    is_tail = in_encoded & (source & 0xC0 == 0x80)
    is_lead = in_encoded & (source & 0xE0 == 0xC0)

    # A lead byte must be followed by a tail byte in the same token, a tail byte must follow a lead.
    follows_lead = np.zeros(len(source), dtype=np.bool_)
    follows_lead[1:] = is_lead[:-1]
    starts = offsets[:-1][texts.lengths > 0]
    follows_lead[starts] = False
    needs_tail = np.zeros(len(source), dtype=np.bool_)
    needs_tail[:-1] = is_lead[:-1] & ~is_tail[1:]
    ends = offsets[1:][texts.lengths > 0] - 1
    needs_tail[ends] |= is_lead[ends]
    torn = needs_tail | (is_tail & ~follows_lead)

    next_byte = np.zeros(len(source), dtype=np.uint16)
    next_byte[:-1] = source[1:]
    wide = ((source & 0x1F).astype(np.uint16) << 6) | (next_byte & 0x3F)
    codes = np.where(is_lead, wide, source)
    # What is neither ASCII nor a pair begins a longer character, and a pair for ASCII is no UTF-8.
    strange = in_encoded & ~is_tail & (is_lead != (codes >= 0x80))
    values = np.where(in_encoded, _BYTE_OF_CODE[codes], source)
    values[is_tail] = 0
    wrong = torn | strange | (values == _NONE)
    if wrong.any():
        token_id = int(np.searchsorted(offsets, np.argmax(wrong), side="right")) - 1
        raise _refusal(texts[token_id], element(token_id))

    kept = ~is_tail
    bounds = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))[offsets]
    return ByteStrings(values[kept].astype(np.uint8), bounds[:-1], np.diff(bounds))


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
