"""The pinned Unicode data as plain Python data.

Two sets, of two Unicode versions, because the reference tokenizer has two: its regular
expressions bring the character classes, its normalizer brings the NFC data. The encoder uses them,
and tables for other languages can be generated from them: every field is a sorted tuple or a
dict in ascending order.

The version numbers go into the header of a runtime image, as u32: major << 16 | minor << 8 | patch.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from pipeline.bpe import class_data, nfc_data
from pipeline.bpe.class_data import CLASS_TABLES_VERSION
from pipeline.bpe.nfc_data import NFC_TABLES_VERSION

__all__ = [
    "CLASS_TABLES_VERSION",
    "NFC_TABLES_VERSION",
    "ClassTables",
    "NfcTables",
    "Ranges",
    "class_tables",
    "nfc_tables",
    "version_text",
]

Ranges = tuple[tuple[int, int], ...]
"""Code points as ascending (first, last) pairs, both inclusive, that neither overlap nor touch."""


class ClassTables(NamedTuple):
    r"""Which code points are what to the reference's regular expressions.

    Fields:
        letters: `\p{L}`.
        numbers: `\p{N}`.
        white_space: `\s`.
        contraction_letters: character -> the ASCII letter it equals under `(?i:...)`, for the
            letters that the contractions of the Qwen2 rule are made of (U+017F is an `s`).
    """

    letters: Ranges
    numbers: Ranges
    white_space: Ranges
    contraction_letters: dict[str, str]


class NfcTables(NamedTuple):
    """What NFC needs; Hangul syllables are not in it, they are composed by arithmetic.

    Fields:
        decompositions: character -> its full canonical decomposition, 1 to 4 characters.
        combining_classes: character -> canonical combining class 1..254, for every character that
            is left after decomposition and has a class other than 0.
        compositions: two characters -> the primary composite of the two.
    """

    decompositions: dict[str, str]
    combining_classes: dict[str, int]
    compositions: dict[str, str]


def version_text(version: int) -> str:
    """Write a packed version.

    >>> version_text(0x100000)
    '16.0.0'
    """
    return f"{version >> 16}.{version >> 8 & 0xFF}.{version & 0xFF}"


@cache
def class_tables() -> ClassTables:
    """Unpack the character classes (once)."""
    folds = (word.split("=") for word in class_data.CONTRACTION_LETTERS.split())
    return ClassTables(
        letters=_ranges(class_data.LETTERS),
        numbers=_ranges(class_data.NUMBERS),
        white_space=_ranges(class_data.WHITE_SPACE),
        contraction_letters={_text(code): letter for code, letter in folds},
    )


@cache
def nfc_tables() -> NfcTables:
    """Unpack the NFC data (once)."""
    decompositions = (word.split("=") for word in nfc_data.DECOMPOSITIONS.split())
    classes = (word.split(":") for word in nfc_data.COMBINING_CLASSES.split())
    compositions = (word.split("=") for word in nfc_data.COMPOSITIONS.split())
    return NfcTables(
        decompositions={_text(code): _text(parts) for code, parts in decompositions},
        combining_classes={
            chr(code): int(number)
            for span, number in classes
            for first, last in _ranges(span)
            for code in range(first, last + 1)
        },
        compositions={_text(pair): _text(code) for pair, code in compositions},
    )


def _text(codes: str) -> str:
    """Characters of hexadecimal code points joined by dots."""
    return "".join([chr(int(code, 16)) for code in codes.split(".")])


def _ranges(words: str) -> Ranges:
    """Ranges written as `41-5A AA`, in hexadecimal."""
    pairs = (word.partition("-") for word in words.split())
    return tuple((int(first, 16), int(last or first, 16)) for first, _, last in pairs)
