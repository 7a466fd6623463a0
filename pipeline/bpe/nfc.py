"""Canonical composition (NFC) as the reference does it, linear in the length of the text.

Most text is NFC already and is only looked at. Where it may not be, a *span* is normalized by itself:
a run of characters that NFC can touch together with the one character before it, on which
they may act. Everything between spans stays as it is.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from pipeline.bpe import hangul
from pipeline.bpe.unicode_tables import nfc_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SAFE = "\u0300"
"""The lowest character that NFC can touch: U+0300 is the first mark."""


class Change(NamedTuple):
    """A part of a text that is not NFC: characters start..end of the text become `normal`."""

    start: int
    end: int
    normal: str


def nfc(text: str) -> str:
    r"""Return the canonical composition of a text.

    >>> nfc("A\u030a") == "\xc5"
    True
    """
    return applied(text, changes(text))


def applied(text: str, found: Iterable[Change]) -> str:
    """Return the text with what `changes` found in it changed."""
    parts: list[str] = []
    done = 0
    for change in found:
        parts += (text[done : change.start], change.normal)
        done = change.end
    return "".join([*parts, text[done:]]) if parts else text


def is_nfc(text: str) -> bool:
    """Whether NFC leaves a text as it is."""
    return next(changes(text), None) is None


def changes(text: str) -> Iterator[Change]:
    """Yield what NFC changes in a text, in order; nothing for a text that is NFC."""
    if text.isascii() or max(text) < _SAFE:
        return
    touchable = _touchable()
    if touchable.chars.isdisjoint(text):
        return
    for match in touchable.span.finditer(text):
        span = match.group()
        normal = _compose(_decompose(span))
        if normal != span:
            same = _common_start(span, normal)
            yield Change(match.start() + same, match.end(), normal[same:])


class _Touchable(NamedTuple):
    """What NFC can touch: as a set, and as a pattern of a run of it with the character before."""

    chars: frozenset[str]
    span: re.Pattern[str]


@cache
def _touchable() -> _Touchable:
    """Work out which characters are not plain starters that stand for themselves.

    Those are marks, the second halves of composites, and what comes apart and is not put together again.
    The standard's quick check answers Maybe or No for them, or they have a combining class.
    """
    tables = nfc_tables()
    replaced = tables.decompositions.keys() - tables.compositions.values()
    seconds = {pair[1] for pair in tables.compositions}
    jamo = {chr(code) for code in (*hangul.VOWELS, *hangul.TRAILING)}
    chars = frozenset(replaced | seconds | jamo | tables.combining_classes.keys())
    one = f"[{_class_body(chars)}]"
    return _Touchable(chars, re.compile(f"(?s:.?){one}+"))


def _class_body(chars: Iterable[str]) -> str:
    """Characters as the inside of a regular expression's `[...]`; none of them is special there."""
    runs: list[list[str]] = []
    for char in sorted(chars):
        if runs and ord(runs[-1][1]) == ord(char) - 1:
            runs[-1][1] = char
        else:
            runs.append([char, char])
    return "".join(f"{first}-{last}" for first, last in runs)


def _common_start(one: str, two: str) -> int:
    """Number of characters in which two different texts begin alike."""
    pairs = enumerate(zip(one, two, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(two)))


def _decompose(text: str) -> list[str]:
    """Return the characters of the canonical decomposition, marks in order."""
    known = nfc_tables().decompositions
    parts: list[str] = []
    for char in text:
        if ord(char) in hangul.SYLLABLES:
            parts += hangul.decompose_syllable(char)
        else:
            parts += known.get(char, char)
    return _ordered(parts)


def _ordered(chars: Iterable[str]) -> list[str]:
    """Return characters with each run of marks sorted by class, equal classes in their old order.

    A run is dealt into one pile for each class: linear, however long it is. (Sorting by exchanges
    is quadratic, and a text of marks alone is easily made.)
    """
    classes = nfc_tables().combining_classes
    ordered: list[str] = []
    run: list[str] = []
    for char in chars:
        if char in classes:
            run.append(char)
            continue
        ordered += _sorted_run(run, classes)
        ordered.append(char)
        run = []
    return ordered + _sorted_run(run, classes)


def _sorted_run(run: list[str], classes: dict[str, int]) -> list[str]:
    if all(classes[one] <= classes[two] for one, two in pairwise(run)):
        return run
    piles: dict[int, list[str]] = {}
    for mark in run:
        piles.setdefault(classes[mark], []).append(mark)
    return [mark for number in sorted(piles) for mark in piles[number]]


def _compose(chars: list[str]) -> str:
    """Return decomposed characters composed: each starter takes what can join it, in one pass."""
    tables = nfc_tables()
    classes, composites = tables.combining_classes, tables.compositions
    out: list[str] = []
    starter = -1  # index in `out` of the last starter
    last = 0  # class of what was put after it; 0 if nothing was
    for char in chars:
        number = classes.get(char, 0)
        # A mark is cut off from the starter by one of its own class or a higher one; a second
        # starter joins only directly behind the first.
        if starter >= 0 and (last < number or (last == 0 and starter == len(out) - 1)):
            joined = composites.get(out[starter] + char) or hangul.compose_pair(out[starter], char)
            if joined is not None:
                out[starter] = joined
                continue
        if number == 0:
            starter = len(out)
            last = 0
        else:
            last = number
        out.append(char)
    return "".join(out)
