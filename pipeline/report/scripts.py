"""The script that a token is written in.

Code points are given to scripts by ranges of this module, which follow Unicode's blocks, so that a page is
the same whatever Unicode version Python has; what a letter, a number or a blank is, the pinned class tables say.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache

from pipeline.bpe.unicode_tables import Ranges, class_tables

PART_OF_A_CHARACTER = "part of a character"
SEVERAL = "several scripts"
OTHER_LETTERS = "other letters"
NUMBERS = "numbers"
BLANKS = "white space"
SIGNS = "punctuation and symbols"

_RANGES: dict[str, Ranges] = {
    "Latin": (
        (0x41, 0x5A), (0x61, 0x7A), (0xAA, 0xAA), (0xBA, 0xBA), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2AF),
        (0x1D00, 0x1D25), (0x1D2C, 0x1D5C), (0x1D62, 0x1D65), (0x1D6B, 0x1D77), (0x1D79, 0x1DBE),
        (0x1E00, 0x1EFF), (0x2071, 0x2071), (0x207F, 0x207F), (0x2090, 0x209C), (0x212A, 0x212B),
        (0x2184, 0x2184), (0x2C60, 0x2C7F), (0xA722, 0xA787), (0xA78B, 0xA7FF),
        (0xAB30, 0xAB5A), (0xAB5C, 0xAB64), (0xAB66, 0xAB68),
        (0xFB00, 0xFB06), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A),
    ),
    "Greek": (
        (0x370, 0x373), (0x376, 0x37D), (0x37F, 0x37F), (0x386, 0x386), (0x388, 0x3E1), (0x3F0, 0x3FF),
        (0x1D26, 0x1D2A), (0x1D66, 0x1D6A), (0x1F00, 0x1FFF), (0xAB65, 0xAB65),
    ),
    "Cyrillic": ((0x400, 0x52F), (0x1C80, 0x1C8A), (0x1D2B, 0x1D2B), (0x2DE0, 0x2DFF), (0xA640, 0xA69F)),
    "Armenian": ((0x531, 0x556), (0x559, 0x58A), (0xFB13, 0xFB17)),
    "Hebrew": ((0x591, 0x5F4), (0xFB1D, 0xFB4F)),
    "Arabic": (
        (0x610, 0x61A), (0x620, 0x63F), (0x641, 0x6FF), (0x750, 0x77F), (0x870, 0x8FF), (0xFB50, 0xFDFF),
        (0xFE70, 0xFEFC),
    ),
    "Devanagari": ((0x900, 0x963), (0x966, 0x97F), (0xA8E0, 0xA8FF)),
    "Bengali": ((0x980, 0x9FE),),
    "Gurmukhi": ((0xA01, 0xA76),),
    "Gujarati": ((0xA81, 0xAFF),),
    "Oriya": ((0xB01, 0xB77),),
    "Tamil": ((0xB82, 0xBFA),),
    "Telugu": ((0xC00, 0xC7F),),
    "Kannada": ((0xC80, 0xCF3),),
    "Malayalam": ((0xD00, 0xD7F),),
    "Sinhala": ((0xD81, 0xDF4),),
    "Thai": ((0xE01, 0xE3A), (0xE40, 0xE5B)),
    "Lao": ((0xE81, 0xEDF),),
    "Tibetan": ((0xF00, 0xFDA),),
    "Myanmar": ((0x1000, 0x109F), (0xA9E0, 0xA9FE), (0xAA60, 0xAA7F)),
    "Georgian": ((0x10A0, 0x10FA), (0x10FC, 0x10FF), (0x1C90, 0x1CBF), (0x2D00, 0x2D2D)),
    "Hangul": ((0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xAC00, 0xD7FB), (0xFFA0, 0xFFDC)),
    "Ethiopic": ((0x1200, 0x139F), (0x2D80, 0x2DDE), (0xAB01, 0xAB2E)),
    "Khmer": ((0x1780, 0x17F9),),
    "Mongolian": ((0x1810, 0x18AA),),
    "Hiragana": ((0x3041, 0x3096), (0x309D, 0x309F)),
    "Katakana": ((0x30A1, 0x30FA), (0x30FD, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF6F), (0xFF71, 0xFF9D)),
    "Bopomofo": ((0x3105, 0x312F), (0x31A0, 0x31BF)),
    "Han": (
        (0x2E80, 0x2FD5), (0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029), (0x3400, 0x4DBF),
        (0x4E00, 0x9FFF), (0xF900, 0xFAD9), (0x20000, 0x323AF),
    ),
}  # fmt: skip
_FLAT = sorted((first, last, script) for script, ranges in _RANGES.items() for first, last in ranges)
_FIRSTS = [first for first, _, _ in _FLAT]


@cache
def script_of(char: str) -> str:
    """Name the script of a character; empty for one that belongs to none, as a blank or a digit.

    >>> script_of("q"), script_of("文"), script_of("7")
    ('Latin', 'Han', '')
    """
    code = ord(char)
    at = bisect_right(_FIRSTS, code) - 1
    if at >= 0 and code <= _FLAT[at][1]:
        return _FLAT[at][2]
    return OTHER_LETTERS if _within(class_tables().letters, code) else ""


def kind_of(token: bytes) -> str:
    r"""Name the script of a token, or what it is that has none.

    >>> kind_of(" für".encode()), kind_of(b"42"), kind_of(b"\xe6"), kind_of("aя".encode())
    ('Latin', 'numbers', 'part of a character', 'several scripts')
    """
    try:
        text = token.decode("utf-8")
    except UnicodeDecodeError:
        return PART_OF_A_CHARACTER
    scripts = {script_of(char) for char in text} - {""}
    if scripts:
        return scripts.pop() if len(scripts) == 1 else SEVERAL
    tables = class_tables()
    if any(_within(tables.numbers, ord(char)) for char in text):
        return NUMBERS
    return BLANKS if all(_within(tables.white_space, ord(char)) for char in text) else SIGNS


def _within(ranges: Ranges, code: int) -> bool:
    at = bisect_right(ranges, (code, 0x110000)) - 1
    return at >= 0 and code <= ranges[at][1]
