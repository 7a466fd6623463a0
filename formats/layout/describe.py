"""A declared layout as rows for people: where each field lies, what it is, what it means."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import construct

from formats.layout.fields import ROW, Field, Record, fixed_size
from formats.layout.lines import Lines
from formats.layout.numbers import number_kind
from formats.layout.parts import Blob, BytesToEnd, Choice, Counted, ToEnd
from formats.layout.placed import Placed
from formats.layout.rules import known_values, word_of

if TYPE_CHECKING:
    from collections.abc import Iterator

TO_THE_END = "to the end"


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field of a record.

    Attributes:
        name: the field's name.
        offset: bytes from the record's start; None behind a field of varying size.
        size: bytes; None where it varies.
        type: of one element: `u32`, `bytes`, the name of a record, or `by FIELD` where that field decides.
        count: number of elements, the field that holds it, or `to the end`; empty for one element.
        unit, meaning: as declared.
        rule: what every value must satisfy, in words; empty where anything goes.
        values: (value, word) of the values that have a name.
        cases: (word, type) for each value of the field that decides the type.
        place: where the parts lie, for a field that a directory places; else empty.

    """

    name: str
    offset: int | None
    size: int | None
    type: str
    count: str
    unit: str
    meaning: str
    rule: str
    values: tuple[tuple[int, str], ...]
    cases: tuple[tuple[str, str], ...]
    place: str

    @property
    def notes(self) -> tuple[str, ...]:
        """What a table has no column for."""
        cases = ", ".join(f"{word} {kind}" for word, kind in self.cases)
        lines = [f"{self.name}: {self.place}"] if self.place else []
        return (*lines, f"{self.name}: {self.type}: {cases}") if cases else tuple(lines)

    @property
    def constraint(self) -> str:
        """The rule, or the known values of a field that takes others too."""
        if self.rule or not self.values:
            return self.rule
        return "known: " + ", ".join(f"{value} {word}" for value, word in self.values)


def field_rows(record: Record) -> Iterator[FieldRow]:
    """List the fields of a record in order."""
    offset: int | None = 0
    for field in record.fields:
        size = fixed_size(field)
        yield FieldRow(
            field.name,
            offset,
            size,
            type_words(field.subcon),
            count_words(field.subcon),
            field.unit,
            field.docs,
            _rule_words(field),
            tuple(known_values(field.names)) if field.names is not None else (),
            tuple(_cases(field.subcon)),
            _place_words(field.subcon),
        )
        offset = None if offset is None or size is None else offset + size


def _rule_words(field: Field) -> str:
    if field.rule is not None:
        return field.rule.words
    if field.follows == ROW:
        return "the number of its row"
    return f"the sum of {field.follows} before it" if field.follows else ""


def _cases(layout: construct.Construct) -> Iterator[tuple[str, str]]:
    if isinstance(layout, (Counted, ToEnd)):
        layout = layout.subcon
    if isinstance(layout, (Choice, Placed)):
        for value, case in layout.cases.items():
            count = count_words(case)
            kind = type_words(case) + (f"[{count}]" if count else "")
            yield word_of(value), kind


def _place_words(layout: construct.Construct) -> str:
    if not isinstance(layout, Placed):
        return ""
    start = f"the first aligned byte behind {layout.entries}" if layout.from_aligned else "the file's start"
    return (
        f"each at {layout.offset_field} of its entry of {layout.entries}, from {start}; "
        f"size: {layout.size.words}; alignment: {layout.align_words}; zeros between them"
    )


@cache
def type_words(layout: construct.Construct) -> str:
    """Name the type of a layout, or of its elements, in short.

    >>> type_words(construct.Int16ul)
    'u16'
    """
    if isinstance(layout, (Field, Counted, ToEnd)):
        return type_words(layout.subcon)
    if isinstance(layout, Record):
        return str(layout.name)
    if isinstance(layout, (construct.Bytes, BytesToEnd)):
        return "bytes"
    if isinstance(layout, Lines):
        return "line"
    if isinstance(layout, Choice):
        return f"by {layout.type_field}"
    if isinstance(layout, Placed):
        return "bytes" if layout.kind_field is None else f"by {layout.kind_field}"
    if isinstance(layout, construct.FormatField):
        return f"{number_kind(layout)}{layout.length * 8}"
    raise TypeError(f"{layout!r} has no name")


def count_words(layout: construct.Construct) -> str:
    """Tell how many elements a layout has; empty for one."""
    if isinstance(layout, Counted):
        return str(layout.count_field or layout.count)
    if isinstance(layout, Blob):
        return layout.length_field
    if isinstance(layout, construct.Bytes):
        return str(layout.length)
    if isinstance(layout, Placed):
        return f"one for each of {layout.entries}"
    return TO_THE_END if isinstance(layout, (ToEnd, BytesToEnd, Lines)) else ""


def nested_records(record: Record) -> Iterator[Record]:
    """List the records that a record's fields are made of, each once, in order of first use."""
    seen: dict[str, Record] = {}

    def visit(layout: construct.Construct) -> None:
        if isinstance(layout, Record):
            if layout.name in seen:
                return
            seen[layout.name] = layout
            for field in layout.fields:
                visit(field.subcon)
        elif isinstance(layout, construct.Subconstruct):
            visit(layout.subcon)
        elif isinstance(layout, (Choice, Placed)):
            for case in layout.cases.values():
                visit(case)

    for field in record.fields:
        visit(field.subcon)
    yield from seen.values()
