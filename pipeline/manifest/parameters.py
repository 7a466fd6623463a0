"""Keys of a mapping declared once: what reads them, what a missing one means, and what they are for."""

from __future__ import annotations

from collections.abc import Mapping as MappingOf
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from formats.errors import shown
from pipeline.manifest.kinds import Kind, any_of, nearest
from pipeline.manifest.nodes import Mapping, child
from pipeline.manifest.place import Gather, Place

if TYPE_CHECKING:
    from collections.abc import Sequence


class Required:
    """The default of a key that has none."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = Required()

RENAMED: dict[str, str] = {}
"""Keys of earlier versions and what they are called now, as `steps.STEP.OLD`: `NEW`."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One key.

    Attributes:
        name: the key.
        kind: what its value may be.
        default: its value where the key is left out, as the kind would read it; None for "not given".
        doc: what it is for, in a line.

    """

    name: str
    kind: Kind[object]
    default: object = REQUIRED
    doc: str = ""

    @property
    def is_required(self) -> bool:
        """Tell whether the key cannot be left out."""
        return self.default is REQUIRED


class StepDeclaration(Protocol):
    """What the manifest has to know of a step."""

    @property
    def name(self) -> str:
        """The step's name in the manifest."""

    @property
    def summary(self) -> str:
        """What it does, in a line."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The keys that it takes."""


def read_parameters(
    node: Mapping | None, path: str, parameters: Sequence[Parameter], place: Place
) -> dict[str, object]:
    """Read a mapping with known keys.

    Args:
        node: the mapping, or None where nothing is given.
        path: the mapping's key, as `--set` names it; empty for the manifest itself.
        parameters: the keys it may have.
        place: what a missing key is reported at.

    Returns:
        A value for every parameter, in the order of their declaration.

    Raises:
        ManifestError: unknown or missing keys, and values that are wrong: all of them.

    """
    problems = Gather()
    names = tuple(parameter.name for parameter in parameters)
    for entry in node.entries if node else ():
        if entry.key.text not in names:
            problems.add(entry.key.place.error(unknown("key", entry.key.text, path, names)))
    values: dict[str, object] = {}
    for parameter in parameters:
        given = node.get(parameter.name) if node else None
        key = child(path, parameter.name)
        if given:
            with problems:
                values[parameter.name] = parameter.kind.read(given.value, key)
        elif parameter.is_required:
            problems.add(place.error(f"{key} is missing; expected {parameter.kind.words()}"))
        else:
            values[parameter.name] = parameter.default
    problems.finish()
    return values


def unknown(what: str, name: str, path: str, known: tuple[str, ...]) -> str:
    """Say that a name is not known, and which one may be meant."""
    line = f"{path}: unknown {what} {shown(name)}" if path else f"unknown {what} {shown(name)}"
    successor = RENAMED.get(f"{path}.{name}" if path else name)
    if successor:
        return f"{line}; it is called {shown(successor)} now"
    near = nearest(name, known)
    if near:
        return f"{line}; did you mean {shown(near)}?"
    return f"{line}; expected {any_of(known)}" if known else f"{line}; it has no {what}s"


def parameters_schema(parameters: Sequence[Parameter]) -> dict[str, object]:
    """Describe a mapping with known keys in JSON Schema."""
    properties: dict[str, object] = {}
    for parameter in parameters:
        described = {"description": parameter.doc, **parameter.kind.schema()}
        if not parameter.is_required and parameter.default is not None:
            described["default"] = as_json(parameter.default)
        properties[parameter.name] = described
    schema: dict[str, object] = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    required = [parameter.name for parameter in parameters if parameter.is_required]
    if required:
        schema["required"] = required
    return schema


def as_json(value: object) -> object:
    """Turn a value that a kind has read into lists, dicts and scalars, as JSON has them."""
    if isinstance(value, tuple):
        return [as_json(item) for item in value]
    if isinstance(value, MappingOf):
        return {key: as_json(item) for key, item in value.items()}
    return value
