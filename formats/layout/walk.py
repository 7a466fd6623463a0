"""Reading a file by its declaration as far as it goes: every part with its place, and why it stops.

The readers of the formats refuse a file at its first fault. This one is for looking at files that are
broken: a value that breaks its rule is noted and reading goes on; what has no place or no size ends it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import construct
import numpy as np

from formats.errors import FormatError, shown
from formats.frames import ends_in_string
from formats.layout.describe import type_words
from formats.layout.fields import Field, Record, fixed_size
from formats.layout.lines import Lines
from formats.layout.parts import Blob, BytesToEnd, Choice, Counted, ToEnd, earlier
from formats.layout.placed import Placed
from formats.layout.position import Make, Position, read_lines, read_rows, read_strings
from formats.layout.rules import word_of
from formats.layout.tree import Gap, Group, Items, Leaf, List, Part, Rest, plain

if TYPE_CHECKING:
    from formats.layout.file_layout import FileLayout
    from formats.layout.placed import Span


@dataclass
class Walk:
    """What was found in a file.

    Attributes:
        layout: the declaration it was read by.
        root: the file as a tree.
        stop: why reading ended before the file did, or None.
        broken: values that break their rule, and padding that is not zero; in the file's order, one
            for each column of a table.

    """

    layout: FileLayout
    root: Group
    stop: FormatError | None = None
    broken: list[FormatError] = field(default_factory=list)

    @property
    def faults(self) -> list[FormatError]:
        """All of it."""
        return [*self.broken, *([] if self.stop is None else [self.stop])]


def walk(layout: FileLayout, data: Any, file: str = "") -> Walk:
    """Read a file as far as its declaration leads.

    Args:
        layout: the declaration.
        data: the file: bytes, or anything that gives a flat view of bytes.
        file: its name, for messages.

    """
    view = memoryview(data).cast("B")
    walker = _Walker(view, 0, len(view), file)
    root = walker.record(layout, "", None, {})
    if walker.stop is None and walker.at < len(view):
        walker.fail("", "the end of the file", f"{len(view) - walker.at} bytes more")
    if walker.at < len(view):
        root.parts.append(Rest("", walker.at, len(view) - walker.at))
    root.size = len(view)
    return Walk(layout, root, walker.stop, walker.broken)


class _Walker(Position):
    """Reads what a declaration says, from a position on."""

    def record(self, record: Record, path: str, owner: Field | None, scope: dict[str, Any]) -> Group:
        """Read a record, or its first fields where it is cut short."""
        group = Group(path, self.at, 0, owner, record=record)
        inner: dict[str, Any] = {"_": scope}
        for known in record.fields:
            step = f"{path}.{known.name}" if path else known.name
            part = self.part(known.subcon, step, known, inner)
            if part is not None:
                group.parts.append(part)
                inner[known.name] = plain(part)
            if self.stop is not None:
                break
        group.size = self.at - group.offset
        group.label = _label(group)
        return group

    def part(
        self, layout: construct.Construct, path: str, owner: Field, scope: dict[str, Any]
    ) -> Part | None:
        """Read one part; None where not even its start is there."""
        if isinstance(layout, Field):  # a case of a choice that has a rule of its own
            return self.part(layout.subcon, path, layout, scope)
        if isinstance(layout, Record):
            return self.record(layout, path, owner, scope)
        if isinstance(layout, Choice):
            return self._choice(layout, path, owner, scope)
        if isinstance(layout, Counted):
            count = earlier(layout.count_field)(scope) if layout.count_field else int(layout.count)
            return self._list(layout.subcon, count, path, owner, scope)
        if isinstance(layout, ToEnd):
            return self._list(layout.subcon, None, path, owner, scope)
        if isinstance(layout, Placed):
            return self._placed(layout, path, owner, scope)
        if isinstance(layout, construct.Bytes):
            length = earlier(layout.length_field)(scope) if isinstance(layout, Blob) else int(layout.length)
            return self._bytes(length, path, owner)
        if isinstance(layout, Lines):
            return read_lines(self, layout, path, owner)
        if isinstance(layout, BytesToEnd):
            return self._bytes(self.end - self.at, path, owner)
        return self._number(layout, path, owner)

    def _number(self, layout: construct.FormatField, path: str, owner: Field) -> Leaf | None:
        if not self._has(layout.length, path):
            return None
        (value,) = struct.unpack_from(layout.fmtstr, self.data, self.at)
        return self._leaf(value, layout.length, type_words(layout), path, owner)

    def _bytes(self, size: int, path: str, owner: Field) -> Leaf | None:
        if not self._has(size, path):
            return None
        return self._leaf(self.data[self.at : self.at + size], size, "bytes", path, owner)

    def _has(self, size: int, path: str) -> bool:
        left = self.end - self.at
        if size > left:
            self.fail(path, f"{size} bytes", f"{left} bytes before the end")
        return size <= left

    def _leaf(self, value: Any, size: int, kind: str, path: str, owner: Field) -> Leaf:
        leaf = Leaf(path, self.at, size, owner, value=value, type=kind)
        if owner.rule is not None and not owner.rule.passes(value):
            leaf.fault = owner.rule.words
            self.note(path, self.at, owner.rule.words, shown(value))
        self.at += size
        return leaf

    def _choice(self, choice: Choice, path: str, owner: Field, scope: dict[str, Any]) -> Part | None:
        value = earlier(choice.type_field)(scope)
        case = choice.cases.get(value)
        if case is None:
            known = ", ".join(f"{int(kind)} {word_of(kind)}" for kind in choice.cases)
            self.fail(path, f"a {choice.type_field} of known layout ({known})", str(value))
            return None
        return self.part(case, path, owner, scope)

    def _list(
        self,
        element: construct.Construct,
        count: int | None,
        path: str,
        owner: Field,
        scope: dict[str, Any],
    ) -> List:
        if isinstance(element, Choice):
            value = earlier(element.type_field)(scope)
            case = element.cases.get(value)
            if case is None:
                self._choice(element, path, owner, scope)
                return Items(path, self.at, 0, owner)
            return self._list(case, count, path, owner, scope)
        if isinstance(element, Field):
            return self._list(element.subcon, count, path, element, scope)
        if fixed_size(element) is not None:
            return read_rows(self, element, count, path, owner, make=self._maker(element, path, owner))
        if isinstance(element, Record) and ends_in_string(element) and count is not None:
            return read_strings(self, element, count, path, owner, make=self._maker(element, path, owner))
        items = Items(path, self.at, 0, owner, layout=element)
        index = 0
        while self.stop is None and (self.at < self.end if count is None else index < count):
            part = self.part(element, f"{path}[{index}]", owner, scope)
            if part is not None:
                items.items.append(part)
            index += 1
        items.size, items.count = self.at - items.offset, len(items.items)
        return items

    def _maker(self, element: construct.Construct, path: str, owner: Field) -> Make:
        def make(index: int, offset: int) -> Part:
            walker = _Walker(self.data, offset, len(self.data), self.file)
            part = walker.part(element, f"{path}[{index}]", owner, {})
            if part is None:  # a table holds whole elements only
                raise IndexError(index)
            return part

        return make

    def _placed(self, placed: Placed, path: str, owner: Field, scope: dict[str, Any]) -> Part:
        start = self.at
        entries = scope[placed.entries]
        try:
            base = placed.base(scope, self.at)
            alignment = placed.alignment(scope)
        except (TypeError, ValueError):
            self.fail(path, f"an alignment that is a number ({placed.align_words})", "something else")
            return Items(path, start, 0, owner)
        return self._place(placed, list(placed.spans(list(entries), base)), alignment, path, owner)

    def _place(
        self, placed: Placed, spans: list[Span], alignment: int, path: str, owner: Field
    ) -> Group | Items:
        start, parts, gaps = self.at, [], []
        behind = placed.entries
        for index, span in enumerate(spans):
            step = f"{path}[{index}]"
            if placed.kinds is not None:
                step = f"{path}.{_kind_name(placed, span)}"
            if span.offset < self.at:
                words = f"a start at 0x{self.at:X} or behind, where {behind} ends"
                self.fail(step, words, f"0x{span.offset:X}", span.offset)
                break
            if span.offset > self.end:
                self.fail(step, f"a start inside the file of {self.end} bytes", f"0x{span.offset:X}")
                break
            if span.offset % alignment:
                self.note(step, span.offset, f"a start at a multiple of {alignment}", f"0x{span.offset:X}")
            gaps += self._gap(span.offset, behind)
            size = span.size
            if size is None:  # of unknown type: up to the next part
                later = min((after.offset for after in spans[index + 1 :]), default=self.end)
                size = max(min(later, self.end) - self.at, 0)
            parts.append(self._span(span, size, step, owner))
            behind = step
            if self.stop is not None:
                break
        else:
            gaps += self._gap(min(-(-self.at // alignment) * alignment, self.end), behind)
        if placed.kinds is None:
            items = Items(path, start, self.at - start, owner, count=len(parts), items=parts)
            items.gaps = gaps
            return items
        everything = sorted([*parts, *gaps], key=lambda part: (part.offset, part.size))
        return Group(path, start, self.at - start, owner, parts=everything)

    def _gap(self, to: int, behind: str) -> list[Gap]:
        if to <= self.at:
            return []
        path = f"padding behind {behind}"
        gap = Gap(path, self.at, to - self.at)
        wrong = np.flatnonzero(np.frombuffer(self.data[self.at : to], dtype=np.uint8))
        if len(wrong):
            gap.first_wrong = self.at + int(wrong[0])
            self.note(path, gap.first_wrong, "00", f"{self.data[gap.first_wrong]:02X}")
        self.at = to
        return [gap]

    def _span(self, span: Span, size: int, path: str, owner: Field) -> Part:
        """Read one placed part, which ends where its entry says."""
        label = span.entry.label if isinstance(span.entry, Part) else b""
        if span.offset + size > self.end:
            words = f"{size} bytes"
            self.fail(path, words, f"{self.end - self.at} bytes before the end")
            return Leaf(path, self.at, 0, owner, label, value=self.data[:0], type="bytes")
        end, self.end = self.end, span.offset + size
        part: Part | None
        if span.layout is None:
            part = self._bytes(size, path, owner)
        else:
            part = self.part(span.layout, path, owner, {"_": {}, **_numbers(span.entry)})
        if self.stop is None and self.at < self.end:
            self.fail(path, f"an end at 0x{self.end:X}, as its entry says", f"one at 0x{self.at:X}")
        self.end = end
        if part is None:
            return Leaf(path, self.at, 0, owner, label, value=self.data[:0], type="bytes")
        part.label = part.label or label
        return part


def _kind_name(placed: Placed, span: Span) -> str:
    """Name a part by its kind: `token_index`, or `kind_99` for an unknown one."""
    kind = next((known for known in placed.kinds or () if known == span.kind), None)
    return f"{placed.kind_field}_{span.kind}" if kind is None else word_of(kind)


def _numbers(entry: Any) -> dict[str, Any]:
    """Give the numbers of a directory's entry, by name."""
    parts = entry.parts if isinstance(entry, Group) else []
    return {part.path.rpartition(".")[2]: part.value for part in parts if isinstance(part, Leaf)}


def _label(group: Group) -> bytes:
    """Find what a record is called: the text of the field that names it."""
    name = "" if group.record is None else group.record.label
    found = next((part for part in group.parts if name and part.path == f"{group.path}.{name}"), None)
    if isinstance(found, Group):
        found = next((part for part in found.parts if part.path == f"{found.path}.text"), None)
    return bytes(found.value) if isinstance(found, Leaf) else b""
