"""What kind of number one of construct's number fields holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import construct

_KINDS = {"b": "i", "h": "i", "l": "i", "i": "i", "q": "i", "f": "f", "d": "f"}


def number_kind(layout: construct.FormatField) -> str:
    """Tell `u` (unsigned), `i` (signed) or `f` (floating point), as numpy and C headers write it."""
    return _KINDS.get(layout.fmtstr[-1], "u")
