"""Two output folders: which files are in one only, and which differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_OWN = ".pipeline"
"""The tool's own folder inside an output folder."""


def files_in(root: Path) -> dict[str, Path]:
    """List a folder's files by their names in it, without the tool's own."""
    found = sorted(path for path in root.rglob("*") if path.is_file())
    names = {path.relative_to(root).as_posix(): path for path in found}
    return {name: path for name, path in names.items() if not name.startswith(f"{_OWN}/")}


def same_bytes(first: Path, second: Path) -> bool:
    """Tell whether two files hold the same bytes."""
    from pipeline.artifact_files import map_bytes

    if first.stat().st_size != second.stat().st_size:
        return False
    one, other = map_bytes(first), map_bytes(second)
    block = 1 << 24
    return all(one[at : at + block] == other[at : at + block] for at in range(0, len(one), block))
