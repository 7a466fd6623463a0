"""Names of files as names of C."""

from __future__ import annotations

import re

from formats.errors import shown


def symbol_of(name: str) -> str:
    """Make a file's name one of C.

    >>> symbol_of("tensors/blk.0.weight.bin"), symbol_of("2.bin")
    ('tensors_blk_0_weight_bin', '_2_bin')
    """
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{word}" if word[0].isdigit() else word


def symbol_clash(names: list[str]) -> tuple[str, str] | None:
    """Find a file whose name in C is another's too, also in capitals, and say so."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(symbol_of(name).upper(), name)
        if other != name:
            return name, f"expected a name of its own in C, found {symbol_of(name)}, as {shown(other)} has"
    return None
