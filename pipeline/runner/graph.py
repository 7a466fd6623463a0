"""The order of a manifest's steps: it follows from what they read and write."""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from formats.errors import shown
from pipeline.manifest.place import Gather
from pipeline.steps.step import MODEL_INPUTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipeline.manifest.load import Manifest
    from pipeline.manifest.steps import StepRequest
    from pipeline.steps.step import Step


@dataclass(frozen=True)
class Node:
    """A step of the manifest in its place among the others.

    Attributes:
        step: its declaration.
        request: what the manifest says of it.
        reads: the model inputs and artifacts that it reads in this manifest.
        providers: for each artifact it reads, the name of the step that writes it.

    """

    step: Step
    request: StepRequest
    reads: tuple[str, ...]
    providers: Mapping[str, str]

    @property
    def name(self) -> str:
        """The step's name."""
        return self.step.name


class Graph:
    """A manifest's steps in an order in which they can run.

    Attributes:
        nodes: by name, every step after the steps it reads from.

    """

    def __init__(self, manifest: Manifest, declarations: Mapping[str, Step]) -> None:
        """Put the steps in order.

        Raises:
            ManifestError: a step reads what no step writes, its parameters contradict each other, or
                `expect` or `budget` names what no step writes.

        """
        problems = Gather()
        requests = {request.name: request for request in manifest.steps}
        nodes: dict[str, Node] = {}
        for name, request in requests.items():
            step = declarations[name]
            for keys, words in step.problems(request.parameters):
                place = manifest.place("steps", name, *keys)
                problems.add(place.error(f"{'.'.join(('steps', name, *keys))}: {words}"))
            reads = step.inputs(request.parameters)
            makers = {
                each: writer_of(each, declarations)
                for each in (*reads, *step.uses)
                if each not in MODEL_INPUTS
            }
            providers = {each: maker for each, maker in makers.items() if maker in requests and maker != name}
            for each in reads:
                if each not in MODEL_INPUTS and each not in providers:
                    problems.add(request.place.error(_no_maker(name, each, makers[each])))
            used = (each for each in step.uses if each in providers)
            nodes[name] = Node(step, request, (*reads, *used), providers)
        wanted = {name: declarations[name] for name in requests}
        for key, artifacts in (("expect", manifest.expect), ("budget", manifest.budget)):
            for artifact in artifacts:
                if writer_of(artifact, wanted) is None:
                    place = manifest.place(key, artifact)
                    problems.add(place.error(f"{key}: no step of this manifest writes {shown(artifact)}"))
        problems.finish()
        order = TopologicalSorter(
            {name: sorted(set(node.providers.values())) for name, node in nodes.items()}
        )
        # Among steps that do not depend on each other the manifest's order stays.
        ready: list[str] = []
        order.prepare()
        position = {name: index for index, name in enumerate(requests)}
        while order.is_active():
            for name in sorted(order.get_ready(), key=position.__getitem__):
                ready.append(name)
                order.done(name)
        self.nodes: Mapping[str, Node] = {name: nodes[name] for name in ready}

    def downstream(self, name: str) -> set[str]:
        """Name a step and every step that depends on it."""
        found = {name}
        for node in self.nodes.values():
            if found & set(node.providers.values()):
                found.add(node.name)
        return found

    def upstream(self, names: set[str]) -> set[str]:
        """Name some steps and every step that they read from, directly or not."""
        found = set(names)
        for node in reversed(list(self.nodes.values())):
            if node.name in found:
                found |= set(node.providers.values())
        return found


def _no_maker(name: str, artifact: str, maker: str | None) -> str:
    """Say why a step cannot read an artifact."""
    if maker is None:
        return f"step {name} reads {shown(artifact)}, which no step writes"
    if maker == name:
        return f"step {name} reads {shown(artifact)}, which is its own artifact"
    return f"step {name} reads {artifact}, which step {maker} writes; add {maker} to the steps"


def writer_of(artifact: str, declarations: Mapping[str, Step]) -> str | None:
    """Name the step that writes an artifact, or None."""
    for name, step in declarations.items():
        if any(declared.covers(artifact) for declared in step.writes):
            return name
    return None
