"""What the reference's regular expressions take for a letter, a number or white space.

`tokenizers` runs its patterns in Oniguruma, which brings character classes of its own and cannot be
asked which Unicode they are of. So each class is found by running a pattern over every code point.
"""

from __future__ import annotations

from pipeline.errors import CheckFailed

CONTRACTION_ALPHABET = "strevmld"
"""The letters of `'s 't 're 've 'm 'll 'd`."""

LETTERS_BY_AGE = {
    (15, 0, 0): (0x11F04, 0x1E4D0),
    (15, 1, 0): (0x2EBF0, 0x2EE5D),
    (16, 0, 0): (0x1C89, 0xA7CB, 0x105C0, 0x10D50, 0x11380, 0x11BC0, 0x13460, 0x16100, 0x16D43, 0x1E5D0),
    (17, 0, 0): (0x88F, 0xC5C, 0x10940, 0x11DB0, 0x16EA0, 0x1E6C0, 0x323B0),
}
"""Some letters by the Unicode version that assigned them; the newest that are known date the classes.

The outcome for `tokenizers` 0.23.3 is Unicode 16.0.0: 141,028 letters and 1,911 numbers. That all
of both agree with Unicode 16.0.0, code point by code point, was checked once against the PyPI package
`unicodedata2` 16.0.0.
"""

_BLOCK = 0x1000
_SURROGATES = range(0xD800, 0xE000)


class DerivationError(CheckFailed):
    """The reference does not behave as the derivation assumes: its tables need new thought."""


def scalars() -> list[str]:
    """Every code point but the surrogates, which no text holds, as characters in ascending order."""
    return [chr(code) for code in range(0x110000) if code not in _SURROGATES]


def matching(pattern: str) -> list[str]:
    """Return the characters that a pattern for one character matches."""
    from tokenizers import Regex, pre_tokenizers

    remover = pre_tokenizers.Split(Regex(pattern), behavior="removed")
    everything = scalars()
    found: list[str] = []
    for start in range(0, len(everything), _BLOCK):
        block = everything[start : start + _BLOCK]
        left = {char for piece, _ in remover.pre_tokenize_str("".join(block)) for char in piece}
        found += [char for char in block if char not in left]
    return found


def contraction_letters() -> dict[str, str]:
    """Return every character that `(?i:...)` takes for a letter of the contractions, and that letter."""
    found = {char: letter for letter in CONTRACTION_ALPHABET for char in matching(f"(?i:{letter})")}
    return dict(sorted(found.items()))


def class_version(letters: list[str]) -> tuple[int, int, int]:
    """Return the Unicode version that these letters are of."""
    return newest_known(set(letters), LETTERS_BY_AGE)


def newest_known(
    known: set[str], by_age: dict[tuple[int, int, int], tuple[int, ...]]
) -> tuple[int, int, int]:
    """Return the newest version of which every probe is known, if no probe of a newer one is.

    Raises:
        DerivationError: the probes contradict each other, or do not reach past the answer.

    """
    counts = {version: sum(chr(code) in known for code in codes) for version, codes in by_age.items()}
    newest = max((version for version, count in counts.items() if count), default=None)
    if newest is None or newest == max(by_age):
        raise DerivationError(f"the probes do not bracket the Unicode version (newest known: {newest})")
    for version, codes in by_age.items():
        if counts[version] != (len(codes) if version <= newest else 0):
            raise DerivationError(
                f"Unicode {newest} seems known, but {counts[version]} of {len(codes)} probes of {version} are"
            )
    return newest
