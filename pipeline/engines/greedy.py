"""The RK3588 engine's encoder: the longest entry of vocab.bin at each position.

From the start of the text to its end:

- Blanks (20) are skipped, and remembered as one.
- After a blank, `Ġ` (C4 A0) and the rest are looked up together: at most 511 bytes, the two of `Ġ`
  among them. The longest entry that these begin with is taken if it is longer than `Ġ` itself. The
  engine does so only when it has put out a token already.
- Otherwise the longest entry that the rest begins with is taken.
- Where there is none, a newline (0A) becomes the entry `Ċ` (C4 8A), and any other byte id 0.

Of entries with the same bytes the lowest id is taken. Decoding puts the stored bytes behind each other,
so that it shows `Ġ` for a blank.

Two repairs of this were published, A and AB, and the engine's present form looks for special tokens
first. `GreedyRules` says how they differ, and `VARIANTS` which there are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from copy import copy
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from formats.byte_strings import ByteStrings

BLANK = "Ġ".encode()
NEWLINE = "Ċ".encode()
LOOKED_AT = 511
"""Bytes that the engine looks at after a blank, those of `Ġ` among them: its buffer has 512."""

UNMATCHED_ID = 0
SPECIALS_FIRST: Sequence[bytes] = (
    b"<|im_start|>",
    b"<|im_end|>",
    b"<|endoftext|>",
    b"<|vision_start|>",
    b"<|vision_end|>",
    b"<|image_pad|>",
    b"<|video_pad|>",
    b"<|object_ref_start|>",
    b"<|object_ref_end|>",
    b"<|box_start|>",
    b"<|box_end|>",
    b"<|quad_start|>",
    b"<|quad_end|>",
    b"<think>",
    b"</think>",
)
"""The special tokens that the engine's present form looks for; the list is part of its code."""

_KEY = 4
"""Bytes at the start of an entry by which the lengths of its like are found."""
_SHORT = tuple(range(_KEY - 1, 0, -1))
"""The lengths of entries that have no such start, the longest first."""


@dataclass(frozen=True, slots=True)
class GreedyRules:
    """What tells the engine's variants apart.

    Attributes:
        blank_needs_token: look up `Ġ` and the rest only when a token has been put out already.
        lone_blank: where that look-up fails, put out the entry `Ġ` for the blank.
        specials: texts that are taken before anything else, the longest first; no match runs into
            the next of them. Those that the file has no entry for do not count.
        newline_run: so many newlines at the most are looked up as one entry of `Ċ`s.

    """

    blank_needs_token: bool = True
    lone_blank: bool = False
    specials: Sequence[bytes] = ()
    newline_run: int = 1


VARIANTS: Mapping[str, GreedyRules] = MappingProxyType(
    {
        "base": GreedyRules(),
        "A": GreedyRules(blank_needs_token=False),
        "AB": GreedyRules(blank_needs_token=False, lone_blank=True),
        "specials_first": GreedyRules(specials=SPECIALS_FIRST, newline_run=8),
    }
)
"""The variants by their published names."""


class How(Enum):
    """Why the engine put a token out."""

    ENTRY = "entry"
    AFTER_BLANK = "after blank"
    LONE_BLANK = "lone blank"
    SPECIAL = "special"
    NEWLINE = "newline"
    UNMATCHED = "unmatched"


class GreedyToken(NamedTuple):
    """A token of an encoded text.

    Fields:
        token: its id.
        start, end: the bytes of the text that it was taken for. A blank belongs to the token that was
            looked up with it; blanks between two tokens that belong to neither are lost.
        how: which rule it comes from.
    """

    token: int
    start: int
    end: int
    how: How


class GreedyEncoder:
    """Encodes and decodes with the entries of a vocab.bin.

    Attributes:
        rules: the variant.

    Args:
        entries: the stored texts in id order, as `formats.vocab_bin.read` gives them.
        rules: the variant.

    """

    def __init__(self, entries: ByteStrings, rules: GreedyRules = VARIANTS["base"]) -> None:
        self._entries = list(entries)
        self._ids: dict[bytes, int] = {}
        for token, text in enumerate(self._entries):
            self._ids.setdefault(text, token)
        self._ids.pop(b"", None)
        self._lengths = _lengths_by_key(self._ids)
        self._set_rules(rules)

    def _set_rules(self, rules: GreedyRules) -> None:
        self.rules = rules
        self._specials = _matcher(text for text in rules.specials if text in self._ids)

    def with_rules(self, rules: GreedyRules) -> GreedyEncoder:
        """Return an encoder of another variant that shares this one's tables."""
        other = copy(self)
        other._set_rules(rules)
        return other

    def encode(self, text: bytes) -> list[int]:
        """Return the ids of a text."""
        return [token.token for token in self.tokens(text)]

    def decode(self, ids: Iterable[int]) -> bytes:
        """Return the stored bytes of the ids, which show `Ġ` for a blank and `Ċ` for a newline.

        Raises:
            IndexError: an id that the file has no entry for.

        """
        return b"".join([self._entries[token] for token in ids])

    def tokens(self, text: bytes, fences: Sequence[int] = ()) -> list[GreedyToken]:
        """Return the tokens of a text with what they were taken for.

        Args:
            text: the text.
            fences: ascending offsets that no match may cross. The engine itself has none but special
                tokens; what it would do with more is for comparisons to ask.

        """
        found: list[GreedyToken] = []
        done = 0
        for start, end in self._special_places(text):
            self._add_stretch(found, text, done, start, fences)
            found.append(GreedyToken(self._ids[text[start:end]], start, end, How.SPECIAL))
            done = end
        self._add_stretch(found, text, done, len(text), fences)
        return found

    def _special_places(self, text: bytes) -> Iterator[tuple[int, int]]:
        return (match.span() for match in self._specials.finditer(text)) if self._specials else iter(())

    def _add_stretch(
        self, found: list[GreedyToken], text: bytes, at: int, end: int, fences: Sequence[int]
    ) -> None:
        """Append the tokens of the text from `at` to `end`, which no match crosses; a blank at its end is lost."""
        rules = self.rules
        after_blank = False
        while at < end:
            if text[at] == 0x20:
                after_blank = True
                at += 1
                continue
            limit = min(end, _next_fence(fences, at)) if fences else end
            if after_blank:
                after_blank = False
                if found or not rules.blank_needs_token:
                    looked_at = BLANK + text[at : min(limit, at + LOOKED_AT - len(BLANK))]
                    match = self._longest(looked_at, 0, len(looked_at))
                    if match is not None and match[1] > len(BLANK):
                        length = match[1] - len(BLANK)
                        found.append(GreedyToken(match[0], at - 1, at + length, How.AFTER_BLANK))
                        at += length
                        continue
                    if rules.lone_blank and BLANK in self._ids:
                        found.append(GreedyToken(self._ids[BLANK], at - 1, at, How.LONE_BLANK))
            token = self._at(text, at, limit)
            found.append(token)
            at = token.end

    def _at(self, text: bytes, at: int, limit: int) -> GreedyToken:
        """Take a token from where there is no blank."""
        match = self._longest(text, at, limit)
        if match is not None:
            return GreedyToken(match[0], at, at + match[1], How.ENTRY)
        if text[at] == 0x0A:
            run = 1
            while (
                run < self.rules.newline_run and text[at + run : at + run + 1] == b"\n" and at + run < limit
            ):
                run += 1
            for length in range(run, 0, -1):
                token = self._ids.get(NEWLINE * length)
                if token is not None:
                    return GreedyToken(token, at, at + length, How.NEWLINE)
        return GreedyToken(UNMATCHED_ID, at, at + 1, How.UNMATCHED)

    def _longest(self, text: bytes, at: int, limit: int) -> tuple[int, int] | None:
        """Find the longest entry at an offset that ends at a limit: its id and its length; None if there is none."""
        left, id_of = limit - at, self._ids.get
        for length in self._lengths.get(text[at : at + _KEY], _SHORT):
            if length <= left and (token := id_of(text[at : at + length])) is not None:
                return token, length
        return None


def _lengths_by_key(entries: Iterable[bytes]) -> dict[bytes, tuple[int, ...]]:
    """Tell for each beginning of `_KEY` bytes which lengths to try, the longest first: those that entries have."""
    lengths: dict[bytes, set[int]] = {}
    for text in entries:
        if len(text) >= _KEY:
            lengths.setdefault(text[:_KEY], set()).add(len(text))
    return {key: (*sorted(found, reverse=True), *_SHORT) for key, found in lengths.items()}


def _matcher(texts: Iterable[bytes]) -> re.Pattern[bytes] | None:
    """Make a pattern of the given texts, the longest first; None where there are none."""
    ordered = sorted(texts, key=len, reverse=True)
    return re.compile(b"|".join(map(re.escape, ordered))) if ordered else None


def _next_fence(fences: Sequence[int], at: int) -> int:
    """Find the first fence behind an offset."""
    index = bisect_right(fences, at)
    return fences[index] if index < len(fences) else 1 << 62
