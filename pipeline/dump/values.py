"""Values in words: numbers with their names, bytes as hex or text, nothing that drives a terminal."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

from formats.layout.rules import known_values

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import IntEnum

    from formats.layout import Field
    from formats.layout.tree import Leaf

LONGEST = 32
"""Bytes of a value that are shown."""


def value_words(leaf: Leaf) -> str:
    """Say what a leaf holds."""
    value, declared = leaf.value, leaf.field
    if isinstance(value, memoryview):
        return bytes_words(
            value, is_text=leaf.type == "line" or (declared is not None and declared.form == "text")
        )
    if declared is None:
        return str(value)
    words = f"0x{value:0{2 * leaf.size}X}" if declared.form == "hex" else str(value)
    meaning = _named(declared, value)
    return f"{words} {meaning}" if meaning else words


def _named(declared: Field, value: Any) -> str:
    """Give the words that a declaration has for a number."""
    if declared.absent is not None and value == declared.absent:
        return "none"
    if declared.names is not None:
        return _words_of(declared.names).get(value, "unknown")
    if declared.flags is not None:
        names = [str(flag.name).lower() for flag in declared.flags if flag & value]
        rest = value & ~sum(declared.flags)
        if declared.above is not None:
            shift, known = declared.above
            word = _words_of(known).get(value >> shift)
            if word is not None:
                names.append(f"{known.__name__.lower()} {word}")
                rest &= (1 << shift) - 1
        return ", ".join([*names, *([f"unknown 0x{rest:X}"] if rest else [])]) or "none"
    return ""


@cache
def _words_of(names: type[IntEnum]) -> Mapping[int, str]:
    return dict(known_values(names))


def bytes_words(value: memoryview, *, is_text: bool) -> str:
    """Say what a run of bytes holds: as text where it is one, folded where it is all zero."""
    size = len(value)
    if not is_text:
        if size > 1 and not any(value[:LONGEST]) and is_zero(value):
            return f"{size} zero bytes"
        more = f" ... ({size} bytes)" if size > LONGEST else ""
        return (bytes(value[:LONGEST]).hex() or "no bytes") + more
    start = bytes(value[: 4 * LONGEST]).rstrip(b"\0") if size <= 4 * LONGEST else bytes(value[: 4 * LONGEST])
    more = f" ... ({size} bytes)" if size > 4 * LONGEST else ""
    return text_words(start) + more


def text_words(data: bytes) -> str:
    r"""Quote bytes as text; what is not UTF-8 is written as `\xNN`.

    >>> text_words(b"a\xff\n")
    "'a\\xff\\n'"
    """
    return repr(data.decode("utf-8", "surrogateescape")).replace("\\udc", "\\x")


def is_zero(value: memoryview) -> bool:
    """Tell whether all bytes are zero."""
    block = 1 << 16
    return not any(bytes(value[at : at + block]).strip(b"\0") for at in range(0, len(value), block))


def json_value(leaf: Leaf) -> Any:
    """Give a leaf's value for JSON: a number, text, or hex."""
    value, declared = leaf.value, leaf.field
    if isinstance(value, memoryview):
        data = bytes(value)
        if leaf.type == "line" or (declared is not None and declared.form == "text"):
            try:
                return data.decode("utf-8")
            except UnicodeDecodeError:
                return {"hex": data.hex()}
        return (
            {"hex": data[:LONGEST].hex(), "size": len(data)} if len(data) > LONGEST else {"hex": data.hex()}
        )
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
