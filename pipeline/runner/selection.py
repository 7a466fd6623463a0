"""Which steps of a manifest a run is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.errors import shown
from pipeline.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.runner.graph import Graph


@dataclass(frozen=True)
class Selection:
    """The steps of a run.

    Attributes:
        wanted: steps that run where they have to.
        needed: those, and every step they read from, directly or not.

    """

    wanted: frozenset[str]
    needed: frozenset[str]


def select(graph: Graph, only: Sequence[str], start: str | None) -> Selection:
    """Choose the steps of a run.

    Args:
        graph: the manifest's steps.
        only: these steps alone; empty for all.
        start: this step and what depends on it; None for all.

    Raises:
        UsageError: a step that the manifest does not name.

    """
    for name in (*only, *([] if start is None else [start])):
        if name not in graph.nodes:
            raise UsageError(f"the manifest has no step {shown(name)}; its steps: {', '.join(graph.nodes)}")
    wanted = set(only) or set(graph.nodes)
    if start is not None:
        wanted &= graph.downstream(start)
    return Selection(frozenset(wanted), frozenset(graph.upstream(wanted)))
