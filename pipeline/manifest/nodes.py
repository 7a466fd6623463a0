"""A manifest as a tree: texts, lists and mappings, each with its place; and how a refusal shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from formats.errors import shown
from pipeline.manifest.implicit import misread

if TYPE_CHECKING:
    from pipeline.manifest.place import ManifestError, Place


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value as it is written; what it means is for the reader of that key to say.

    Attributes:
        place: of its first character.
        text: without quotes, escapes resolved.
        plain: True when it stands without quotes.

    """

    place: Place
    text: str
    plain: bool = True

    @property
    def is_null(self) -> bool:
        """Tell whether nothing was given: no value at all, `~` or `null`."""
        return self.plain and misread(self.text) == "nothing"


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    place: Place
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a mapping and its value."""

    key: Scalar
    value: Node


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values, in the order of the file; no key twice."""

    place: Place
    entries: tuple[Entry, ...]

    def get(self, key: str) -> Entry | None:
        """Find the entry of a key."""
        return next((entry for entry in self.entries if entry.key.text == key), None)


Node: TypeAlias = Scalar | Sequence | Mapping


def found(node: Node) -> str:
    """Say in words what stands at a node."""
    if isinstance(node, Sequence):
        return f"a list of {len(node.items)}" if node.items else "an empty list"
    if isinstance(node, Mapping):
        return "a mapping"
    if node.is_null:
        return "nothing"
    if not node.plain:
        return f"the quoted text {shown(node.text)}"
    # What some reader takes for a number or the like is shown bare, as it is written.
    return node.text if misread(node.text) and len(node.text) <= 80 else shown(node.text)


def refusal(node: Node, path: str, expected: str, hint: str = "") -> ManifestError:
    """Make the refusal of a node.

    Args:
        node: what was found, and where.
        path: the key, as `--set` names it.
        expected: in words.
        hint: what to do; empty when that is plain from what was expected.

    """
    line = f"{path}: " if path else ""
    line += f"expected {expected}, found {found(node)}"
    return node.place.error(f"{line}; {hint}" if hint else line)


def child(path: str, key: str) -> str:
    """Name a key below a path; a key with unusual characters is quoted and escaped."""
    name = key if len(key) <= 80 and key and all(c.isalnum() or c in "._-/" for c in key) else shown(key)
    return f"{path}.{name}" if path else name
