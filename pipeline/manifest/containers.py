"""Kinds of values that hold others: lists and mappings."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from pipeline.manifest.kinds import Kind, Text
from pipeline.manifest.nodes import Mapping, Node, Scalar, Sequence, child, refusal
from pipeline.manifest.place import Gather

if TYPE_CHECKING:
    from collections.abc import Mapping as MappingOf


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values of one kind; the value is a tuple.

    Attributes:
        kind: of each item.
        at_least: the fewest items.

    """

    kind: Kind[object]
    at_least: int = 0

    def read(self, node: Node, path: str) -> tuple[object, ...]:
        """Read every item; all wrong ones are reported."""
        if not isinstance(node, Sequence):
            single = isinstance(node, Scalar) and not node.is_null
            hint = "write it in brackets, as a list of one: [...]" if single else ""
            raise refusal(node, path, self.words(), hint)
        if len(node.items) < self.at_least:
            raise refusal(node, path, self.words())
        problems, values = Gather(), []
        for index, item in enumerate(node.items):
            with problems:
                values.append(self.kind.read(item, f"{path}[{index}]"))
        problems.finish()
        return tuple(values)

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema."""
        return {"type": "array", "items": self.kind.schema(), "minItems": self.at_least}

    def words(self) -> str:
        """Describe it in words."""
        least = f" of at least {self.at_least}" if self.at_least else ""
        return f"a list{least}, each {self.kind.words()}"


@dataclass(frozen=True, slots=True)
class MapOf:
    """A mapping whose keys are free; the value is a read-only mapping in the manifest's order.

    Nothing behind the colon is an empty mapping: that is what is left of it when every line below is
    commented out.

    Attributes:
        kind: of each value.
        key: of each key.

    """

    kind: Kind[object]
    key: Kind[str] = field(default_factory=Text)

    def read(self, node: Node, path: str) -> MappingOf[str, object]:
        """Read every key and value; all wrong ones are reported."""
        if isinstance(node, Scalar) and node.is_null:
            return MappingProxyType({})
        if not isinstance(node, Mapping):
            raise refusal(node, path, self.words())
        problems, values = Gather(), {}
        for entry in node.entries:
            with problems:
                name = self.key.read(entry.key, f"{path}: key")
                values[name] = self.kind.read(entry.value, child(path, name))
        problems.finish()
        return MappingProxyType(values)

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema."""
        return {
            "type": ["object", "null"],
            "propertyNames": self.key.schema(),
            "additionalProperties": self.kind.schema(),
        }

    def words(self) -> str:
        """Describe it in words."""
        return f"a mapping of {self.key.words()} to {self.kind.words()}"
