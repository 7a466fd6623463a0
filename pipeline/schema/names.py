"""Names that the exported forms share, and the enumerations of a layout."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.layout.describe import nested_records
from formats.layout.parts import Blob, Counted, ToEnd
from formats.layout.rules import known_values

if TYPE_CHECKING:
    from collections.abc import Iterator
    from enum import IntEnum, IntFlag

    import construct

    from formats.layout import Field, FileLayout, Record


@dataclass(frozen=True)
class Enumeration:
    """An enumeration that a layout's fields use.

    Attributes:
        name: in small letters: `token_type`.
        members: (value, word), ascending; the word is what a C identifier may hold, in small letters.
        is_flags: whether the values are bits.

    """

    name: str
    members: tuple[tuple[int, str], ...]
    is_flags: bool


def enumeration_of(names: type[IntEnum]) -> Enumeration:
    """Describe an enumeration of values."""
    return Enumeration(snake(names.__name__), tuple(known_values(names)), is_flags=False)


def flags_of(flags: type[IntFlag]) -> Enumeration:
    """Describe an enumeration of bits."""
    members = tuple((int(flag), str(flag.name).lower()) for flag in flags)
    return Enumeration(snake(flags.__name__), members, is_flags=True)


def enumerations(layout: FileLayout) -> list[Enumeration]:
    """List the enumerations of a file's layout, each once, in order of first use."""
    found: dict[str, Enumeration] = {}
    for field in all_fields(layout):
        if field.names is not None:
            found.setdefault(snake(field.names.__name__), enumeration_of(field.names))
        if field.flags is not None:
            found.setdefault(snake(field.flags.__name__), flags_of(field.flags))
        if field.above is not None:
            found.setdefault(snake(field.above[1].__name__), enumeration_of(field.above[1]))
    return list(found.values())


def all_fields(layout: FileLayout) -> Iterator[Field]:
    """List the fields of a file and of everything in it."""
    for record in (layout, *nested_records(layout)):
        yield from record.fields


def records_inside_out(layout: FileLayout) -> list[Record]:
    """List the records of a layout so that each stands behind those it is made of; the file itself is last."""
    ordered: dict[str, Record] = {}

    def visit(record: Record) -> None:
        for inner in nested_records(record):
            if inner.name not in ordered:
                visit(inner)
        ordered.setdefault(record.name, record)

    visit(layout)
    return list(ordered.values())


def prefixed(layout: FileLayout, name: str) -> str:
    """Put the format's name before a name that does not begin with it."""
    return name if name.startswith(layout.name) else f"{layout.name}_{name}"


def element_of(layout: construct.Construct) -> construct.Construct:
    """Give what a list holds, or the layout itself."""
    return layout.subcon if isinstance(layout, (Counted, ToEnd)) else layout


def outer_names(record: Record) -> list[str]:
    """List the fields outside a record that it counts by: those of a directory's entry."""
    inside: set[str] = set()
    outer: dict[str, None] = {}
    for field in record.fields:
        layout = field.subcon
        name = layout.count_field if isinstance(layout, Counted) else None
        name = layout.length_field if isinstance(layout, Blob) else name
        if name is not None and name.partition(".")[0] not in inside:
            outer[name] = None
        inside.add(field.name)
    return list(outer)


def note_of(field: Field) -> str:
    """Give a field's meaning, its unit and its rule in one line."""
    unit = f" [{field.unit}]" if field.unit else ""
    rule = f"; {field.rule.words}" if field.rule is not None else ""
    return f"{field.docs}{unit}{rule}"


def identifier(word: str) -> str:
    """Make a word one that every language takes for a name.

    >>> identifier("general.alignment")
    'general_alignment'
    """
    return re.sub(r"\W", "_", word, flags=re.ASCII)


def snake(name: str) -> str:
    """Write a class's name in small letters.

    >>> snake("TokenType")
    'token_type'
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
