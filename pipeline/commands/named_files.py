"""Files that a call names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.errors import UsageError
from pipeline.sources.errors import path_words

if TYPE_CHECKING:
    from pathlib import Path


def require_there(path: Path) -> Path:
    """Refuse a path that leads to nothing: the call is wrong, not the machine.

    Raises:
        UsageError: nothing is there.

    """
    if not path.exists():
        raise UsageError(f"{path_words(path)}: there is no such file or folder")
    return path
