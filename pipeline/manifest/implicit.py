"""What readers of YAML make of text without quotes: `no` a boolean, `010` an 8, `12:30` a 750.

The YAML 1.1 type repository and the YAML 1.2 core schema disagree about some of these, and
readers follow either. Whatever any of them takes for something else than text is named here.
"""

from __future__ import annotations

import re

_BOOLEANS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false"})
_NULLS = frozenset({"", "~", "null"})
_DIGITS = "[0-9][0-9_]*"
_TIME = r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?"
_READINGS = (
    ("a number in base 60", rf"[-+]?{_DIGITS}(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"),
    ("a number in base 8", r"[-+]?0[0-7_]+|[-+]?0o[0-7_]+"),
    ("a number in base 2", r"[-+]?0b[01_]+"),
    ("a number", rf"[-+]?(?:{_DIGITS}(?:\.[0-9_]*)?|\.{_DIGITS})(?:[eE][-+]?[0-9]+)?"),
    ("a number", r"[-+]?0x[0-9a-fA-F_]+"),
    ("a number", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"),
    (
        "a date",
        rf"[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}(?:(?:[Tt]|[ \t]+){_TIME})?",
    ),
    ("a merge key", r"<<"),
    ("a default value", r"="),
)
_PATTERNS = tuple((reading, re.compile(pattern)) for reading, pattern in _READINGS)
_CAN_BEGIN = frozenset("0123456789+-.<=")


def misread(text: str) -> str | None:
    """Name what some reader of YAML takes text without quotes for, or None if all see text.

    >>> misread("no"), misread("1.10"), misread("qwen2.5:7b")
    ('true or false', 'a number', None)
    """
    if text.lower() in _NULLS:
        return "nothing"
    if text.lower() in _BOOLEANS:
        return "true or false"
    if text[0] in _CAN_BEGIN:
        for reading, pattern in _PATTERNS:
            if pattern.fullmatch(text):
                return reading
    return None
