"""Kinds of values inside a step's parameters: mappings with known keys, names of C."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from pipeline.manifest.kinds import END, read_text
from pipeline.manifest.nodes import Mapping, Node, refusal
from pipeline.manifest.parameters import Parameter, parameters_schema, read_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping as MappingOf

_IDENTIFIER = re.compile(rf"^[A-Za-z][A-Za-z0-9_]*{END}")


class Fields:
    """A mapping with known keys; the value is a read-only mapping of all of them."""

    def __init__(self, *parameters: Parameter) -> None:
        self.parameters = parameters

    def read(self, node: Node, path: str) -> MappingOf[str, object]:
        """Read every key."""
        if not isinstance(node, Mapping):
            raise refusal(node, path, self.words())
        return MappingProxyType(read_parameters(node, path, self.parameters, node.place))

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema."""
        return parameters_schema(self.parameters)

    def words(self) -> str:
        """Describe it in words."""
        return f"a mapping with {', '.join(each.name for each in self.parameters)}"


class Identifier:
    """A name that C, assemblers and CMake take: a letter, then letters, digits and `_`."""

    def read(self, node: Node, path: str) -> str:
        """Read the name."""
        text = read_text(node, path, self.words())
        if not _IDENTIFIER.search(text):
            raise refusal(node, path, self.words())
        return text

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema."""
        return {"type": "string", "pattern": _IDENTIFIER.pattern}

    def words(self) -> str:
        """Describe it in words."""
        return "a name of letters, digits and _ that begins with a letter"
