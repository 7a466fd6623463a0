"""Two files of one kind as trees: section by section, record by record, field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formats.byte_strings import ByteStrings
from formats.layout.tree import Gap, Group, Items, Leaf, List, Part, Rest, Rows, Table
from pipeline.diff.changes import ADDED, CHANGED, REMOVED, Change, Changes
from pipeline.diff.profiles import profile_words
from pipeline.diff.tables import compare_tables, side_of, strings_side
from pipeline.dump.paths import step
from pipeline.dump.tokens import tokens_of
from pipeline.dump.values import LONGEST, bytes_words, text_words, value_words
from pipeline.sizes import UNREAD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipeline.artifact_files import ArtifactFile
    from pipeline.dump.tokens import Tokens


def compare_files(first: ArtifactFile, second: ArtifactFile, limit: int = 0) -> Changes:
    """Find what differs between two files of one format.

    Args:
        first: the old one.
        second: the new one.
        limit: changes that are kept of each section, or 0 for all; all are counted.

    """
    return _Comparison(first, second, Changes(limit)).compare()


class _Comparison:
    def __init__(self, first: ArtifactFile, second: ArtifactFile, changes: Changes) -> None:
        self.first = first
        self.second = second
        self.changes = changes
        self.tokens = tokens_of(first), tokens_of(second)

    def compare(self) -> Changes:
        if self.first.data == self.second.data:
            return self.changes
        self._groups(self.first.walk.root, self.second.walk.root, "", "")
        self.changes.note = profile_words((self.first, self.tokens[0]), (self.second, self.tokens[1]))
        if not self.changes.total:
            # Padding of another size, or what follows from a row's place and is wrong alike in both.
            self._runs(self.first.data, self.second.data, "file", "file")
        return self.changes

    def _parts(self, one: Part, other: Part, section: str, path: str) -> None:
        if type(one) is not type(other):
            self._change(section, path, _kind(one), _kind(other))
        elif isinstance(one, Leaf) and isinstance(other, Leaf):
            self._leaves(one, other, section, path)
        elif isinstance(one, Group) and isinstance(other, Group):
            self._groups(one, other, section, path)
        elif isinstance(one, Items) and isinstance(other, Items):
            self._items(one, other, section, path)
        elif isinstance(one, Table) and isinstance(other, Table):
            self._tables(one, other, section, path)
        elif isinstance(one, (Gap, Rest)):
            old, new = self.first.data[one.offset : one.end], self.second.data[other.offset : other.end]
            self._runs(old, new, section, path)

    def _groups(self, one: Group, other: Group, section: str, path: str) -> None:
        """Compare the parts of a record, or of a file, by their names."""
        parts, others = _by_name(one), _by_name(other)
        for name in [*parts, *(name for name in others if name not in parts)]:
            inner = f"{path}.{name}" if path else name
            # The parts of a file are its sections, and so are those that a directory places by name.
            place = inner if not section or one.record is None else section
            self._one_of(parts.get(name), others.get(name), place, inner)

    def _one_of(self, one: Part | None, other: Part | None, section: str, path: str) -> None:
        if one is None and other is not None:
            self.changes.add(Change(ADDED, section, path, new=_kind(other)))
        elif other is None and one is not None:
            self.changes.add(Change(REMOVED, section, path, old=_kind(one)))
        elif one is not None and other is not None:
            strings = self._token_strings(one, other, path)
            if strings:
                sides = [strings_side(known, _any_token) for known in strings]
                compare_tables(sides[0], sides[1], section, f"{path} of token", self.changes)
            else:
                self._parts(one, other, section, path)

    def _items(self, one: Items, other: Items, section: str, path: str) -> None:
        """Compare a list: by the names its elements have in the file, or else one by one."""
        parts, others = _by_label(one), _by_label(other)
        for name in [*parts, *(name for name in others if name not in parts)]:
            self._one_of(parts.get(name), others.get(name), section, f"{path}[{name}]")
        order = [name for name in parts if name in others]
        if order != [name for name in others if name in parts]:
            self._change(section, path, "one order", "another order")
        for gap, other_gap in zip(one.gaps, other.gaps, strict=False):
            if gap.first_wrong != other_gap.first_wrong or gap.first_wrong is not None:
                self._parts(gap, other_gap, section, gap.path)

    def _tables(self, one: Table, other: Table, section: str, path: str) -> None:
        if one.columns.dtype != other.columns.dtype or isinstance(one, Rows) != isinstance(other, Rows):
            self._change(section, path, _kind(one), _kind(other))
            return
        names = [_token_names(self._named(index), one.path) for index in (0, 1)]
        sides = side_of(one, self.first.data, names[0]), side_of(other, self.second.data, names[1])
        compare_tables(*sides, section, path, self.changes)

    def _leaves(self, one: Leaf, other: Leaf, section: str, path: str) -> None:
        if isinstance(one.value, memoryview) and isinstance(other.value, memoryview):
            if max(one.size, other.size) > LONGEST and value_words(one) == value_words(other):
                self._runs(one.value, other.value, section, path)
                return
            same = one.value == other.value
        else:
            # Two that are not a number are alike; so are equal bytes of any other number.
            same = one.value == other.value or (one.value != one.value and other.value != other.value)
        if not same:
            self._change(section, path, value_words(one), value_words(other))

    def _runs(self, one: memoryview, other: memoryview, section: str, path: str) -> None:
        """Compare long runs by how many bytes differ, and where the first does."""
        size = min(len(one), len(other))
        differ = np.flatnonzero(np.frombuffer(one[:size], np.uint8) != np.frombuffer(other[:size], np.uint8))
        if not len(differ) and len(one) == len(other):
            return
        old, new = f"{len(one):,} bytes", f"{len(other):,} bytes"
        if len(differ):
            at = int(differ[0])
            new += f", {len(differ):,} differ"
            old += f", {bytes_words(one[at : at + 1], is_text=False)} at {at}"
            new += f", {bytes_words(other[at : at + 1], is_text=False)} at {at}"
        self._change(section, path, old, new)

    def _named(self, side: int) -> Tokens | None:
        """Give a side's tokens, or the other's where it has no texts for them."""
        found, other = self.tokens[side], self.tokens[1 - side]
        has_texts = other is not None and other.strings is not None
        return other if has_texts and (found is None or found.strings is None) else found

    def _token_strings(self, one: Part, other: Part, path: str) -> list[ByteStrings]:
        """Give both files' tokens where a run of bytes holds them; else nothing.

        Where both runs are of one length the first file's index cuts both: a change of the index is
        none of the bytes.
        """
        found = [
            tokens.strings
            for tokens in self.tokens
            if tokens is not None and tokens.strings is not None and tokens.data_path == path
        ]
        if len(found) < len(self.tokens):
            return []
        first, second = found
        if one.size == other.size:
            second = ByteStrings(second.data, first.starts, first.lengths)
        return [first, second]

    def _change(self, section: str, path: str, old: str, new: str) -> None:
        name = step_name(path)
        self.changes.add(Change(CHANGED, section, path, old, new), name if name != section else "")


def step_name(path: str) -> str:
    """Give the name of the field that a path ends in, without rows."""
    return path.rpartition(".")[2].partition("[")[0]


def _any_token(_row: int) -> str:
    return ""


def _token_names(tokens: Tokens | None, path: str) -> Callable[[int], str]:
    """Name the token of a row, in the list whose rows are tokens."""
    if tokens is None or tokens.path != path:
        return _any_token

    def name(row: int) -> str:
        return f"token {row} {tokens.name(row)}".strip()

    return name


def _by_name(group: Group) -> Mapping[str, Part]:
    return {
        part.path if isinstance(part, Gap) else step(part) or UNREAD: part
        for part in group.parts
        if not isinstance(part, Gap) or part.first_wrong is not None
    }


def _by_label(items: Items) -> Mapping[str, Part]:
    """List elements by what they are called in the file, or by their number where they are not."""
    labels = [part.label for part in items.items]
    named = all(labels) and len(set(labels)) == len(labels)
    return {text_words(part.label) if named else str(index): part for index, part in enumerate(items.items)}


def _kind(part: Part) -> str:
    """Say what a part is."""
    if isinstance(part, Leaf):
        return value_words(part)
    if isinstance(part, List):
        return f"{part.count:,} {part.type}"
    return f"{part.size:,} bytes"
