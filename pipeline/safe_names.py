"""File names for foreign names: always inside their folder, distinct on every file system.

Names in a model are any text: `../x`, `con`, two that differ in case only, 300 characters, nothing at
all. A name that is plain stays as it is, unless another plain one differs from it in case only; any
other is spelled with plain characters and marked with a piece of its digest.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_FOREIGN = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST = 120
_MARK_DIGITS, _WHOLE_DIGEST = 12, 64
_MARKED = re.compile(rf"-(?:[0-9a-f]{{{_MARK_DIGITS}}}|[0-9a-f]{{{_WHOLE_DIGEST}}})\Z", re.IGNORECASE)
"""A name that could be taken for a marked one is marked itself, so that no two ever meet."""
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{digit}" for port in ("com", "lpt") for digit in range(10))]
)
"""Windows keeps these for devices, whatever follows the first dot."""


def safe_names(names: Iterable[str]) -> dict[str, str]:
    """Map every name to a file name without suffix.

    Args:
        names: distinct names.

    Returns:
        for each name a text of ASCII letters, digits, `.`, `_` and `-`, at most 120 characters, that
        starts with none of `.` and `-`, does not end in a dot, is not reserved on Windows, and differs
        from all others when case is ignored.

    >>> safe_names(["blk.0.attn_q.weight", "../x"])
    {'blk.0.attn_q.weight': 'blk.0.attn_q.weight', '../x': '_.._x-d6b96a97d147'}
    """
    spelled = {name: _spell(name) for name in names}
    plain = Counter(
        name.lower() for name, file in spelled.items() if file == name and not _MARKED.search(name)
    )
    files = {
        name: name if plain[name.lower()] == 1 and file == name else _marked(file, name, _MARK_DIGITS)
        for name, file in spelled.items()
    }
    # Names that are made to share the first digits of their digests get the whole digest.
    taken = Counter(file.lower() for file in files.values())
    return {
        name: file if taken[file.lower()] == 1 else _marked(spelled[name], name, _WHOLE_DIGEST)
        for name, file in files.items()
    }


def _spell(name: str) -> str:
    file = _FOREIGN.sub("_", name)
    stem = file.partition(".")[0].lower()
    if not file or file[0] in ".-" or stem in _RESERVED:
        file = f"_{file}"
    if file.endswith("."):
        file += "_"
    return file[:_LONGEST]


def _marked(file: str, name: str, digits: int) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
    return f"{file[: _LONGEST - digits - 1]}-{digest}"
