"""A layout as a Kaitai Struct description (.ksy): parsers in a dozen languages come from it.

Parts that a directory places are instances, read when they are asked for: a list of the declared
field's name, in the directory's order, each with its `entry` and its `body`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import construct
import yaml

from formats.layout import Blob, BytesToEnd, Choice, Counted, Field, KeyedNumber, Lines, Record, Stated, ToEnd
from formats.layout.describe import nested_records
from formats.layout.numbers import number_kind
from formats.layout.placed import Placed
from formats.layout.rules import word_of
from pipeline.schema.names import enumerations, note_of, outer_names, snake

if TYPE_CHECKING:
    from formats.layout import FileLayout
    from formats.layout.placed import Blocks

VERSION = 0.11
"""Of the language: `valid: in-enum` is new in it."""


def kaitai(layout: FileLayout) -> str:
    """Write the description of a file's layout."""
    return yaml.safe_dump(_Exporter(layout).document(), sort_keys=False, allow_unicode=True, width=100)


class _Exporter:
    def __init__(self, layout: FileLayout) -> None:
        self.layout = layout
        self.types: dict[str, Any] = {}

    def document(self) -> dict[str, Any]:
        layout = self.layout
        stem, _, extension = layout.file_name.rpartition(".")
        meta: dict[str, Any] = {"id": layout.name, "title": layout.meaning.rstrip(".")}
        if stem:
            meta["file-extension"] = extension
        meta |= {"endian": "le", "ks-version": VERSION}
        root = self._type(layout)
        for record in nested_records(layout):
            self.types.setdefault(record.name, self._type(record))
        document = {"meta": meta, "doc": layout.meaning, **root}
        if self.types:
            document["types"] = self.types
        enums = {
            known.name: {value: {"id": word.lower()} for value, word in known.members}
            for known in enumerations(layout)
            if not known.is_flags
        }
        return document | ({"enums": enums} if enums else {})

    def _type(self, record: Record) -> dict[str, Any]:
        made: dict[str, Any] = {}
        outer = outer_names(record)
        if outer:
            made["params"] = [{"id": name, "type": "u4"} for name in outer]
        if record is not self.layout:
            made["doc"] = record.meaning
        seq: list[dict[str, Any]] = []
        instances: dict[str, Any] = {}
        for field in record.fields:
            if isinstance(field.subcon, Placed):
                seq += self._place(field, field.subcon, instances)
            else:
                seq.append(self._attribute(field))
        made["seq"] = seq
        if instances:
            made["instances"] = instances
        return made

    def _attribute(self, field: Field) -> dict[str, Any]:
        shape = self._shape(field.subcon, field)
        return {"id": field.name, **shape, **_valid(field), "doc": note_of(field)}

    def _shape(self, layout: construct.Construct, field: Field | None = None) -> dict[str, Any]:
        """Give the keys that say what one attribute is made of."""
        if isinstance(layout, Field):
            return self._shape(layout.subcon, layout)
        if isinstance(layout, Record):
            arguments = ", ".join(outer_names(layout))
            return {"type": f"{layout.name}({arguments})" if arguments else layout.name}
        if isinstance(layout, Counted):
            count = layout.count_field or layout.count
            return {**self._shape(layout.subcon, field), "repeat": "expr", "repeat-expr": count}
        if isinstance(layout, ToEnd):
            return {**self._shape(layout.subcon, field), "repeat": "eos"}
        if isinstance(layout, (construct.Bytes, BytesToEnd, Lines)):
            return _bytes_shape(layout, field)
        if isinstance(layout, Choice):
            return {"type": {"switch-on": layout.type_field, "cases": self._cases(layout)}}
        number = {"f": "f", "i": "s", "u": "u"}[number_kind(layout)] + str(layout.length)
        if field is not None and field.names is not None:
            return {"type": number, "enum": snake(field.names.__name__)}
        return {"type": number}

    def _cases(self, layout: Choice | Placed) -> dict[str, Any]:
        """Give the types of a choice by the values that choose them."""
        cases = {}
        for value, case in layout.cases.items():
            name = f"{snake(type(value).__name__)}::{word_of(value).lower()}"
            if isinstance(case, Counted):
                cases[name] = self._rows(case, word_of(value).lower())
            elif not isinstance(case, Blob):
                cases[name] = self._shape(case)["type"]
        return cases

    def _rows(self, layout: Counted, name: str) -> str:
        """Declare a type for a bare list: in Kaitai a case is a type."""
        record = Record(f"{name}_rows", "Rows of one kind.", Field("rows", layout, "the rows in order"))
        self.types[str(record.name)] = self._type(record)
        return str(self._shape(record)["type"])

    def _place(self, field: Field, placed: Placed, instances: dict[str, Any]) -> list[dict[str, Any]]:
        """Declare what a directory places.

        Returns:
            what has to stand in the sequence, behind the directory.

        """
        seq: list[dict[str, Any]] = []
        body: dict[str, Any] = {"io": "_root._io", "pos": f"entry.{placed.offset_field}"}
        if placed.from_aligned:
            seq = self._base(field.name, placed, instances)
            body["pos"] = f"_root.{field.name}_base + entry.{placed.offset_field}"
        instances[field.name] = {
            "type": f"{field.name}_part(_index)",
            "repeat": "expr",
            "repeat-expr": f"{placed.entries}.size",
            "doc": field.docs,
        }
        sizes = {} if isinstance(placed.size, Stated) else _block_sizes(placed.size)
        body["size"] = f"entry.{placed.size.field}" if isinstance(placed.size, Stated) else "size"
        if placed.cases:
            cases = {value: kind.replace("(", "(entry.") for value, kind in self._cases(placed).items()}
            body["type"] = {"switch-on": f"entry.{placed.kind_field}", "cases": cases}
        entry = {"value": f"_root.{placed.entries}[index]"}
        self.types[f"{field.name}_part"] = {
            "params": [{"id": "index", "type": "s4"}],
            "instances": {"entry": entry, **sizes, "body": body},
        }
        return seq

    def _base(self, name: str, placed: Placed, instances: dict[str, Any]) -> list[dict[str, Any]]:
        """Declare where offsets count from: the first aligned byte behind the directory."""
        align = placed.align
        if isinstance(align, KeyedNumber):
            align = self._keyed_number(f"{name}_alignment", align, instances)
        end = f"{placed.entries}_end"
        instances[end] = {"value": "_io.pos"}
        instances[f"{name}_base"] = {"value": f"({end} + {align} - 1) / {align} * {align}"}
        # The position is kept when it is first asked for, which is here.
        return [{"id": f"{end}_mark", "size": 0, "if": f"{end} >= 0"}]

    def _keyed_number(self, name: str, number: KeyedNumber, instances: dict[str, Any]) -> str:
        """Declare a number that has to be looked for; the language has no loop but `repeat`."""
        probe = f"{name}_probe"
        key = ", ".join(str(byte) for byte in number.key.encode())
        self.types[probe] = {
            "params": [{"id": "index", "type": "s4"}],
            "instances": {"is_found": {"value": f"_root.{number.pairs}[index].key.text == [{key}]"}},
        }
        instances[f"{probe}s"] = {
            "type": f"{probe}(_index)",
            "repeat": "until",
            "repeat-until": f"_.is_found or _.index == {number.pairs}.size - 1",
            "if": f"{number.pairs}.size > 0",
        }
        found = f"{number.pairs}[{probe}s.last.index].value.as<u4>"
        there = f"{number.pairs}.size > 0 and {probe}s.last.is_found"
        instances[name] = {"value": f"({there}) ? {found} : {number.default}"}
        return name


def _bytes_shape(layout: construct.Construct, field: Field | None) -> dict[str, Any]:
    """Give the keys of an attribute that is a run of bytes."""
    if isinstance(layout, BytesToEnd):
        return {"size-eos": True}
    if isinstance(layout, Lines):
        # As bytes: a tokenizer's text may be cut inside a character.
        return {"terminator": 10, "include": True, "eos-error": False, "repeat": "eos"}
    if isinstance(layout, Blob):
        return {"size": layout.length_field}
    only = None if field is None or field.rule is None else field.rule.only
    return {"contents": list(only)} if isinstance(only, bytes) else {"size": layout.length}


def _valid(field: Field) -> dict[str, Any]:
    """Give what the language can check of a field's rule; bytes that never differ are `contents`."""
    rule = field.rule
    if rule is None or isinstance(rule.only, bytes):
        return {}
    if field.names is not None:
        return {"valid": {"in-enum": True}}
    if rule.only is not None:
        return {"valid": rule.only}
    bounds = {name: value for name, value in (("min", rule.low), ("max", rule.high)) if value is not None}
    return {"valid": bounds} if bounds else {}


def _block_sizes(blocks: Blocks) -> dict[str, Any]:
    """Compute a part's size from its shape and its element type."""
    shape, kind = f"entry.{blocks.shape_field}", f"entry.{blocks.type_field}"
    dims = [f"({shape}.size > {axis} ? {shape}[{axis}] : 1)" for axis in range(blocks.max_dims)]

    def by_type(part: int, default: int) -> str:
        cases = [
            f"{kind} == {snake(type(value).__name__)}::{word_of(value).lower()} ? {sizes[part]} : "
            for value, sizes in blocks.block_sizes.items()
        ]
        return "".join(cases) + str(default)

    return {
        "n_elements": {"value": " * ".join(dims)},
        "block_elements": {"value": by_type(0, 1)},
        "block_bytes": {"value": by_type(1, 0), "doc": "0 for a type that is not known"},
        "size": {"value": "n_elements / block_elements * block_bytes"},
    }
