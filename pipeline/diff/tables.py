"""Two tables: their columns compared at once, their rows aligned where some were put in or left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.byte_strings import ByteStrings
from formats.layout import ROW, Record
from formats.layout.tree import Leaf, Rows, Strings, Table
from pipeline.diff.alignment import Alignment, align, numbered
from pipeline.diff.changes import ADDED, CHANGED, REMOVED, Change, Changes
from pipeline.dump.values import text_words, value_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from formats.layout import Field


@dataclass(frozen=True)
class Side:
    """One of the two tables.

    Attributes:
        count: rows.
        columns: by field; each of shape (count,). The column of bare numbers has no name.
        follows: what a field follows, as declared, by its name.
        text, length: names of the field that is a string and of the one that holds its length, or empty.
        strings: the strings, or None.
        words: says what a field of a row holds, or the whole row without a field's name.
        token: gives a row's token, or nothing.

    """

    count: int
    columns: dict[str, NDArray[Any]]
    follows: dict[str, str]
    text: str
    length: str
    strings: ByteStrings | None
    words: Callable[[int, str], str]
    token: Callable[[int], str]


def side_of(table: Table, data: memoryview, token: Callable[[int], str]) -> Side:
    """Take a table of a file for comparison."""
    layout = table.layout
    names = table.columns.dtype.names or ()
    columns = {name: table.columns[name] for name in names} if names else {}
    if isinstance(table, Rows) and not names:
        columns = {"": table.columns}
    fields: Sequence[Field] = layout.fields if isinstance(layout, Record) else ()
    text, length, strings = "", "", None
    if isinstance(table, Strings):
        if fields:
            text, length = fields[-1].name, fields[-1].subcon.length_field
        strings = ByteStrings(np.frombuffer(data, dtype=np.uint8), table.starts, table.lengths)

    def words(row: int, name: str) -> str:
        part = table.row(row)
        if isinstance(part, Leaf):
            return value_words(part)
        found = [inner for inner in getattr(part, "parts", []) if isinstance(inner, Leaf)]
        if name:
            return next(value_words(leaf) for leaf in found if leaf.path.endswith(f".{name}"))
        return ", ".join(f"{leaf.path.rpartition('.')[2]} {value_words(leaf)}" for leaf in found)

    follows = {known.name: known.follows for known in fields if known.follows}
    return Side(table.count, columns, follows, text, length, strings, words, token)


def strings_side(strings: ByteStrings, token: Callable[[int], str]) -> Side:
    """Take a list of strings for comparison."""

    def words(row: int, _name: str) -> str:
        return text_words(strings[row])

    return Side(len(strings), {}, {}, "", "", strings, words, token)


def compare_tables(first: Side, second: Side, section: str, path: str, changes: Changes) -> None:
    """Count and keep what differs between two tables."""
    _Comparison(first, second, section, path, changes).compare()


class _Comparison:
    def __init__(self, first: Side, second: Side, section: str, path: str, changes: Changes) -> None:
        self.first = first
        self.second = second
        self.section = section
        self.path = path
        self.changes = changes

    def compare(self) -> None:
        first, second = self.first, self.second
        if first.count != second.count:
            self._report_alignment(_aligned(first, second))
            return
        masks = _masks(first, second)
        number = int(np.count_nonzero(np.logical_or.reduce([*masks.values(), np.zeros(first.count, bool)])))
        # Rows that were shifted differ nearly all: then they are looked for at their new places.
        if number > 2 and 2 * number > first.count:
            aligned = _aligned(first, second)
            if aligned.size < number:
                self._report_alignment(aligned)
                return
        self._report_masks(masks)

    def _report_masks(self, masks: dict[str, NDArray[np.bool_]]) -> None:
        for name, mask in masks.items():
            rows = np.flatnonzero(mask)
            self.changes.count(self.section, CHANGED, len(rows), name)
            room = max(self.changes.room(self.section), 0)
            for row in rows[: min(room, len(rows))].tolist():
                self.changes.keep(self._changed(row, row, name))

    def _changed(self, one: int, other: int, name: str) -> Change:
        step = f".{name}" if name else ""
        old, new = self.first.words(one, name), self.second.words(other, name)
        token = self.second.token(other)
        return Change(CHANGED, self.section, f"{self.path}[{other}]{step}", old, new, token)

    def _report_alignment(self, aligned: Alignment) -> None:
        for one, other in aligned.pairs:
            for name in _differing(self.first, self.second, one, other):
                self._add_changed(one, other, name)
        for name in self.first.follows:
            self._report_misplaced(aligned, name)
        for kind, side, rows in ((REMOVED, self.first, aligned.removed), (ADDED, self.second, aligned.added)):
            for row in rows:
                has_room = self.changes.room(self.section) > 0
                words = side.words(row, "") if has_room else ""
                old, new = (words, "") if kind == REMOVED else ("", words)
                token = side.token(row) if has_room else ""
                self.changes.add(Change(kind, self.section, f"{self.path}[{row}]", old, new, token))

    def _report_misplaced(self, aligned: Alignment, name: str) -> None:
        """Report values that do not follow from their place, in a table whose rows were shifted."""
        rows = np.setdiff1d(np.arange(self.first.count), aligned.removed)
        others = np.setdiff1d(np.arange(self.second.count), aligned.added)
        differ = _residual(self.first, name)[rows] != _residual(self.second, name)[others]
        for one, other in zip(rows[differ].tolist(), others[differ].tolist(), strict=True):
            self._add_changed(one, other, name)

    def _add_changed(self, one: int, other: int, name: str) -> None:
        if self.changes.room(self.section) > 0:
            self.changes.add(self._changed(one, other, name), name)
        else:
            self.changes.count(self.section, CHANGED, 1, name)


def _masks(first: Side, second: Side) -> dict[str, NDArray[np.bool_]]:
    """Tell for each field in which rows it differs: shape (count,), bool."""
    masks = {}
    for name, column in first.columns.items():
        other = second.columns[name]
        mask = column != other
        if mask.ndim > 1:
            mask = mask.any(axis=tuple(range(1, mask.ndim)))
        if name in first.follows:
            mask = _unexplained(mask, _residual(first, name) != _residual(second, name))
        masks[name] = mask
    if first.strings is not None and second.strings is not None:
        masks[first.text] = _strings_differ(first.strings, second.strings)
        if first.length:
            del masks[first.length]  # it follows from the string
    return masks


def _unexplained(changed: NDArray[np.bool_], breaks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell where values changed otherwise than those before them.

    A longer string moves every string behind it. Where the next row does not move along, what seemed to follow
    is a change of its own.

    Args:
        changed: shape (count,): whether a row's value differs.
        breaks: shape (count,): whether its distance from what follows from the row before does.

    """
    mask: NDArray[np.bool_] = changed & breaks
    moved = np.flatnonzero(changed & ~breaks)
    others = np.append(np.flatnonzero(~changed | breaks), len(changed))
    behind = others[np.searchsorted(others, moved)]
    stays = np.append(breaks & ~changed, False)  # behind the last row nothing stays
    mask[moved[stays[behind]]] = True
    return mask


def _residual(side: Side, name: str) -> NDArray[np.int64]:
    """Tell by how much a field is not what follows from the rows."""
    column = side.columns[name].astype(np.int64)
    if side.follows[name] == ROW:
        return column - np.arange(side.count)
    step = side.columns[side.follows[name]].astype(np.int64)
    expected = np.zeros(side.count, dtype=np.int64)
    expected[1:] = column[:-1] + step[:-1]
    return column - expected


def _strings_differ(first: ByteStrings, second: ByteStrings) -> NDArray[np.bool_]:
    differ: NDArray[np.bool_] = first.lengths != second.lengths
    alike = np.flatnonzero(~differ)
    one, other = first.take(alike), second.take(alike)
    wrong = np.frombuffer(one.joined(), np.uint8) != np.frombuffer(other.joined(), np.uint8)
    if wrong.any():
        at = np.flatnonzero(wrong)
        differ[alike[np.searchsorted(np.cumsum(one.lengths), at, side="right")]] = True
    return differ


def _aligned(first: Side, second: Side) -> Alignment:
    return align(*numbered(_keys(first), _keys(second)))


def _keys(side: Side) -> Sequence[Any]:
    """Give each row as a value to compare, without what follows from its place."""
    columns = [column.tolist() for name, column in side.columns.items() if name not in side.follows]
    if side.strings is not None:
        columns.append(list(side.strings))
    return list(zip(*columns, strict=True))


def _differing(first: Side, second: Side, one: int, other: int) -> list[str]:
    """List the fields in which two rows that stand for each other differ."""
    names = [
        name
        for name, column in first.columns.items()
        if name not in first.follows and np.any(column[one] != second.columns[name][other])
    ]
    if first.strings is not None and second.strings is not None:
        names = [name for name in names if name != first.length]
        names += [first.text] if first.strings[one] != second.strings[other] else []
    return names
