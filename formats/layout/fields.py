"""The words of a declaration: fields with a meaning, and records of them.

Everything here is construct underneath: a `Record` is a `construct.Struct`, a `Field` a
`construct.Renamed`. What they add is the meaning, unit and constraint of each field, which the
printed schema, the annotated dump and the exporters read, and refusals that say where:
construct's own errors carry neither offsets nor array indices, and none of them leaves this module.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import construct

from formats.errors import FormatError, shown
from formats.layout.rules import Rule, member_of

if TYPE_CHECKING:
    from enum import IntEnum, IntFlag

    import numpy as np

    from formats.layout.place import Place

u8, u16, u32, u64 = construct.Int8ul, construct.Int16ul, construct.Int32ul, construct.Int64ul
i8, i16, i32, i64 = construct.Int8sl, construct.Int16sl, construct.Int32sl, construct.Int64sl
f32, f64 = construct.Float32l, construct.Float64l


ROW = "row"
"""What a field follows that is the number of its row."""


def located(error: FormatError, step: str) -> FormatError:
    """Put one more step in front of an error's path, on its way out of nested layouts."""
    if error.path and not error.path.startswith("["):
        error.path = f"{step}.{error.path}"
    else:
        error.path = step + error.path
    return error


class Field(construct.Renamed):  # type: ignore[misc]
    """A named part of a record.

    Attributes:
        name, docs: construct's own: the field's name and its meaning.
        unit: "bytes", "tokens", ... or empty.
        rule: what every value must satisfy, or None.
        names: an enumeration that gives values their words, or None.
        flags: an enumeration of the bits, or None.
        above: where the bits above the flags hold a number: the lowest of them, and its words; or None.
        form: how people read the value: `hex`, `text` (bytes that mostly are one), or empty for as it is.
        absent: the value that stands for none, or None.
        follows: how a table's value follows from the rows: `ROW`, or the name of the field whose sum over
            the rows before it is; else empty.

    """

    def __init__(
        self,
        name: str,
        subcon: construct.Construct,
        meaning: str,
        *,
        unit: str = "",
        rule: Rule | None = None,
        names: type[IntEnum] | None = None,
        is_open: bool = False,
        flags: type[IntFlag] | None = None,
        above: tuple[int, type[IntEnum]] | None = None,
        form: str = "",
        absent: int | None = None,
        follows: str = "",
    ) -> None:
        """Declare a field; with `names` only these values are accepted, unless it `is_open` to others."""
        super().__init__(subcon, newname=name, newdocs=meaning)
        self.unit = unit
        self.names = names
        self.rule = member_of(names) if rule is None and names is not None and not is_open else rule
        self.flags = flags
        self.above = above
        self.form = form
        self.absent = absent
        self.follows = follows
        # construct asks a field of this flag to build itself when the caller gives no value.
        self.flagbuildnone = self.rule is not None and self.rule.only is not None

    def check(self, value: Any, offset: int | None) -> None:
        """Refuse a value that breaks the field's rule.

        Raises:
            FormatError: at `offset`, with the rule's words.

        """
        if self.rule is not None and not self.rule.passes(value):
            raise FormatError(self.rule.words, shown(value), path=self.name, offset=offset)

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        offset = construct.stream_tell(stream, path)
        try:
            value = self.subcon._parsereport(stream, context, path)
        except FormatError as error:
            raise located(error, self.name) from None
        except construct.ConstructError as error:
            raise cut_short(self.subcon, stream, offset, self.name) from error
        self.check(value, offset)
        return value

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        offset = construct.stream_tell(stream, path)
        value = self.rule.only if obj is None and self.rule is not None else obj
        self.check(value, offset)
        try:
            return self.subcon._build(value, stream, context, path)
        except FormatError as error:
            raise located(error, self.name) from None
        except (construct.ConstructError, ValueError) as error:
            raise unfit(self.subcon, value, offset, self.name) from error


class Record(construct.Struct):  # type: ignore[misc]
    """A named run of fields, little-endian and packed.

    Attributes:
        name: the layout's name, in C's manner.
        meaning: one sentence for people.
        fields: the fields in order.
        label: name of the field that says what the record is called in its file, or empty.

    """

    def __init__(self, name: str, meaning: str, *fields: Field, label: str = "") -> None:
        super().__init__(*fields)
        self.name = name
        self.meaning = meaning
        self.label = label
        self.fields: tuple[Field, ...] = fields

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        offset = construct.stream_tell(stream, path)
        if not isinstance(obj, Mapping):
            raise FormatError(f"the fields of {self.name}", shown(obj), offset=offset)
        for field in self.fields:
            if field.name not in obj and not field.flagbuildnone:
                raise FormatError("a value", "none", path=field.name, offset=offset)
        return super()._build(obj, stream, context, path)

    @cached_property
    def size(self) -> int:
        """Bytes of one record.

        Raises:
            TypeError: where records vary in size.

        """
        size = fixed_size(self)
        if size is None:
            raise TypeError(f"{self.name} has no fixed size")
        return size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy dtype of one record: packed, little-endian, names as declared."""
        from formats.layout.dtypes import dtype_of

        return dtype_of(self)

    def head(self) -> Record:
        """Return the record's leading fields of fixed size, as a record of its own."""
        fields = list(itertools.takewhile(lambda field: fixed_size(field) is not None, self.fields))
        return Record(self.name, self.meaning, *fields)

    def member(self, place: Place, name: str) -> Place:
        """Return the place of a field of fixed place, in a record that lies at `place`."""
        return place.field(name, self.offset_of(name))

    def offset_of(self, name: str) -> int:
        """Bytes from the record's start to a field of fixed place."""
        offset = 0
        for field in self.fields:
            if field.name == name:
                return offset
            size = fixed_size(field)
            if size is None:
                break
            offset += size
        raise KeyError(f"{self.name} has no field {name} at a fixed place")

    def read(self, data: Any, offset: int = 0, file: str = "", path: str = "") -> construct.Container:
        """Parse the record that starts at `offset` of `data`.

        Returns:
            construct's Container: fields by attribute.

        Raises:
            FormatError: with file, path and offset in the whole of `data`.

        """
        try:
            return self.parse(bytes(data[offset : offset + self.size]))
        except FormatError as error:
            if path:
                located(error, path)
            error.file = file
            error.offset = offset + (error.offset or 0)
            raise


def fixed_size(subcon: construct.Construct) -> int | None:
    """Bytes of a layout, or None where they depend on the data."""
    try:
        return int(subcon.sizeof())
    except construct.ConstructError:
        return None


def cut_short(layout: construct.Construct, stream: Any, offset: int, path: str) -> FormatError:
    """Make the refusal for a value that starts at `offset` and goes beyond the end of the data."""
    left = max(construct.stream_seek(stream, 0, 2, path) - offset, 0)
    return FormatError(_size_words(layout), f"{left} bytes before the end", path=path, offset=offset)


def unfit(layout: construct.Construct, value: Any, offset: int, path: str) -> FormatError:
    """Make the refusal for a value that its layout cannot hold."""
    return FormatError(f"a value that fits {_size_words(layout)}", shown(value), path=path, offset=offset)


def _size_words(layout: construct.Construct) -> str:
    size = fixed_size(layout)
    return "a whole value" if size is None else f"{size} bytes"


def magic(name: str, value: bytes, meaning: str) -> Field:
    """Declare bytes that never differ."""
    rule = Rule(f"{value.decode('ascii')!r} ({shown(value)})", lambda found: found == value, value)
    return Field(name, construct.Bytes(len(value)), meaning, rule=rule, form="text")


def reserved(name: str, size: int) -> Field:
    """Declare bytes that are zero, until a later version gives them a meaning."""
    zeros = bytes(size)
    rule = Rule(f"{size} zero bytes", lambda found: found == zeros, zeros)
    return Field(name, construct.Bytes(size), "zero", rule=rule)
