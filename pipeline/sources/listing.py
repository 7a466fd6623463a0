"""What the stores hold: every model, the broken ones with their reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.errors import PipelineError
from pipeline.sources.errors import path_words
from pipeline.sources.lookup import manifests_in
from pipeline.sources.store import OllamaModel, open_manifest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipeline.sources.lookup import Trouble
    from pipeline.sources.roots import StoreRoot


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One line of the list: a model, or what is wrong with it.

    Attributes:
        name: the short name; a folder's path where that folder cannot be read.
        root: the store's folder.
        model: the model, or None where it cannot be used.
        problem: why it cannot be used, in one line; empty where it can.

    """

    name: str
    root: Path
    model: OllamaModel | None
    problem: str = ""


def list_models(roots: Sequence[StoreRoot]) -> list[ListedModel]:
    """List every model that a name reaches, by name; never raises for a broken one.

    Manifests and the sizes of blobs are looked at, no blob is read. A model that an earlier store
    has under the same name is left out, for its name leads to that one.
    """
    listed: list[ListedModel] = []
    seen = set()
    for root in roots:
        trouble: list[Trouble] = []
        try:
            files = list(manifests_in(root, trouble=trouble)) if root.has_store() else []
        except PipelineError as error:
            files, trouble = [], [(root.path, error)]
        listed += (ListedModel(path_words(path), root.path, None, str(error)) for path, error in trouble)
        for file in files:
            if file.name in seen:
                continue
            seen.add(file.name)
            try:
                listed.append(ListedModel(file.name.short, root.path, open_manifest(file)))
            except PipelineError as error:
                listed.append(ListedModel(file.name.short, root.path, None, str(error)))
    return sorted(listed, key=lambda line: (line.name.lower(), line.name))
