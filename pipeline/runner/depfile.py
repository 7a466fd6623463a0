"""What a run depends on, as a rule of Make, for build tools: Make, Ninja, CMake.

The rule has an empty one for each input behind it, as compilers write with -MP: an input that is gone
makes the target out of date instead of stopping Make.

Names with blanks are escaped. There is no one way to write `:`, `#`, `$` or `%` for all of these tools, and CMake
passes some on wrongly; an input of such a name (a store's folder `localhost:5000`) is named by a link beside the
depfile, whose time is that of what it leads to.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from formats.errors import shown
from pipeline.errors import UsageError
from pipeline.runner.fingerprint import tool_sources
from pipeline.runner.inputs import Inputs
from pipeline.runner.single_file import replace_file
from pipeline.sources.trees import files_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipeline.manifest.load import Manifest
    from pipeline.runner.graph import Graph
    from pipeline.sources.source import Source

_DIGITS = 16
_DISPUTED = re.compile(r"[:#$%]")
_DRIVE = re.compile(r"[A-Za-z]:(?=[\\/])")


def depfile(target: str, inputs: Sequence[str]) -> str:
    """Write a rule.

    Raises:
        UsageError: a name that Make cannot have.

    """
    names = [_escaped(name) for name in inputs]
    rule = " \\\n ".join((f"{_escaped(target)}:", *names))
    return "\n".join((rule, *(f"{name}:" for name in names))) + "\n"


def inputs_of(manifest: Manifest, graph: Graph, source: Source) -> list[str]:
    """List what a run depends on, as absolute paths: manifest, model, store, files that steps read, tool."""
    paths = [manifest.path, source.path]
    if source.ollama is not None:
        # It names every layer by its digest.
        paths.append(source.ollama.manifest)
    inputs = Inputs(manifest, source)
    for node in graph.nodes.values():
        for root in inputs.paths(node).values():
            # A folder's own time tells of files that come and go.
            paths += dict.fromkeys((root, *(file.path for file in files_of(root))))
    return [os.path.abspath(path) for path in (*paths, *tool_sources())]  # noqa: PTH100  (links stay links)


def write_depfile(path: Path, target: str, inputs: Sequence[str]) -> None:
    """Write a rule into a file, whole or not at all.

    Raises:
        UsageError: a name that Make cannot have.
        MachineError: the file cannot be written.

    """
    folder = path.with_name(f"{path.name}.links")
    _remove_links(folder)
    names = [_link(folder, name) if _DISPUTED.search(_DRIVE.sub("", name)) else name for name in inputs]
    replace_file(path, depfile(target, names).encode("utf-8", "surrogateescape"))


def _remove_links(folder: Path) -> None:
    """Remove the links of the depfile before this one."""
    if folder.is_dir():
        for link in folder.iterdir():
            if link.is_symlink():
                link.unlink()
        with suppress(OSError):  # something else is in it
            folder.rmdir()


def _link(folder: Path, name: str) -> str:
    """Make a link to a file under a name that all build tools read; give the name of the file where none can be."""
    link = folder.absolute() / hashlib.sha256(os.fsencode(name)).hexdigest()[:_DIGITS]
    try:
        folder.mkdir(exist_ok=True)
        link.symlink_to(name)
    except OSError:  # Windows, without the right to
        return name
    return str(link)


def _escaped(name: str) -> str:
    r"""Escape a file's name as compilers do.

    >>> _escaped("a b$c#d")
    'a\\ b$$c\\#d'
    """
    if "\n" in name:
        raise UsageError(f"--depfile: expected names without line ends, found {shown(name)}")
    name = name.replace("\\", "/") if os.path.sep == "\\" else name
    return name.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")
