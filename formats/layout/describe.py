"""A declared layout as rows for people: where each field lies, what it is, what it means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import construct

from formats.layout.fields import Field, Record, fixed_size
from formats.layout.numbers import number_kind
from formats.layout.parts import Blob, Choice, Counted

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field of a record.

    Attributes:
        name: the field's name.
        offset: bytes from the record's start; None behind a field of varying size.
        size: bytes; None where it varies.
        type: as `u32`, `u32[8]`, `bytes[length]`, or the name of a record.
        unit, meaning: as declared.
        rule: what every value must satisfy, in words; empty where anything goes.

    """

    name: str
    offset: int | None
    size: int | None
    type: str
    unit: str
    meaning: str
    rule: str


def field_rows(record: Record) -> Iterator[FieldRow]:
    """List the fields of a record in order."""
    offset: int | None = 0
    for field in record.fields:
        size = fixed_size(field)
        rule = "" if field.rule is None else field.rule.words
        yield FieldRow(field.name, offset, size, type_words(field.subcon), field.unit, field.docs, rule)
        offset = None if offset is None or size is None else offset + size


def type_words(layout: construct.Construct) -> str:
    """Name a layout's type in short.

    >>> type_words(construct.Int16ul)
    'u16'
    """
    if isinstance(layout, Field):
        return type_words(layout.subcon)
    if isinstance(layout, Record):
        return str(layout.name)
    if isinstance(layout, Counted):
        return f"{type_words(layout.subcon)}[{layout.count_field or layout.count}]"
    if isinstance(layout, Blob):
        return f"bytes[{layout.length_field}]"
    if isinstance(layout, construct.Bytes):
        return f"bytes[{layout.length}]"
    if isinstance(layout, Choice):
        return f"by {layout.type_field}"
    if isinstance(layout, construct.FormatField):
        return f"{number_kind(layout)}{layout.length * 8}"
    raise TypeError(f"{layout!r} has no name")


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
        elif isinstance(layout, Choice):
            for case in layout.cases.values():
                visit(case)

    for field in record.fields:
        visit(field.subcon)
    yield from seen.values()
