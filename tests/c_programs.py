"""C programs and objects that tests build, once each for all processes that run tests."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from required_tools import need, run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion")
SANITIZERS = ("-fsanitize=address,undefined,alignment", "-fno-sanitize-recover=all")


def shared_folder(tmp_path_factory, name: str) -> Path:
    """Make a folder that all processes of one run of tests share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder.mkdir(exist_ok=True)
    return folder


class Workshop:
    """Builds programs and objects once each, into one folder.

    Args:
        folder: where they are put.
        includes: folders of headers.
        known: files that may change what is built, besides the sources that a build names.

    """

    def __init__(self, folder: Path, includes: Sequence[Path], known: Sequence[Path]) -> None:
        self.folder = folder
        self._includes = [f"-I{path}" for path in includes]
        self._version = hashlib.sha256(b"".join(path.read_bytes() for path in known)).hexdigest()

    def program(self, compiler: str, *flags: str, sources: Sequence[Path]) -> Path:
        """Build a program."""
        return self._made(compiler, flags, sources, ".exe")

    def object(self, compiler: str, *flags: str, source: Path) -> Path:
        """Build an object."""
        return self._made(compiler, (*flags, "-c"), (source,), ".o")

    def _made(self, compiler: str, flags: Sequence[str], sources: Sequence[Path], suffix: str) -> Path:
        command = [need(compiler), *flags, *self._includes, *map(str, sources)]
        digest = hashlib.sha256("\0".join([self._version, *command]).encode()).hexdigest()
        made = self.folder / (digest[:24] + suffix)
        if not made.exists():
            part = made.with_suffix(f".{os.getpid()}{suffix}")
            run(*command, "-o", part)
            part.replace(made)
        return made
