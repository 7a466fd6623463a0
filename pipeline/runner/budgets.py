"""The manifest's `budget`: sizes that artifacts may have at the most."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pipeline.errors import CheckFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipeline.manifest.load import Manifest


class _File(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...


def check_budgets(manifest: Manifest, files: Iterable[_File]) -> None:
    """Hold a step's files against the manifest's `budget`, before they replace anything.

    Raises:
        CheckFailed: a file is larger; by how much, and what takes the most of it.

    """
    for file in files:
        budget = manifest.budget.get(file.name)
        if budget is not None and file.size > budget:
            # Read only where it fails: what the sizes are made of needs numpy.
            from pipeline.sizes import over_budget, parts_of_file

            final = manifest.out / file.name
            parts = parts_of_file(Path(getattr(file, "path", final)), final)
            words = over_budget(file.size, budget, parts)
            raise CheckFailed(f"{manifest.place('budget', file.name)}: budget: {file.name}: {words}")
