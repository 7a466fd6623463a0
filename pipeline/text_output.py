"""JSON as artifacts hold it: one form for one value, readable, ASCII only."""

from __future__ import annotations

import json
from typing import Any


def json_document(value: Any) -> bytes:
    """Write a value as an indented JSON document.

    Keys keep the order they were given in; everything beyond ASCII is escaped, so that no reader's
    idea of a line separator matters.

    Raises:
        ValueError: a number that JSON does not have (infinity, not a number).

    """
    return json.dumps(value, indent=1, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"


def json_line(value: Any) -> str:
    """Write a value as JSON on one line, without the line's end."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(", ", ": "))
