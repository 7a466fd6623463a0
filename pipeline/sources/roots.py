"""Where an Ollama store may lie on this machine."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.cache import home_folder
from pipeline.sources.errors import StoreUnreadable
from pipeline.sources.files import is_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

MANIFESTS = "manifests"
MANIFESTS_V2 = "manifests-v2"
"""The newer layout: its files are links to manifests that lie among the blobs."""
BLOBS = "blobs"

_SERVICE = Path("/usr/share/ollama/.ollama/models")
_CONTAINER = Path("/root/.ollama/models")


@dataclass(frozen=True, slots=True)
class StoreRoot:
    """One place to look: the folder that holds `manifests` and `blobs`.

    `origin` says in words why this place is looked at. `private` marks a place that belongs to
    another user as a rule, so that a refusal to look into it means nothing.
    """

    path: Path
    origin: str
    private: bool = False

    def has_store(self) -> bool:
        """Tell whether a store lies here. Raises StoreUnreadable where the system does not say."""
        try:
            return any(is_folder(self.path / name) for name in (MANIFESTS, MANIFESTS_V2, BLOBS))
        except StoreUnreadable:
            if self.private:
                return False
            raise


def store_roots(
    environ: Mapping[str, str] | None = None, platform: str | None = None
) -> tuple[StoreRoot, ...]:
    """List the places in the order they are tried.

    `OLLAMA_MODELS`, when set, is the only one, as it is for Ollama itself: blanks around it and
    then quotes are trimmed. Otherwise the user's `.ollama/models`, and outside Windows and macOS
    the Linux service's place and that of a container, whose user is root.
    """
    environ = os.environ if environ is None else environ
    platform = sys.platform if platform is None else platform
    named = environ.get("OLLAMA_MODELS", "").strip().strip("\"'")
    if named:
        return (StoreRoot(Path(named).absolute(), "OLLAMA_MODELS"),)
    roots = []
    home = home_folder(environ, platform)
    if home is not None:
        roots.append(StoreRoot(home / ".ollama" / "models", "the user's store"))
    if platform not in {"win32", "darwin"}:
        roots.append(StoreRoot(_SERVICE, "the Linux service's store"))
        roots.append(StoreRoot(_CONTAINER, "a container's store", private=True))
    distinct = {root.path: root for root in reversed(roots)}
    return tuple(root for root in roots if distinct[root.path] is root)
