"""What a field's value must satisfy, as a test that also takes whole numpy columns, and as words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from formats.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from enum import IntEnum


@dataclass(frozen=True)
class Rule:
    """A constraint on one value.

    Attributes:
        words: what is expected, for messages and for the printed schema.
        holds: the test. It uses only operators that numpy applies element by element, so one test
            serves a single value and a column of 150,000.
        only: the one value that passes, where there is only one; a record is built without naming it.
        low, high: bounds that other languages can check too, where there are any.

    """

    words: str
    holds: Callable[[Any], Any]
    only: int | bytes | None = None
    low: int | None = None
    high: int | None = None

    def passes(self, value: Any) -> bool:
        """Tell whether one value, of any type, satisfies the rule."""
        try:
            return bool(self.holds(value))
        except (TypeError, ValueError):  # a text where a number belongs, a column where one value does
            return False


def exactly(value: int | bytes) -> Rule:
    """Accept one value only."""
    return Rule(shown(value), lambda found: found == value, value)


def between(low: int, high: int) -> Rule:
    """Accept `low` to `high`, both included."""
    return Rule(f"{low} to {high}", lambda found: (found >= low) & (found <= high), low=low, high=high)


def at_least(low: int) -> Rule:
    """Accept `low` and above."""
    return Rule(f"at least {low}", lambda found: found >= low, low=low)


def at_most(high: int) -> Rule:
    """Accept `high` and below."""
    return Rule(f"at most {high}", lambda found: found <= high, high=high)


def power_of_two(low: int, high: int) -> Rule:
    """Accept the powers of two from `low` to `high`."""
    return Rule(
        f"a power of two from {low} to {high}",
        lambda found: (found >= low) & (found <= high) & (found & (found - 1) == 0),
        low=low,
        high=high,
    )


def odd() -> Rule:
    """Accept odd numbers."""
    return Rule("an odd number", lambda found: found & 1 == 1)


def word_of(member: IntEnum) -> str:
    """Give the word of an enumeration's value: its `label`, or its name in small letters."""
    return str(getattr(member, "label", member.name.lower()))


def known_values(names: type[IntEnum]) -> Iterator[tuple[int, str]]:
    """List the values of an enumeration, ascending, each with its word."""
    for value in sorted(int(member) for member in names):
        yield value, word_of(names(value))


def member_of(names: type[IntEnum]) -> Rule:
    """Accept the values of an enumeration."""
    known = tuple(known_values(names))

    def holds(found: Any) -> Any:
        passed = found == known[0][0]
        for value, _ in known[1:]:
            passed = passed | (found == value)
        return passed

    return Rule("one of " + ", ".join(f"{value} {word}" for value, word in known), holds)
