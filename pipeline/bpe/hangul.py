"""Hangul syllables, which the Unicode standard decomposes and composes by arithmetic (section 3.12).

A syllable is a leading consonant L, a vowel V and perhaps a trailing consonant T.
"""

from __future__ import annotations

_S, _L, _V, _T = 0xAC00, 0x1100, 0x1161, 0x11A7
_L_COUNT, _V_COUNT, _T_COUNT = 19, 21, 28

SYLLABLES = range(_S, _S + _L_COUNT * _V_COUNT * _T_COUNT)
LEADING = range(_L, _L + _L_COUNT)
VOWELS = range(_V, _V + _V_COUNT)
TRAILING = range(_T + 1, _T + _T_COUNT)
"""U+11A7 is the place of "no trailing consonant" in the arithmetic and composes with nothing."""


def decompose_syllable(char: str) -> str:
    r"""Return the two or three jamo of a syllable.

    >>> decompose_syllable("한") == "\u1112\u1161\u11ab"
    True
    """
    index = ord(char) - _S
    lead, rest = divmod(index, _V_COUNT * _T_COUNT)
    vowel, trail = divmod(rest, _T_COUNT)
    jamo = chr(_L + lead) + chr(_V + vowel)
    return jamo + chr(_T + trail) if trail else jamo


def compose_pair(first: str, second: str) -> str | None:
    """Return the syllable that L and V make, or LV and T, else None."""
    one, two = ord(first), ord(second)
    if two in VOWELS and one in LEADING:
        return chr(_S + ((one - _L) * _V_COUNT + two - _V) * _T_COUNT)
    if two in TRAILING and one in SYLLABLES and (one - _S) % _T_COUNT == 0:
        return chr(one + two - _T)
    return None
