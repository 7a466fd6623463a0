"""A position in a file that is looked at, and the lists that are read there as columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from formats.errors import FormatError, shown
from formats.frames import find_frames
from formats.layout.dtypes import dtype_of
from formats.layout.fields import Record
from formats.layout.tree import Leaf, Part, Rows, Strings

if TYPE_CHECKING:
    import construct

    from formats.layout.fields import Field
    from formats.layout.lines import Lines

Make: TypeAlias = Callable[[int, int], Part]
"""Makes the element of a number, at an offset."""


class Position:
    """A place in a file that never goes beyond `end`.

    Attributes:
        data: the whole file.
        at: of the next byte to read.
        end: of what may be read.
        file: the file's name, for messages.
        stop: why nothing more can be read, or None.
        broken: values that break their rule.

    """

    def __init__(self, data: memoryview, at: int, end: int, file: str) -> None:
        self.data = data
        self.at = at
        self.end = end
        self.file = file
        self.stop: FormatError | None = None
        self.broken: list[FormatError] = []

    def fail(self, path: str, expected: str, found: str, offset: int | None = None) -> None:
        """Stop reading."""
        at = self.at if offset is None else offset
        self.stop = FormatError(expected, found, path=path, offset=at, file=self.file)

    def note(self, path: str, offset: int, expected: str, found: str) -> None:
        """Note a value that breaks its rule."""
        self.broken.append(FormatError(expected, found, path=path, offset=offset, file=self.file))


def read_rows(
    position: Position,
    element: construct.Construct,
    count: int | None,
    path: str,
    owner: Field,
    *,
    make: Make,
) -> Rows:
    """Read elements of one size; without a count, up to the end."""
    stride = int(element.sizeof())
    there = (position.end - position.at) // stride
    wanted = there if count is None else count
    rows = Rows(path, position.at, 0, owner, layout=element, stride=stride)
    rows.count = min(wanted, there)
    rows.size = rows.count * stride
    rows.make = make
    rows.columns = np.frombuffer(
        position.data[position.at : position.at + rows.size], dtype=dtype_of(element)
    )
    _check_columns(position, rows, owner)
    position.at += rows.size
    if rows.count < wanted or (count is None and position.at < position.end):
        left = position.end - position.at
        position.fail(f"{path}[{rows.count}]", f"{stride} bytes", f"{left} bytes before the end")
    return rows


def read_strings(
    position: Position, element: Record, count: int, path: str, owner: Field, *, make: Make
) -> Strings:
    """Read records that end in a string of their own length."""
    frames, too_long = find_frames(position.data[: position.end], position.at, count, element)
    found = Strings(path, position.at, frames.end - position.at, owner, layout=element)
    found.head = element.offset_of(element.fields[-1].name)
    found.count = len(frames.strings)
    found.starts, found.lengths = frames.strings.starts, frames.strings.lengths
    found.columns = frames.headers()
    found.make = make
    _check_columns(position, found, owner)
    position.at = frames.end
    if too_long is not None:
        string_at = position.at + found.head
        where = f"{path}[{found.count}].{element.fields[-1].name}"
        position.fail(
            where, f"{too_long} bytes", f"{position.end - string_at} bytes before the end", string_at
        )
    elif found.count < count:
        left = position.end - position.at
        position.fail(f"{path}[{found.count}]", f"{found.head} bytes or more", f"{left} bytes before the end")
    return found


def read_lines(position: Position, layout: Lines, path: str, owner: Field) -> Strings:
    """Read lines of text, up to the end."""
    data = position.data
    text = np.frombuffer(position.data[position.at : position.end], dtype=np.uint8)
    ends = np.flatnonzero(text == ord("\n")).astype(np.int64) + 1
    if len(text) and (not len(ends) or ends[-1] != len(text)):
        ends = np.append(ends, len(text))
    bounds = np.concatenate((np.zeros(1, dtype=np.int64), ends))
    found = Strings(path, position.at, len(text), owner, layout=layout, count=len(ends))
    found.starts, found.lengths = bounds[:-1] + position.at, np.diff(bounds)
    found.columns = np.empty(len(ends), dtype=[])

    def make(index: int, offset: int) -> Part:
        size = int(found.lengths[index])
        line = data[offset : offset + size]
        return Leaf(f"{path}[{index}]", offset, size, owner, value=line, type="line")

    found.make = make
    position.at = position.end
    return found


def _check_columns(position: Position, table: Rows | Strings, owner: Field) -> None:
    """Note the first row of each column that breaks its rule, and how many more do."""
    element = table.layout
    if isinstance(element, Record):
        names = table.columns.dtype.names or ()
        columns = [(known, table.columns[known.name]) for known in element.fields if known.name in names]
    else:
        columns = [(owner, table.columns)]
    for known, column in columns:
        if known.rule is None or column.ndim > 1 or not len(column):
            continue
        wrong = np.flatnonzero(~np.broadcast_to(known.rule.holds(column), column.shape))
        if len(wrong):
            row = int(wrong[0])
            more = f", and {len(wrong) - 1} rows more break this rule" if len(wrong) > 1 else ""
            offset = table.bounds(row)[0]
            step = f"{table.path}[{row}]"
            if isinstance(element, Record):
                offset += element.offset_of(known.name)
                step += f".{known.name}"
            position.note(step, offset, known.rule.words, shown(column[row]) + more)
