"""What a field's value must satisfy, as a test that also takes whole numpy columns, and as words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from formats.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import IntEnum


@dataclass(frozen=True)
class Rule:
    """A constraint on one value.

    Attributes:
        words: what is expected, for messages and for the printed schema.
        holds: the test. It uses only operators that numpy applies element by element, so one test
            serves a single value and a column of 150,000.
        only: the one value that passes, where there is only one; a record is built without naming it.

    """

    words: str
    holds: Callable[[Any], Any]
    only: int | bytes | None = None

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
    return Rule(f"{low} to {high}", lambda found: (found >= low) & (found <= high))


def at_least(low: int) -> Rule:
    """Accept `low` and above."""
    return Rule(f"at least {low}", lambda found: found >= low)


def at_most(high: int) -> Rule:
    """Accept `high` and below."""
    return Rule(f"at most {high}", lambda found: found <= high)


def power_of_two(low: int, high: int) -> Rule:
    """Accept the powers of two from `low` to `high`."""
    return Rule(
        f"a power of two from {low} to {high}",
        lambda found: (found >= low) & (found <= high) & (found & (found - 1) == 0),
    )


def odd() -> Rule:
    """Accept odd numbers."""
    return Rule("an odd number", lambda found: found & 1 == 1)


def member_of(names: type[IntEnum]) -> Rule:
    """Accept the values of an enumeration."""
    values = sorted(int(member) for member in names)

    def holds(found: Any) -> Any:
        known = found == values[0]
        for value in values[1:]:
            known = known | (found == value)
        return known

    return Rule("one of " + ", ".join(f"{v} {names(v).name.lower()}" for v in values), holds)
