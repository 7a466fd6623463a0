"""Why a step has to run: what it depends on differs from what its artifacts were made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from formats.errors import shown
from pipeline.manifest.parameters import as_json
from pipeline.runner.fingerprint import tool_version
from pipeline.runner.known_files import is_inside
from pipeline.steps.step import MODEL, MODEL_KIND, MODEL_LAYERS, MODEL_PRE
from pipeline.text_output import json_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pipeline.runner.graph import Node
    from pipeline.runner.outputs import OutputFolder
    from pipeline.runner.record import StepRecord

_SHORT = 12
_WORDS = {
    MODEL: "the model",
    MODEL_KIND: "the kind of source",
    MODEL_PRE: "model.pre",
    MODEL_LAYERS: "the model's other layers",
}


def plain_parameters(node: Node) -> dict[str, Any]:
    """Give a step's parameters as the record holds them."""
    return {name: as_json(value) for name, value in node.request.parameters.items()}


def reasons_to_run(
    node: Node, inputs: Mapping[str, str], known: StepRecord | None, folder: OutputFolder
) -> list[str]:
    """Say why a step's artifacts are not what a run would make; an empty list where they are.

    Args:
        node: the step.
        inputs: a digest for each thing the step reads.
        known: what the build record says of the step.
        folder: where its artifacts are.

    """
    if known is None:
        return ["not made yet"]
    return [
        *_tool_reasons(node, known),
        *_parameter_reasons(plain_parameters(node), known.parameters),
        *_input_reasons(inputs, known.inputs),
        *_record_reasons(node, known),
        *_artifact_reasons(node, known, folder),
    ]


def grounds(node: Node, inputs: Mapping[str, str], known: StepRecord) -> list[str]:
    """Say of a step that need not run what was compared: a line for each thing it depends on."""
    parameters = plain_parameters(node)
    count = len(known.artifacts)
    return [
        f"the tool is {known.tool}, the step's version {known.version}, as before",
        *(f"{name} is {json_line(value)}, as before" for name, value in parameters.items()),
        *(f"{_WORDS.get(name, name)}: as before{_words_of(value)}" for name, value in inputs.items()),
        f"{count} artifact{'s are' if count != 1 else ' is'} there as written",
    ]


def _words_of(value: str) -> str:
    short = value.removeprefix("sha256:")[:_SHORT]
    return f" ({short})" if short else ""


def _tool_reasons(node: Node, known: StepRecord) -> Iterator[str]:
    if known.version != node.step.version:
        yield f"the step's version was {known.version}, is {node.step.version}"
    if known.tool != tool_version():
        yield f"the tool was {known.tool}, is {tool_version()}"


def _parameter_reasons(now: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[str]:
    for name in {**before, **now}:
        words = [json_line(values.get(name)) for values in (before, now)]
        if words[0] != words[1]:
            yield "{} was {}, is {}".format(name, *words)


def _input_reasons(now: Mapping[str, str], before: Mapping[str, str]) -> Iterator[str]:
    for name in {**before, **now}:
        if before.get(name) != now.get(name):
            yield f"{_WORDS.get(name, name)} changed{_change(before.get(name), now.get(name))}"


def can_write(node: Node, name: str) -> bool:
    """Tell whether a file can be an artifact of a step; a damaged record may say what it likes."""
    return is_inside(name) and any(artifact.covers(name) for artifact in node.step.writes)


def _record_reasons(node: Node, known: StepRecord) -> Iterator[str]:
    listed = {artifact.name for artifact in known.artifacts}
    for artifact in node.step.writes:
        if not (artifact.optional or artifact.is_folder or artifact.name in listed):
            yield f"the record lists no {artifact.name}"
    for name in sorted(listed):
        if not can_write(node, name):
            yield f"the record lists {shown(name)}, which is no artifact of it"


def _artifact_reasons(node: Node, known: StepRecord, folder: OutputFolder) -> Iterator[str]:
    for artifact in known.artifacts:
        if not can_write(node, artifact.name):
            continue
        found = folder.known.digest(artifact.name)
        if found is None:
            yield f"{artifact.name} is missing"
        elif found != artifact.sha256:
            yield f"{artifact.name} was edited"


def _change(before: str | None, now: str | None) -> str:
    if not before or not now:
        return ""
    short = (digest.removeprefix("sha256:")[:_SHORT] for digest in (before, now))
    return " ({} -> {})".format(*short)
