"""Parts of a record whose size or shape an earlier field decides: lists, byte runs, choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import construct

from formats.errors import FormatError, shown
from formats.layout.fields import cut_short, located, unfit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Counted(construct.Array):  # type: ignore[misc]
    """A list whose length stands in an earlier field, or is fixed.

    Attributes:
        count_field: name of the field that holds the number of elements, or None.

    """

    def __init__(self, count: int | str, subcon: construct.Construct) -> None:
        super().__init__(count if isinstance(count, int) else earlier(count), subcon)
        self.count_field = None if isinstance(count, int) else count

    def _parse(self, stream: Any, context: Any, path: str) -> construct.ListContainer:
        values = construct.ListContainer()
        for index in range(construct.evaluate(self.count, context)):
            values.append(_parse_element(self.subcon, index, stream, context, path))
        return values

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> construct.ListContainer:
        count = construct.evaluate(self.count, context)
        offset = construct.stream_tell(stream, path)
        if not isinstance(obj, Sequence):
            raise FormatError(f"{count} elements", shown(obj), offset=offset)
        if len(obj) != count:
            raise FormatError(f"{count} elements", f"{len(obj)}", offset=offset)
        return _build_elements(self.subcon, obj, stream, context, path)


class ToEnd(construct.Subconstruct):  # type: ignore[misc]
    """Elements up to the end of the file, which holds a whole number of them."""

    def _parse(self, stream: Any, context: Any, path: str) -> construct.ListContainer:
        values = construct.ListContainer()
        while not construct.stream_iseof(stream):
            values.append(_parse_element(self.subcon, len(values), stream, context, path))
        return values

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> construct.ListContainer:
        if not isinstance(obj, Sequence):
            raise FormatError("elements", shown(obj), offset=construct.stream_tell(stream, path))
        return _build_elements(self.subcon, obj, stream, context, path)

    def _sizeof(self, _context: Any, path: str) -> int:
        raise construct.SizeofError(path=path)


class BytesToEnd(construct.Construct):  # type: ignore[misc]
    """A run of bytes up to the end of the file."""

    def _parse(self, stream: Any, _context: Any, path: str) -> bytes:
        return bytes(construct.stream_read_entire(stream, path))

    def _build(self, obj: Any, stream: Any, _context: Any, path: str) -> bytes:
        if not isinstance(obj, (bytes, bytearray)):
            raise FormatError("bytes", shown(obj), offset=construct.stream_tell(stream, path))
        construct.stream_write(stream, obj, len(obj), path)
        return bytes(obj)


class Blob(construct.Bytes):  # type: ignore[misc]
    """A run of bytes whose length stands in an earlier field.

    Attributes:
        length_field: name of that field.

    """

    def __init__(self, length: str) -> None:
        super().__init__(earlier(length))
        self.length_field = length


class Choice(construct.Switch):  # type: ignore[misc]
    """A value whose layout an earlier field chooses.

    Attributes:
        type_field: name of the field that chooses.
        cases: construct's own: layouts by that field's value.

    """

    def __init__(self, type_field: str, cases: Mapping[Any, construct.Construct]) -> None:
        super().__init__(earlier(type_field), cases)
        self.type_field = type_field


def _parse_element(layout: construct.Construct, index: int, stream: Any, context: Any, path: str) -> Any:
    offset = construct.stream_tell(stream, path)
    try:
        return layout._parsereport(stream, context, path)
    except FormatError as error:
        raise located(error, f"[{index}]") from None
    except construct.ConstructError as error:
        raise cut_short(layout, stream, offset, f"[{index}]") from error


def _build_elements(
    layout: construct.Construct, values: Sequence[Any], stream: Any, context: Any, path: str
) -> construct.ListContainer:
    built = construct.ListContainer()
    for index, value in enumerate(values):
        offset = construct.stream_tell(stream, path)
        try:
            built.append(layout._build(value, stream, context, path))
        except FormatError as error:
            raise located(error, f"[{index}]") from None
        except (construct.ConstructError, ValueError) as error:
            raise unfit(layout, value, offset, f"[{index}]") from error
    return built


def earlier(name: str) -> Callable[[Any], int]:
    """Look up an earlier field of the same record, or of those around it; `header.n_tokens` is a field of one.

    A part of a record that is parsed by itself gets such a field as a keyword: `parse(data, count=26)`.
    """
    first, *inner = name.split(".")

    def find(context: Any) -> int:
        while first not in context and "_" in context:
            context = context["_"]
        value = context[first]
        for step in inner:
            value = value[step]
        return int(value)

    return find
