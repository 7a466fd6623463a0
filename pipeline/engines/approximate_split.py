"""How the engine of tokenizer.bin cuts text before it merges: an approximation of the Qwen2 rule.

The first of these that fits is a piece, from the left; letters, digits and signs are those of ASCII:

    's 't 'm 'd 're 've 'll     a contraction, its letters of either case
    [blank] letters             a word, with a blank before it or without
    digit                       a single digit
    signs                       a run of punctuation, as C's ispunct has it
    white space                 a run of it, as C's isspace has it: 20 and 09..0D
    anything else               one character of UTF-8, or a control character

The length of a character is that which its first byte states, up to the end of the text; a byte
that begins no character is a piece by itself. So letters beyond ASCII never merge with each other, and
a blank before a sign, or before a word that follows other white space, is parted from it.
"""

from __future__ import annotations

import re

_PIECE = re.compile(
    rb"'(?:[stmdSTMD]|[rR][eE]|[vV][eE]|[lL][lL])"
    rb"| ?[A-Za-z]+"
    rb"|[0-9]"
    rb"|[!-/:-@\[-`{-~]+"
    rb"|[\t-\r ]+"
    rb"|[\xc0-\xdf][\x00-\xff]?"
    rb"|[\xe0-\xef][\x00-\xff]{0,2}"
    rb"|[\xf0-\xf7][\x00-\xff]{0,3}"
    rb"|[\x00-\xff]"
)


def approximate_split(text: bytes) -> list[bytes]:
    """Cut a text into pieces; joined they are the text.

    >>> approximate_split(b"I'm (in) 2024")
    [b'I', b"'m", b' ', b'(', b'in', b')', b' ', b'2', b'0', b'2', b'4']
    """
    return _PIECE.findall(text)
