"""The manifest's `steps:`: a list of step names, each with its parameters or none."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from formats.errors import shown
from pipeline.manifest.nodes import Mapping, Node, Scalar, Sequence, refusal
from pipeline.manifest.parameters import (
    Parameter,
    StepDeclaration,
    parameters_schema,
    read_parameters,
    unknown,
)
from pipeline.manifest.place import Gather, Place

if TYPE_CHECKING:
    from collections.abc import Mapping as MappingOf


@dataclass(frozen=True, slots=True)
class StepRequest:
    """A step that a manifest asks for.

    Attributes:
        name: of the step.
        parameters: a value for each parameter of the step, in the order of their declaration, the
            defaults filled in. Lists are tuples, mappings are read-only.
        place: of the step's name.

    """

    name: str
    parameters: MappingOf[str, object]
    place: Place


class StepList:
    """The list behind `steps:`.

    Args:
        declarations: the steps that there are, by name.

    """

    def __init__(self, declarations: MappingOf[str, StepDeclaration]) -> None:
        self.declarations = declarations

    def read(self, node: Node, path: str) -> tuple[StepRequest, ...]:
        """Read the list, each step at most once."""
        if not isinstance(node, Sequence):
            hint = "begin each step with '- '" if isinstance(node, Mapping) else ""
            raise refusal(node, path, self.words(), hint)
        if not node.items:
            raise refusal(node, path, self.words())
        problems, requests = Gather(), dict[str, StepRequest]()
        first_places = dict[str, Place]()
        for item in node.items:
            with problems:
                name = self._name(item, path)
                first = first_places.setdefault(name.text, name.place)
                if first is not name.place:
                    raise name.place.error(
                        f"{path}: the step {name.text} is given twice; it stands at {first} already"
                    )
                given = item.entries[0].value if isinstance(item, Mapping) else None
                requests[name.text] = self._request(name, given, path)
        problems.finish()
        return tuple(requests.values())

    def _name(self, item: Node, path: str) -> Scalar:
        expected = "a step's name, or its name and parameters as NAME: {KEY: VALUE}"
        if isinstance(item, Mapping) and len(item.entries) == 1:
            name = item.entries[0].key
        elif isinstance(item, Scalar) and not item.is_null:
            name = item
        elif isinstance(item, Mapping) and item.entries:
            first, second = item.entries[:2]
            raise second.key.place.error(
                f"{path}: expected {expected}, found {shown(second.key.text)} beside "
                f"{shown(first.key.text)}; indent a step's parameters further than its name"
            )
        else:
            raise refusal(item, path, expected)
        if name.text not in self.declarations:
            raise name.place.error(unknown("step", name.text, path, tuple(self.declarations)))
        return name

    def _request(self, name: Scalar, parameters: Node | None, path: str) -> StepRequest:
        declared = self.declarations[name.text].parameters
        path = f"{path}.{name.text}"
        if isinstance(parameters, Scalar) and parameters.is_null:
            parameters = None
        if parameters is not None and not isinstance(parameters, Mapping):
            keys = ", ".join(parameter.name for parameter in declared)
            raise refusal(parameters, path, f"a mapping of parameters ({keys})" if keys else "no parameters")
        values = read_parameters(parameters, path, declared, name.place)
        return StepRequest(name.text, MappingProxyType(values), name.place)

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema."""
        steps = self.declarations.values()
        names = [step.name for step in steps if not _required(step)]
        bare = [{"enum": names}] if names else []
        with_parameters = {
            "type": "object",
            "properties": {step.name: _step_schema(step) for step in steps},
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
        }
        at_most_once = [
            {
                "contains": {"anyOf": [{"const": name}, {"type": "object", "required": [name]}]},
                "minContains": 0,
                "maxContains": 1,
            }
            for name in self.declarations
        ]
        return {
            "type": "array",
            "minItems": 1,
            "items": {"anyOf": [*bare, with_parameters]},
            "allOf": at_most_once,
        }

    def words(self) -> str:
        """Describe it in words."""
        return "a list of steps, each at most once"


def _required(step: StepDeclaration) -> list[Parameter]:
    return [parameter for parameter in step.parameters if parameter.is_required]


def _step_schema(step: StepDeclaration) -> dict[str, object]:
    parameters = parameters_schema(step.parameters)
    if _required(step):
        return {"description": step.summary, **parameters}
    return {"description": step.summary, **parameters, "type": ["object", "null"]}
