"""The parts of a file as rows: every byte in exactly one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.layout.tree import Gap, Group, Items, Leaf, List, Part, Rest, Rows
from pipeline.dump.paths import Selection, select_below
from pipeline.dump.values import bytes_words, json_value, text_words, value_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from formats.layout.walk import Walk

FIRST, LAST = 4, 2
"""Rows that are shown of the two ends of a long table."""
ZERO_RUN = 4
"""That many zero rows in a run, or more, are one row of the dump."""


@dataclass(frozen=True)
class Row:
    """A stretch of bytes and what it is.

    Attributes:
        offset, size: where it lies, in bytes.
        path: the part; a range of rows where several stand in one.
        type: as `u32`; `padding`, or `unread` for what could not be read.
        is_folded: whether it stands for rows that are not shown.
        value: in words.
        plain: for JSON.
        unit, meaning: as declared.
        fault: what the value had to be, where it is not; else empty.

    """

    offset: int
    size: int
    path: str
    type: str
    value: str
    plain: Any
    unit: str = ""
    meaning: str = ""
    fault: str = ""
    is_folded: bool = False


@dataclass(frozen=True)
class Heading:
    """A part of several rows, before them.

    Attributes:
        path: the part.
        words: what it is.

    """

    path: str
    words: str


class RowMaker:
    """Makes the rows of parts.

    Attributes:
        walk: the file.
        data: its bytes.
        whole: whether long tables are shown as a whole.
        name: gives a token's text by its id, or nothing.
        token_list: path of the list whose rows are tokens, or empty.

    """

    def __init__(
        self,
        walk: Walk,
        data: memoryview,
        *,
        whole: bool = False,
        name: Callable[[int], str] | None = None,
        token_list: str = "",
    ) -> None:
        self.walk = walk
        self.data = data
        self.whole = whole
        self.name = name
        self.token_list = token_list

    def rows(self, selection: Selection) -> Iterator[Row | Heading]:
        """List the rows of what a path leads to, in the file's order."""
        part = selection.part
        if selection.rows is None:
            yield from self._part(part)
            return
        if not isinstance(part, List):
            return
        yield self._list_heading(part)
        if selection.below:
            for index in selection.rows:
                yield from self._part(select_below(part.row(index), selection.below))
        else:
            yield from self._range(part, selection.rows)

    def _part(self, part: Part) -> Iterator[Row | Heading]:
        if isinstance(part, Leaf):
            yield self._leaf(part)
        elif isinstance(part, Gap):
            yield self._gap(part)
        elif isinstance(part, Rest):
            yield self._rest(part)
        elif isinstance(part, Group):
            if part.path:
                yield Heading(part.path, self._group_words(part))
            yield from self._parts(part)
        elif isinstance(part, Items):
            yield self._list_heading(part)
            for inner in sorted([*part.items, *part.gaps], key=lambda inner: (inner.offset, inner.end)):
                yield from self._part(inner)
        elif isinstance(part, List):
            yield self._list_heading(part)
            if self.whole or part.count <= 2 * (FIRST + LAST):
                yield from self._range(part, range(part.count))
            else:
                yield from self._range(part, range(FIRST))
                yield self._folded(part, FIRST, part.count - LAST, "rows")
                yield from self._range(part, range(part.count - LAST, part.count))

    def _parts(self, group: Group) -> Iterator[Row | Heading]:
        for inner in group.parts:
            yield from self._part(inner)

    def _range(self, part: List, rows: range) -> Iterator[Row | Heading]:
        """List rows of a table one by one; runs of zero rows are one."""
        zeros = self._zero_runs(part, rows)
        index = rows.start
        while index < rows.stop:
            stop = zeros.get(index, index)
            if stop - index >= ZERO_RUN:
                yield self._folded(part, index, stop, "zero rows")
                index = stop
                continue
            row = part.row(index)
            made = list(self._parts(row) if isinstance(row, Group) else self._part(row))
            yield from self._named(part, index, made)
            index += 1

    def _named(self, part: List, index: int, made: list[Row | Heading]) -> Iterator[Row | Heading]:
        """Put a token's text beside the first field of its row."""
        if part.path == self.token_list and made and self.name is not None:
            yield Heading(f"{part.path}[{index}]", f"token {index} {self.name(index)}")
        yield from made

    def _zero_runs(self, part: List, rows: range) -> dict[int, int]:
        """Map the first row of each run of zero rows to the row behind it."""
        if not isinstance(part, Rows) or not len(rows):
            return {}
        start, stop = part.bounds(rows.start)[0], part.bounds(rows.stop - 1)[1]
        table = np.frombuffer(self.data[start:stop], dtype=np.uint8).reshape(len(rows), part.stride)
        zero = np.concatenate(([False], ~table.any(axis=1), [False]))
        edges = np.flatnonzero(zero[1:] != zero[:-1]) + rows.start
        return dict(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))

    def _folded(self, part: List, start: int, stop: int, what: str) -> Row:
        first, end = part.bounds(start)[0], part.bounds(stop - 1)[1]
        words = f"{stop - start:,} {what}"
        path = f"{part.path}[{start}:{stop}]"
        return Row(first, end - first, path, part.type, words, None, meaning=part.meaning, is_folded=True)

    def _leaf(self, leaf: Leaf) -> Row:
        words = value_words(leaf)
        declared = leaf.field
        unit = "" if declared is None else declared.unit
        if (
            unit == "token id"
            and self.name is not None
            and declared is not None
            and leaf.value != declared.absent
        ):
            words += f" {self.name(leaf.value)}"
        kind = leaf.type
        if kind == "bytes" and leaf.size != 1:
            kind = f"bytes[{leaf.size}]"
        return Row(
            leaf.offset, leaf.size, leaf.path, kind, words, json_value(leaf), unit, leaf.meaning, leaf.fault
        )

    def _gap(self, gap: Gap) -> Row:
        view = self.data[gap.offset : gap.end]
        words = bytes_words(view, is_text=False)
        wrong = gap.first_wrong
        fault = "" if wrong is None else f"zeros (0x{wrong:X} holds {self.data[wrong]:02X})"
        return Row(gap.offset, gap.size, gap.path, "padding", words, None, fault=fault)

    def _rest(self, rest: Rest) -> Row:
        stop = self.walk.stop
        fault = "" if stop is None else stop.expected
        return Row(rest.offset, rest.size, "", "unread", f"{rest.size:,} bytes", None, fault=fault)

    def _group_words(self, group: Group) -> str:
        label = f" {text_words(group.label)}" if group.label else ""
        kind = "" if group.record is None else group.record.name
        return f"{kind}{label} {_extent(group)}: {group.meaning}".strip()

    def _list_heading(self, part: List) -> Heading:
        rows = f"{part.count:,} {part.type}"
        return Heading(part.path, f"{rows} {_extent(part)}: {part.meaning}")


def _extent(part: Part) -> str:
    return f"({part.size:,} bytes at 0x{part.offset:X})"
