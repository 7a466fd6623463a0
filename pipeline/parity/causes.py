"""Why a tokenizer differs from the reference: classes that are found by experiment.

Each class but the last is a stage of a tokenizer that can be mended: the tokenizer is asked again with
the reference's way at that stage in place of its own, and the difference is of the class if its ids are
then the reference's. Where no single stage explains it, pairs are tried, and then all stages together,
less those that it goes without; such a difference counts for the first of its causes.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Mended = frozenset["Cause"]
    """The stages at which a tokenizer does as the reference does."""


class Cause(StrEnum):
    """The classes of differences, in the order in which they are tried."""

    SPECIAL = "special"
    NORMALISATION = "normalisation"
    UNMATCHED_BYTE = "unmatched byte"
    BYTE_ALIAS = "byte alias"
    LOST_BLANK = "lost blank"
    PRE_TOKENIZER = "pre-tokenizer"
    MERGE_ORDER = "merge order"
    OTHER = "other"


MEANING = {
    Cause.SPECIAL: "a special token is not recognised, or is run into; the same ids where special tokens are "
    "parted from the text first",
    Cause.NORMALISATION: "the text is not NFC; the same ids where it is brought to NFC first",
    Cause.UNMATCHED_BYTE: "a byte below 0x20 begins no entry: it became id 0, or a newline an entry by itself; the "
    "same ids where such bytes are spelled as the entries spell them",
    Cause.BYTE_ALIAS: "two entries have the same stored bytes and the lower id was taken; the same ids where the "
    "one that stands for the text is taken",
    Cause.LOST_BLANK: "a blank was skipped; the same ids where blanks are spelled as the entries spell them",
    Cause.PRE_TOKENIZER: "a token reaches across two pieces, or pieces are cut elsewhere; the same ids where the "
    "reference's pieces are kept to",
    Cause.MERGE_ORDER: "the right bytes within the right piece, merged in another order; the same ids where they "
    "are merged by rank",
    Cause.OTHER: "none of these, nor all of them together",
}
"""What each class claims."""


def explain(
    unexplained: Iterable[int],
    stages: Sequence[Cause],
    likely: Sequence[Cause],
    holds: Callable[[int, Mended], bool],
) -> dict[int, tuple[Cause, ...]]:
    """Find the causes of some differences.

    Args:
        unexplained: the differences, by number.
        stages: the stages that can be mended, in order.
        likely: those of them that are tried alone and in pairs.
        holds: tells whether a difference is gone with some stages mended.

    Returns:
        for each difference its causes in order, one or several; `(Cause.OTHER,)` where nothing helps.

    """
    left = dict.fromkeys(unexplained)
    causes: dict[int, tuple[Cause, ...]] = {}
    for mended in _few(likely):
        if not left:
            return causes
        for number in list(left):
            if holds(number, frozenset(mended)):
                causes[number] = mended
                del left[number]
    for number in left:
        causes[number] = _least(number, stages, holds)
    return causes


def _few(stages: Sequence[Cause]) -> Iterator[tuple[Cause, ...]]:
    yield from combinations(stages, 1)
    yield from combinations(stages, 2)


def _least(number: int, stages: Sequence[Cause], holds: Callable[[int, Mended], bool]) -> tuple[Cause, ...]:
    """Take away from all stages, one by one, those that a difference goes without."""
    mended = frozenset(stages)
    if not holds(number, mended):
        return (Cause.OTHER,)
    for stage in reversed(stages):
        if holds(number, mended - {stage}):
            mended -= {stage}
    return tuple(stage for stage in stages if stage in mended)
