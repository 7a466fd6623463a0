"""Where special tokens stand in a text: the leftmost first, and the longest of those that begin there.

For each place the longest special that begins there is found in one pass over the text from its
end to its start, with an automaton (Aho-Corasick) of the specials read backwards. Its steps are at
most two for each character, whatever the text and however many specials there are.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Match(NamedTuple):
    """A special token in a text: characters start..end, and its id."""

    start: int
    end: int
    token: int


class SpecialMatcher:
    """Finds the special tokens of one vocabulary.

    Args:
        ids: text -> id. An empty text never matches.

    """

    def __init__(self, ids: Mapping[str, int]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._fallback = [0]
        self._longest: list[tuple[int, int] | None] = [None]  # (length, id) of what begins here
        for text, token in ids.items():
            if text:
                self._add(text, token)
        self._link()
        ends = "".join(re.escape(char) for char in sorted(self._next[0]))
        self._ends = re.compile(f"[{ends}]") if ends else None

    def find(self, text: str) -> list[Match]:
        """Return the matches in a text, in order; they do not overlap.

        >>> SpecialMatcher({"<a>": 7, "<a><b>": 8}).find("x<a><b><a>")
        [Match(start=1, end=7, token=8), Match(start=7, end=10, token=7)]
        """
        matches: list[Match] = []
        free = 0
        for candidate in reversed(self._beginning(text)):
            if candidate.start >= free:
                matches.append(candidate)
                free = candidate.end
        return matches

    def _beginning(self, text: str) -> list[Match]:
        """Return, for each place where a special begins, the longest that does, last place first."""
        found: list[Match] = []
        if self._ends is None or self._ends.search(text) is None:
            return found
        backwards = text[::-1]
        size = len(text)
        state = at = 0
        while at < size:
            if state == 0:  # nothing begun: on to the next character that ends a special
                end = self._ends.search(backwards, at)
                if end is None:
                    break
                at = end.start()
            char = backwards[at]
            while state and char not in self._next[state]:
                state = self._fallback[state]
            state = self._next[state].get(char, 0)
            at += 1
            longest = self._longest[state]
            if longest is not None:
                length, token = longest
                found.append(Match(size - at, size - at + length, token))
        return found

    def _add(self, text: str, token: int) -> None:
        state = 0
        for char in reversed(text):
            if char not in self._next[state]:
                self._next[state][char] = len(self._next)
                self._next.append({})
                self._fallback.append(0)
                self._longest.append(None)
            state = self._next[state][char]
        self._longest[state] = (len(text), token)

    def _link(self) -> None:
        """Give each state the longest other state that its text ends with, and that one's special."""
        waiting = deque(self._next[0].values())
        while waiting:
            state = waiting.popleft()
            for char, child in self._next[state].items():
                waiting.append(child)
                shorter = self._fallback[state]
                while shorter and char not in self._next[shorter]:
                    shorter = self._fallback[shorter]
                self._fallback[child] = self._next[shorter].get(char, 0)
                if self._longest[child] is None:
                    self._longest[child] = self._longest[self._fallback[child]]
