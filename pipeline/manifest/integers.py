"""Kinds of values that are whole numbers: plain ones, and sizes in bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipeline.manifest.implicit import misread
from pipeline.manifest.kinds import END
from pipeline.manifest.nodes import Node, Scalar, refusal

_WHOLE = re.compile("-?(?:0|[1-9][0-9]*)|0x[0-9A-Fa-f]+")
_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_WITH_UNIT = re.compile("(0|[1-9][0-9]*)(KiB|MiB|GiB)")
_MEANS_UNIT = re.compile("[0-9]+ *(?:[kmgt]i?b?|b)", re.IGNORECASE)
_MOST_DIGITS = 24
"""Digits that are worth converting: every bound is below 2^64, which has 20."""


def read_whole(node: Node, path: str, expected: str) -> int:
    """Read a whole number that every reader of YAML takes for the same number.

    Raises:
        ManifestError: no number, or one in a form that readers disagree about.

    """
    if not isinstance(node, Scalar) or node.is_null:
        raise refusal(node, path, expected)
    text = node.text
    if not _WHOLE.fullmatch(text) or text == "-0":
        raise refusal(node, path, expected, _reason(text))
    if not node.plain:
        raise refusal(node, path, expected, "write it without quotes")
    if len(text) > _MOST_DIGITS:
        raise node.place.error(f"{path}: expected {expected}, found a number of {len(text)} digits")
    return int(text, 16 if text.startswith("0x") else 10)


def _reason(text: str) -> str:
    reading = misread(text)
    if re.fullmatch("[-+]?0[0-9]+", text):
        return "a leading 0 makes it a number in base 8 to some readers; leave the 0 out"
    if reading in {"a number in base 60", "a number in base 8", "a number in base 2"}:
        return f"YAML takes it for {reading}; write it in base 10, or in base 16 with 0x"
    if "_" in text and reading:
        return "leave the _ out"
    if text[:1] == "+" or text == "-0":
        return "leave the sign out"
    if reading == "a number":
        return "write a number without fraction and exponent"
    return ""


def size_in_bytes(text: str) -> int | None:
    """Read a size as manifests write it; None where it is none.

    >>> size_in_bytes("64"), size_in_bytes("0x40"), size_in_bytes("6MiB"), size_in_bytes("6 MB")
    (64, 64, 6291456, None)
    """
    if len(text) > _MOST_DIGITS:
        return None
    unit = _WITH_UNIT.fullmatch(text)
    if unit:
        return int(unit[1]) * _UNITS[unit[2]]
    if not _WHOLE.fullmatch(text) or text.startswith("-"):
        return None
    return int(text, 16 if text.startswith("0x") else 10)


def _in_both_bases(number: int) -> str:
    return f"{number} (0x{number:X})" if number > 9 else str(number)


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number, in base 10 or, with `0x`, in base 16.

    Attributes:
        lo, hi: the least and the largest value.

    """

    lo: int
    hi: int

    def read(self, node: Node, path: str) -> int:
        """Read the number."""
        number = read_whole(node, path, self.words())
        if not self.lo <= number <= self.hi:
            raise refusal(node, path, self.words())
        return number

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema."""
        return {"type": "integer", "minimum": self.lo, "maximum": self.hi}

    def words(self) -> str:
        """Describe it in words."""
        return f"a whole number from {self.lo} to {_in_both_bases(self.hi)}"


@dataclass(frozen=True, slots=True)
class Size:
    """A number of bytes: `64`, `0x40`, `64KiB`, `1MiB`, `2GiB`. It is never rounded.

    Attributes:
        lo, hi: the least and the largest value, in bytes.
        power_of_two: only powers of two will do.
        multiple_of: only multiples of this many bytes will do.
        what: the number's meaning, in words.

    """

    lo: int
    hi: int
    power_of_two: bool = False
    multiple_of: int = 1
    what: str = "a size in bytes"

    def read(self, node: Node, path: str) -> int:
        """Read the size, in bytes."""
        text = node.text if isinstance(node, Scalar) else ""
        with_unit = size_in_bytes(text) if _WITH_UNIT.fullmatch(text) else None
        if with_unit is not None:
            size = with_unit
        elif _MEANS_UNIT.fullmatch(text):
            raise refusal(node, path, self.words(), "sizes are written like 64, 0x40, 64KiB, 1MiB or 2GiB")
        else:
            size = read_whole(node, path, self.words())
        if not self._holds(size):
            raise refusal(node, path, self.words())
        return size

    def _holds(self, size: int) -> bool:
        if self.power_of_two and size.bit_count() != 1:
            return False
        return self.lo <= size <= self.hi and size % self.multiple_of == 0

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema.

        Powers of two are listed. Other sizes are bounded where they are numbers; JSON Schema
        cannot bound those with a unit, which are text to it.
        """
        if self.power_of_two:
            sizes = [size for size in (1 << bit for bit in range(64)) if self._holds(size)]
            texts = [
                f"{size // unit}{name}" for name, unit in _UNITS.items() for size in sizes if size % unit == 0
            ]
            return {"enum": [*sizes, *texts]}
        number: dict[str, object] = {"type": "integer", "minimum": self.lo, "maximum": self.hi}
        if self.multiple_of > 1:
            number["multipleOf"] = self.multiple_of
        return {"anyOf": [number, {"type": "string", "pattern": f"^(?:{_WITH_UNIT.pattern}){END}"}]}

    def words(self) -> str:
        """Describe it in words."""
        what = "a power of two" if self.power_of_two else self.what
        if self.multiple_of > 1:
            what += f" that is a multiple of {self.multiple_of},"
        return f"{what} from {_in_both_bases(self.lo)} to {_in_both_bases(self.hi)}"
