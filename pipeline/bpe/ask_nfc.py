"""What the reference's normalizer does to single characters and to pairs of them.

`tokenizers` normalizes with tables far older than the classes of its regular expressions. They are
found by running its NFD and NFC; nothing here comes from this machine's `unicodedata`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.bpe.ask_classes import DerivationError, newest_known, scalars
from pipeline.bpe.hangul import SYLLABLES, decompose_syllable

if TYPE_CHECKING:
    from collections.abc import Callable

MARKS_BY_CLASS = {
    1: 0x334, 7: 0x93C, 8: 0x3099, 9: 0x94D, 10: 0x5B0, 11: 0x5B1, 12: 0x5B2, 13: 0x5B3, 14: 0x5B4,
    15: 0x5B5, 16: 0x5B6, 17: 0x5B7, 18: 0x5B8, 19: 0x5B9, 20: 0x5BB, 21: 0x5BC, 22: 0x5BD, 23: 0x5BF,
    24: 0x5C1, 25: 0x5C2, 26: 0xFB1E, 27: 0x64B, 28: 0x64C, 29: 0x64D, 30: 0x64E, 31: 0x64F, 32: 0x650,
    33: 0x651, 34: 0x652, 35: 0x670, 36: 0x711, 84: 0xC55, 91: 0xC56, 103: 0xE38, 107: 0xE48, 118: 0xEB8,
    122: 0xEC8, 129: 0xF71, 130: 0xF72, 132: 0xF74, 202: 0x321, 214: 0x1DCE, 216: 0x31B, 218: 0x302A,
    220: 0x316, 222: 0x59A, 224: 0x302E, 226: 0x1D16D, 228: 0x5AE, 230: 0x300, 232: 0x315, 233: 0x35C,
    234: 0x35D, 240: 0x345,
}  # fmt: skip
"""One mark of every combining class in use. The reference sorts marks but does not tell their
classes; a mark's class is that of the one it sorts beside."""

MARKS_BY_AGE = {
    (8, 0, 0): (0x8E3, 0xA69E, 0x1172B),
    (9, 0, 0): (0x8D4, 0x1DFB, 0x11442, 0x11C3F, 0x1E000, 0x1E944),
    (10, 0, 0): (0xD3B, 0x1CF7, 0x1DF6, 0x1DF9, 0x11A34, 0x11D42),
    (11, 0, 0): (0x7FD, 0x8D3, 0x9FE, 0x1133B, 0x11839),
    (12, 0, 0): (0xEBA, 0x119E0, 0x1E130),
    (13, 0, 0): (0x1AC0, 0x1193D, 0x16FF0),
}
"""Some marks with a combining class, by the Unicode version that assigned them; the newest that are
reordered date the tables.

The outcome for `tokenizers` 0.23.3 is Unicode 9.0.0; its normalizer is the Rust crate
`unicode-normalization-alignments` 0.1.12, whose ancestor `unicode-normalization` 0.1.7 states that
version. Checked once against the PyPI packages `unicodedata2` and `unicodedataplus` (which tells ages),
both of Unicode 16.0.0: classes and decompositions are equal for all that is in the tables, none of
which is younger than 9.0.0; the 120 marks and 21 decompositions not in them are all younger.
"""

_BARRIER = "\x01"
"""A starter that neither composes nor decomposes: it parts the questions put in one string."""

_BLOCK = 0x1000


class Normalizer:
    """The reference's NFD and NFC, many short texts at a time."""

    def __init__(self) -> None:
        from tokenizers import normalizers

        self._nfd = normalizers.NFD()
        self._nfc = normalizers.NFC()

    def nfd(self, texts: list[str]) -> list[str]:
        """Return the canonical decomposition of each text; none may hold U+0001."""
        return self._each(self._nfd.normalize_str, texts)

    def nfc(self, texts: list[str]) -> list[str]:
        """Return the canonical composition of each text; none may hold U+0001."""
        return self._each(self._nfc.normalize_str, texts)

    @staticmethod
    def _each(normalize: Callable[[str], str], texts: list[str]) -> list[str]:
        answers: list[str] = []
        for start in range(0, len(texts), _BLOCK):
            answers += normalize(_BARRIER.join(texts[start : start + _BLOCK])).split(_BARRIER)
        if len(answers) != len(texts):
            raise DerivationError(f"{len(texts)} texts to normalize gave {len(answers)} answers")
        return answers


def decompositions(reference: Normalizer) -> dict[str, str]:
    """Return the full canonical decomposition of every character that has one, Hangul aside.

    Raises:
        DerivationError: the Hangul syllables do not follow the arithmetic of the standard.

    """
    chars = [char for char in scalars() if char != _BARRIER]
    found = {char: parts for char, parts in zip(chars, reference.nfd(chars), strict=True) if parts != char}
    for code in SYLLABLES:
        parts = found.pop(chr(code), "")
        if parts != decompose_syllable(chr(code)):
            raise DerivationError(f"U+{code:04X} does not decompose by the Hangul arithmetic")
    return found


def combining_classes(reference: Normalizer, decomposed: dict[str, str]) -> dict[str, int]:
    """Return the combining class of every mark that is left after decomposition.

    Between U+0345 (class 240, the highest) and U+0334 (1, the lowest) nothing moves past a starter, and
    something always moves where a mark stands. Its class is found by sorting it among
    `MARKS_BY_CLASS`, each given before it and again behind it: the sort is stable, so it comes to
    lie between the two marks of its own class.

    Raises:
        DerivationError: the marks do not sort as their classes say, or a mark has another class.

    """
    chars = [char for char in scalars() if char != _BARRIER and char not in decomposed]
    chars = [char for char in chars if ord(char) not in SYLLABLES]
    tries = [f"\u0345{char}\u0334" for char in chars]
    marks = [tried[1] for tried, answer in zip(tries, reference.nfd(tries), strict=True) if answer != tried]

    ruler = "".join(map(chr, MARKS_BY_CLASS.values()))
    if reference.nfd([ruler[::-1]]) != [ruler]:
        raise DerivationError("the marks of known class do not sort in the order of their classes")
    numbers = list(MARKS_BY_CLASS)
    found: dict[str, int] = {}
    for mark, answer in zip(marks, reference.nfd([ruler + mark + ruler for mark in marks]), strict=True):
        place = next(
            (at for at, known in enumerate(ruler) if answer[2 * at : 2 * at + 3] == known + mark + known),
            None,
        )
        if place is None:
            raise DerivationError(f"U+{ord(mark):04X} has none of the known combining classes")
        found[mark] = numbers[place]
    return found


def compositions(reference: Normalizer, decomposed: dict[str, str]) -> dict[str, str]:
    """Return the primary composite of every pair that NFC composes, Hangul aside.

    A composite's last part is the second of its pair; the first is what NFC makes of the rest.
    """
    whole = [char for char, parts in decomposed.items() if len(parts) > 1]
    firsts = reference.nfc([decomposed[char][:-1] for char in whole])
    pairs = [first + decomposed[char][-1] for char, first in zip(whole, firsts, strict=True)]
    answers = reference.nfc(pairs)
    found = {
        pair: char
        for char, pair, answer in zip(whole, pairs, answers, strict=True)
        if len(pair) == 2 and answer == char
    }
    return dict(sorted(found.items()))


def nfc_version(classes: dict[str, int]) -> tuple[int, int, int]:
    """Return the Unicode version that these combining classes are of."""
    return newest_known(set(classes), MARKS_BY_AGE)
