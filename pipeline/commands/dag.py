"""Show which step reads from which, in the order in which they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.commands.command import Command
from pipeline.commands.console import say
from pipeline.commands.manifest_arguments import add_manifest_arguments, load

if TYPE_CHECKING:
    import argparse

    from pipeline.runner.graph import Graph, Node


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_manifest_arguments(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--mermaid", action="store_true", help="as a Mermaid flow chart")
    form.add_argument("--dot", action="store_true", help="as a Graphviz graph")


def run(arguments: argparse.Namespace) -> int:
    """Print the graph."""
    _, graph = load(arguments)
    if arguments.mermaid:
        lines = [
            "flowchart LR",
            *(f'  {source} -->|"{what}"| {target}' for source, target, what in _edges(graph)),
        ]
    elif arguments.dot:
        lines = ["digraph pipeline {", "  rankdir=LR;"]
        lines += [f'  "{source}" -> "{target}" [label="{what}"];' for source, target, what in _edges(graph)]
        lines += ["}"]
    else:
        lines = [_text(node) for node in graph.nodes.values()]
    say("\n".join(lines))
    return 0


def _edges(graph: Graph) -> list[tuple[str, str, str]]:
    """List from where to where what flows; one edge for each pair of ends."""
    edges: dict[tuple[str, str], list[str]] = {}
    for node in graph.nodes.values():
        for name in node.reads:
            edges.setdefault((node.providers.get(name, "model"), node.name), []).append(name)
    return [(source, target, ", ".join(names)) for (source, target), names in edges.items()]


def _text(node: Node) -> str:
    reads = ", ".join(node.reads)
    writes = ", ".join(artifact.name for artifact in node.step.writes)
    return f"{node.name}\n  reads  {reads}\n  writes {writes}"


COMMAND = Command(
    "dag", "show the steps of a manifest and what flows between them", __doc__, add_arguments, run
)
