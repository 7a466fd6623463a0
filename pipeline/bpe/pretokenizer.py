r"""How text is cut into pieces before the merges: the rule that a GGUF names in `tokenizer.ggml.pre`.

The Qwen2 rule is the first of these that fits, from the left:

    (?i:'s|'t|'re|'ve|'m|'ll|'d)      a contraction
    [^\r\n\p{L}\p{N}]?\p{L}+          a word, with one character before it
    \p{N}                             one digit
     ?[^\s\p{L}\p{N}]+[\r\n]*         marks and signs, with a blank before and line ends after
    \s*[\r\n]+                        line ends, with the white space before
    \s+(?!\S)                         white space, all but the last character before a word
    \s+                               white space

Python's `re` has no `\p{L}`, and its `\s` and `(?i:...)` are of another Unicode. So the text is
first turned into a string of class letters, one for each character by this project's own tables, and
the rule is matched on that. Every character is in some piece, so lengths are all that is needed.

Each run of a class is gone over at most three times, so the time is linear. (The reference's engine
has a limit of steps: it takes six million blanks in a row, and gives up on twelve million.)
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from formats.errors import shown
from pipeline.bpe.errors import PretokenizerError
from pipeline.bpe.unicode_tables import Ranges, class_tables

Splitter = Callable[[str], list[str]]
"""Cuts a text into pieces; joined they are the text."""

# Class letters: s t r e v m l d are the letters of contractions, whatever their case, and L any
# other letter; N a number; \n a carriage return or line feed; a blank is itself, W other white
# space; ' is itself; O is all the rest.
_WORD = "Lstrevmld"
_SPACE = " W\n"
_QWEN2 = re.compile(
    rf"'(?:[stmd]|re|ve|ll)"
    rf"|[^\n{_WORD}N]?[{_WORD}]+"
    rf"|N"
    rf"| ?[^{_SPACE}{_WORD}N]+\n*"
    rf"|[{_SPACE}]*\n+"
    rf"|[{_SPACE}]+(?![^{_SPACE}])"
    rf"|[{_SPACE}]+"
)


class _ClassLetters(dict[int, str]):
    """Code point -> class letter, worked out for the code points that occur."""

    def __init__(self) -> None:
        tables = class_tables()
        super().__init__({ord(char): letter for char, letter in tables.contraction_letters.items()})
        self.update({0x0A: "\n", 0x0D: "\n", 0x20: " ", 0x27: "'"})
        self._ranges = (
            ("L", tables.letters, [first for first, _ in tables.letters]),
            ("N", tables.numbers, [first for first, _ in tables.numbers]),
            ("W", tables.white_space, [first for first, _ in tables.white_space]),
        )

    def __missing__(self, code: int) -> str:
        letter = next((name for name, ranges, firsts in self._ranges if _within(code, ranges, firsts)), "O")
        self[code] = letter
        return letter


def _within(code: int, ranges: Ranges, firsts: list[int]) -> bool:
    at = bisect(firsts, code) - 1
    return at >= 0 and code <= ranges[at][1]


@cache
def _class_letters() -> _ClassLetters:
    return _ClassLetters()


def split_qwen2(text: str) -> list[str]:
    """Cut a text by the Qwen2 rule.

    >>> split_qwen2("I'm  here in 2024!")
    ['I', "'m", ' ', ' here', ' in', ' ', '2', '0', '2', '4', '!']
    """
    pieces: list[str] = []
    start = 0
    for match in _QWEN2.finditer(text.translate(_class_letters())):
        end = match.end()
        pieces.append(text[start:end])
        start = end
    return pieces


RULES: Mapping[str, Splitter] = MappingProxyType({"qwen2": split_qwen2, "deepseek-r1-qwen": split_qwen2})
"""The rules served, by the names that `tokenizer.ggml.pre` has for them."""


def rule_for(name: str) -> Splitter:
    """Return the rule of that name.

    Raises:
        PretokenizerError: no such rule, or no name. There is no default: another rule gives other ids.

    """
    rule = RULES.get(name)
    if rule is None:
        what = (
            f"pre-tokenizer {shown(name)} is not known here" if name else "the model names no pre-tokenizer"
        )
        raise PretokenizerError(
            f"{what}: its tables can be made, but encoding needs a known rule ({', '.join(RULES)}); "
            "if the model splits text by one of them, say so in the manifest with model.pre"
        )
    return rule
