"""The byte alphabet of GPT-2: 256 characters that stand for the 256 byte values in token texts.

The 188 printable bytes 21..7E, A1..AC and AE..FF stand for themselves (as Latin-1); the other 68, in
ascending order, are written U+0100..U+0143. The position of a byte in that order is its *index*; in
Qwen's vocabulary it is also the id of the byte's own token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]

BYTE_AT_INDEX: Sequence[int] = (*_PRINTABLE, *_OTHERS)
"""The byte at each index of the alphabet."""

INDEX_OF_BYTE: Sequence[int] = tuple(BYTE_AT_INDEX.index(byte) for byte in range(256))
"""The index of each byte: what tokenizer.bin stores as `byte_unicode_map`."""

GLYPHS: str = "".join(
    chr(byte) if index < len(_PRINTABLE) else chr(0x100 + index - len(_PRINTABLE))
    for byte, index in enumerate(INDEX_OF_BYTE)
)
"""The character of each byte: `GLYPHS[0x20]` is U+0120."""

BYTE_OF_GLYPH: dict[str, int] = {glyph: byte for byte, glyph in enumerate(GLYPHS)}
"""The byte of each character: the alphabet read backwards."""


def encode(data: bytes) -> str:
    r"""Write bytes as byte-level text.

    >>> encode(b" hi\n")
    'ĠhiĊ'
    """
    return "".join(GLYPHS[byte] for byte in data)


def decode(text: str) -> bytes:
    """Read byte-level text back to bytes.

    Raises:
        KeyError: a character that is not in the alphabet.

    >>> decode("ÃŃ").hex()
    'c3ad'

    """
    return bytes(BYTE_OF_GLYPH[glyph] for glyph in text)
