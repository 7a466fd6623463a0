"""Which tool made an artifact: its version and the digest of its own sources.

A step is made again when the tool changed. Someone who works on the tool should not have to remember
to count a number up for that, so the sources themselves are the version.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from pipeline.version import VERSION

DISTRIBUTION = "q25-firmware-assets"
_DIGITS = 12
_SOURCES = (".py", ".txt")
"""Modules, and the texts that they come with."""


_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def tool_sources() -> tuple[Path, ...]:
    """List the tool's own sources."""
    folders = (_PACKAGE, _PACKAGE.parent / "formats")
    return tuple(
        source
        for folder in folders
        for source in sorted(path for path in folder.rglob("*") if path.suffix in _SOURCES)
    )


@cache
def tool_version() -> str:
    """Name the tool: `0.1.0+0123456789ab`, the digits from its sources; without sources the version alone."""
    digest = hashlib.sha256()
    for source in tool_sources():
        digest.update(source.relative_to(_PACKAGE.parent).as_posix().encode())
        # A checkout may have other line ends than an installed package.
        digest.update(source.read_bytes().replace(b"\r\n", b"\n"))
    return f"{VERSION}+{digest.hexdigest()[:_DIGITS]}" if tool_sources() else VERSION
