"""How much work a function does, counted instead of timed: the lines of Python it runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def count_lines(work: Callable[[], object]) -> int:
    """Lines of Python that a call runs, those of the functions it calls included."""
    count = 0

    def trace(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
