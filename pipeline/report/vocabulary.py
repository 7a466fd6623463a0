"""A vocabulary in numbers: base, added and padded tokens, by type, by length, by script."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.byte_strings import ByteStrings
from formats.errors import FormatError, shown
from formats.layout.rules import word_of
from formats.q25tokrt.special_index import added_ids
from formats.token_types import TokenType
from pipeline.dump.tokens import tokens_of
from pipeline.report.scripts import kind_of
from pipeline.vocabulary.padding import first_pad

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pipeline.report.build import Build, BuiltFile

LISTED_BY = ("q25tokrt", "token_index", "tokens")
"""Layouts that hold a vocabulary's bytes and types, the quickest to read first."""
_SINGLE = 16
"""Lengths up to this have a row of their own; longer ones are counted by powers of two."""


@dataclass(frozen=True)
class VocabularyCounts:
    """What a vocabulary holds.

    Attributes:
        source: the artifact that was counted.
        tokens: all of them.
        base, added, padded: normal tokens; tokens that are matched in text as a whole; the run of pads at the
            end. The others are of types that are neither.
        longest: length of the longest base or added token, in bytes.
        types: tokens by type, in words.
        lengths: base tokens by length in bytes: the shortest and the longest of a row, and how many.
        scripts: base tokens by script, or what they are that have none; the most first.

    """

    source: str
    tokens: int
    base: int
    added: int
    padded: int
    longest: int
    types: tuple[tuple[str, int], ...]
    lengths: tuple[tuple[int, int, int], ...]
    scripts: tuple[tuple[str, int], ...]

    @property
    def others(self) -> int:
        """Tokens that are neither base nor added nor padding."""
        return self.tokens - self.base - self.added - self.padded


def count_vocabulary(build: Build) -> VocabularyCounts | None:
    """Count the vocabulary of a build; None where no artifact holds one. What cannot be read is noted."""
    for layout in LISTED_BY:
        for file in build.of_layout(layout):
            found = _of_lines(build, file) if layout == "tokens" else _of_table(build, file)
            if found is not None and len(found[0]):
                return count(file.record.name, *found)
    return None


def count(source: str, strings: ByteStrings, types: NDArray[Any]) -> VocabularyCounts:
    """Count a vocabulary.

    Args:
        source: where it was found.
        strings: the tokens' bytes, in id order.
        types: shape (n_tokens,), GGUF's numbers.

    """
    pads = first_pad(strings, types)
    is_base = types == TokenType.NORMAL
    base = strings.take(is_base)
    numbers, counts = np.unique(types, return_counts=True)
    named = {int(member): word_of(member) for member in TokenType}
    kinds = Counter(map(kind_of, base))
    return VocabularyCounts(
        source,
        len(strings),
        len(base),
        len(added_ids(types, pads)),
        len(strings) - pads,
        int(strings.lengths[:pads].max(initial=0)),
        tuple(
            (named.get(number, f"unknown type {number}"), found)
            for number, found in zip(numbers.tolist(), counts.tolist(), strict=True)
        ),
        tuple(_by_length(base.lengths)),
        tuple(sorted(kinds.items(), key=lambda entry: (-entry[1], entry[0]))),
    )


def _by_length(lengths: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
    """Count lengths row by row, from the shortest that occurs to the longest."""
    first = 0
    while len(lengths) and first <= int(lengths.max()):
        last = first if first <= _SINGLE else 2 * (first - 1)
        found = int(np.count_nonzero((lengths >= first) & (lengths <= last)))
        if found:
            yield first, last, found
        first = last + 1


def _of_table(build: Build, file: BuiltFile) -> tuple[ByteStrings, NDArray[Any]] | None:
    artifact = build.open(file)
    found = None if artifact is None else tokens_of(artifact)
    if found is None or found.strings is None or found.types is None:
        return None
    return found.strings, found.types


def _of_lines(build: Build, file: BuiltFile) -> tuple[ByteStrings, NDArray[Any]] | None:
    """Read tokens.jsonl."""
    strings, types = [], []
    data = file.path.read_bytes()
    for number, line in enumerate(data.splitlines()):
        try:
            token = json.loads(line)
            strings.append(bytes.fromhex(token["bytes"]))
            types.append(int(token["type"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            found = shown(line.decode("utf-8", "backslashreplace"))
            place = f"line {number + 1}"
            build.note(FormatError("a token's bytes and type", found, path=place, file=str(file.path)))
            return None
    return ByteStrings.from_list(strings), np.array(types, dtype=np.int32)
