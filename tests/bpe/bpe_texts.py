"""Texts to try the encoder on: real ones in many scripts, and random ones made to break things."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pipeline.parity

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXTS = Path(pipeline.parity.__file__).parent / "texts"

SURROGATES = range(0xD800, 0xE000)


def real_texts() -> dict[str, str]:
    """Paragraphs in more than ten scripts, and program text, by name."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(TEXTS.glob("*.txt"))}


MARKS = "\u0300\u0301\u0302\u0307\u0308\u030a\u0316\u0323\u0327\u0328\u0334\u0338\u0344\u0345\u035c\u0360"
YOUNG_MARKS = (
    "\u0d3b\u1df6\u1ac0\U00016ff0\U00011d42\U0001193d\U00011930\U0001e4ec"  # younger than the NFC data
)
INDIC = (
    "\u0915\u093c\u094d\u0958\u09c7\u09be\u09d7\u0b47\u0b3e\u0b56\u0bc6\u0bd7\u0cc6\u0cc2\u0cd5"
    "\u0dd9\u0dcf\u0dca"
)
TIBETAN = "\u0f40\u0f71\u0f72\u0f73\u0f74\u0f75\u0f80\u0f81\u0fb5\u0f69"
JAMO = "\u1100\u1112\u1113\u1161\u1175\u1176\u11a7\u11a8\u11c2\u11c3\uac00\uac01\ud788\ud7a3"
SINGLETONS = "\u212b\u2126\u0340\u0341\u0374\u037e\u1f71\u2329\uf900\ufb1d\ufb2c\u2adc\U0002f800\U0001d15e"
COMPOSED = (
    "\xc5\xe9\xf4\u01d6\u1e69\u1ea5\u1eed\u0386\u0439\u0457\u30ac\u3071\u304b\u3099\u309a\u1b06\U0001109a"
)
WHITE = " \t\n\r\x0b\x0c\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000"
NOT_WHITE = "\x00\x1c\x1d\x1e\x1f\u180e\u200b\u200d\u2060\ufeff"
QUOTES = "'\u2019`\""
CONTRACTIONS = "sStTrReEvVmMlLdD\u017f\u212a"
NUMBERS = "07\xb2\xbd\u0663\u096a\u2167\u3007\u3289\U0001d7d9\U0001f10b"
LETTERS = "abz\xdf\u0101\u0111\u0416\u05d0\u0627\u0e01\u4e2d\u3042\uff21\U00010d50\U0002ebf0\U00020bb7"
NOT_YET_LETTERS = "\U0001e6c0\u088f\U000323b0"  # letters of Unicode 17, unassigned in the class tables
SIGNS = (
    "!?.,;:_-+*/(){}[]<>|=\\@#$%^&~"
    "\u2014\u2026\u20ac\u3001\U0001f600\U0001f3fd\ufe0f\U0001f1e6\ue000\U0010ffff"
)
SPECIALS = [
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<think>", "</think>", "<tool_call>", "<|im_", "<", "|",
       "<|", "|>", "<|im_end|", "think>", "[PAD151669]", "[PAD151700]", "<|fim_prefix|>",
]  # fmt: skip

ALPHABETS: list[list[str]] = [
    list(" \n\ra1!'"),
    list(WHITE + NOT_WHITE + "a1."),
    list(QUOTES + CONTRACTIONS + " n"),
    list(MARKS + YOUNG_MARKS + "aeoAE" + COMPOSED),
    list(INDIC + TIBETAN + MARKS + " "),
    list(JAMO + "a "),
    list(SINGLETONS + COMPOSED + MARKS + " 1"),
    list(NUMBERS + LETTERS + NOT_YET_LETTERS + " '"),
    list(SIGNS + " \n\ra0"),
    [*SPECIALS, " ", "a", "\n", "\u0301", "1"],
    list("the and of ing tion ation str int 0x ==  ->"),
    list("ab"),
    list(WHITE + QUOTES + CONTRACTIONS + NUMBERS + LETTERS + SIGNS + MARKS + COMPOSED + JAMO) + SPECIALS,
]


def nasty_texts(count: int, seed: int, longest: int = 32) -> Iterator[str]:
    """Random strings, each over one of the alphabets or over all of Unicode; the same for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        length = chance.randint(1, longest)
        kind = chance.randrange(len(ALPHABETS) + 2)
        if kind < len(ALPHABETS):
            yield "".join(chance.choices(ALPHABETS[kind], k=length))
        else:
            yield "".join(
                any_char(chance, 0x3000 if kind == len(ALPHABETS) else 0x110000) for _ in range(length)
            )


def any_char(chance: random.Random, limit: int) -> str:
    code = chance.randrange(limit)
    return chr(code) if code not in SURROGATES else " "


CONTEXTS = (
    "{}", "a{}", "{}a", "a{}a", " {}", "{} ", " {} ", "  {}a", "1{}", "{}1", "1{}1", "{}{}", "\n{}", "{}\n",
    "!{}!",    "'{}", "'{}e", "'{}l", "'r{}", "'l{}", "'v{}", "e{}\u0301", "\u0327{}\u0334",
    "\u0345{}\u0300", "\uac00{}", "\u1100{}",
)  # fmt: skip
"""Where a code point is tried: among letters, blanks, digits, line ends, signs, contractions, marks, jamo."""


def in_contexts(char: str) -> list[str]:
    return [context.replace("{}", char) for context in CONTEXTS]
