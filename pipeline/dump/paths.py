"""Paths into a file: `sections.token_index[220:230].byte_length`, `key_values['general.name'].value`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from formats.errors import shown
from formats.layout.tree import Group, Leaf, List, Part
from pipeline.errors import UsageError

_STEP = re.compile(
    r"""
    (?:^|\.) (?P<name>[A-Za-z_]\w*)
    | (?:^|\.) (?P<number>\d+)
    | \[ (?P<index>\d+) \]
    | \[ (?P<start>\d*) : (?P<stop>\d*) \]
    | \[ (?P<quote>['"]) (?P<label>.*?) (?P=quote) \]
    """,
    re.VERBOSE | re.DOTALL,
)
IMAGE = "image"
"""A name for the file itself, which a path may begin with."""


@dataclass(frozen=True)
class Selection:
    """What a path leads to.

    Attributes:
        part: the part, or the list whose rows are meant.
        rows: the rows of the list, or None for the part as a whole.
        below: path from each row to the part of it that is meant, or empty.

    """

    part: Part
    rows: range | None = None
    below: str = ""


def select(root: Group, path: str, file_name: str) -> Selection:
    """Find what a path means.

    Raises:
        UsageError: no path, or one that leads nowhere: what is there instead.

    """
    selection = Selection(root)
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            raise UsageError(
                f"path {shown(path)}: expected a name, [row], [from:to] or ['key'] at character {at + 1}"
            )
        at = match.end()
        selection = _step(selection, match, path, file_name)
    if selection.below and selection.rows and isinstance(selection.part, List):
        select_below(
            selection.part.row(selection.rows[0]), selection.below
        )  # refused before anything is shown
    return selection


def select_below(row: Part, below: str) -> Part:
    """Go on from a row to a part of it.

    Raises:
        UsageError: there is no such part.

    """
    name = below.removeprefix(".")
    found = next((inner for inner in _inside(row) if inner.path == f"{row.path}.{name}"), None)
    if found is None:
        raise UsageError(f"path {shown(row.path + below)}: {_there(row, row.path, '')}, not {shown(name)}")
    return found


def _inside(part: Part) -> list[Part]:
    """List the parts of a record, and of the records in it."""
    if not isinstance(part, Group):
        return []
    return [found for inner in part.parts for found in (inner, *_inside(inner))]


def _step(selection: Selection, match: re.Match[str], path: str, file_name: str) -> Selection:
    part, here = selection.part, path[: match.start()]
    if selection.rows is not None:
        if selection.below or match["name"]:
            return Selection(part, selection.rows, selection.below + match[0])
        raise UsageError(f"path {shown(path)}: expected a field's name behind rows, found {shown(match[0])}")
    if match["name"] is not None:
        inner = _named(part, match["name"])
        if inner is not None:
            return Selection(inner)
        if not here and match["name"] == IMAGE:
            return selection
        raise UsageError(f"path {shown(path)}: {_there(part, here, file_name)}, not {shown(match['name'])}")
    if isinstance(part, Leaf) and match["start"] is not None and isinstance(part.value, memoryview):
        return Selection(_slice(part, match, path))
    if not isinstance(part, List):
        raise UsageError(f"path {shown(path)}: {_there(part, here, file_name)}, not rows")
    return _rows_of(part, match, path)


def _named(part: Part, name: str) -> Part | None:
    if not isinstance(part, Group):
        return None
    path = f"{part.path}.{name}" if part.path else name
    return next((inner for inner in part.parts if inner.path == path), None)


def _rows_of(part: List, match: re.Match[str], path: str) -> Selection:
    """Choose a row of a list, by its number or its name, or several."""
    if match["label"] is not None:
        return Selection(_labelled(part, match["label"], path))
    if match["start"] is not None:
        start, stop = _bounds(match, part.count)
        if not start <= stop <= part.count:
            raise UsageError(f"path {shown(path)}: expected rows inside 0:{part.count}")
        return Selection(part, range(start, stop))
    index = _number(match["index"] or match["number"])
    if index >= part.count:
        raise UsageError(
            f"path {shown(path)}: expected a row below {part.count}, found {match[0].strip('.[]')}"
        )
    return Selection(part.row(index))


def _bounds(match: re.Match[str], count: int) -> tuple[int, int]:
    return _number(match["start"] or "0"), _number(match["stop"]) if match["stop"] else count


def _number(digits: str) -> int:
    """Read digits; Python refuses to read thousands of them, and no file has so many rows."""
    return int(digits) if len(digits) <= 20 else 10**20


def _slice(leaf: Leaf, match: re.Match[str], path: str) -> Leaf:
    """Cut a run of bytes out of a longer one."""
    start, stop = _bounds(match, leaf.size)
    if not start <= stop <= leaf.size:
        raise UsageError(f"path {shown(path)}: expected bytes inside 0:{leaf.size}")
    place = f"{leaf.path}[{start}:{stop}]"
    value = leaf.value[start:stop]
    return Leaf(place, leaf.offset + start, stop - start, leaf.field, value=value, type=leaf.type)


def _labelled(part: List, label: str, path: str) -> Part:
    wanted = label.encode()
    for index in range(part.count):
        row = part.row(index)
        if row.label == wanted:
            return row
        if not row.label:
            break
    raise UsageError(f"path {shown(path)}: there is no {shown(label)} in {part.path}")


def _there(part: Part, here: str, file_name: str) -> str:
    """Say what lies at a place."""
    place = here or file_name
    if isinstance(part, Group):
        names = [step(inner) for inner in part.parts if inner.path and not inner.path.startswith("padding")]
        return f"{place} has {', '.join(names)}"
    if isinstance(part, List):
        return f"{place} has the rows 0:{part.count}"
    kind = part.type if isinstance(part, Leaf) else "a part"
    return f"{place} is {kind} without parts"


def step(part: Part) -> str:
    """Give the last step of a part's path."""
    return re.split(r"\.|(?=\[)", part.path)[-1]
