"""A model's tensors by type and size, from whichever artifact lists them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from formats import model_table
from formats.errors import FormatError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipeline.report.build import Build

LISTED_BY = ("model", "tensor payload manifest", "model_table")
"""Layouts that list tensors: the first lists all of the model's, the others those that were asked for."""


@dataclass(frozen=True)
class TensorRow:
    """A tensor.

    Attributes:
        name: as in the GGUF.
        type: element type.
        ne: elements in each dimension, the fastest first.
        elements: all of them.
        size: in bytes; None where the type's size is not known.

    """

    name: str
    type: str
    ne: tuple[int, ...]
    elements: int
    size: int | None


@dataclass(frozen=True)
class TypeTotal:
    """The tensors of one type: how many, their elements, their bytes."""

    type: str
    tensors: int
    elements: int
    size: int


@dataclass(frozen=True)
class TensorList:
    """The tensors that an artifact lists.

    Attributes:
        source: the artifact's name.
        rows: by size, the largest first, then by name.

    """

    source: str
    rows: tuple[TensorRow, ...]

    @property
    def size(self) -> int:
        """Bytes of all of them."""
        return sum(row.size or 0 for row in self.rows)

    def by_type(self) -> list[TypeTotal]:
        """Add the tensors up by type, the type with the most bytes first."""
        totals: dict[str, list[int]] = {}
        for row in self.rows:
            total = totals.setdefault(row.type, [0, 0, 0])
            for index, number in enumerate((1, row.elements, row.size or 0)):
                total[index] += number
        found = [TypeTotal(name, *total) for name, total in totals.items()]
        return sorted(found, key=lambda total: (-total.size, total.type))


def list_tensors(build: Build) -> TensorList | None:
    """Read the tensors of a build; None where no artifact lists any. What cannot be read is noted."""
    for layout in LISTED_BY:
        for file in build.of_layout(layout):
            name = file.record.name
            if layout == "model_table":
                if name != model_table.FILE_NAME:
                    continue
                rows = _of_table(build, name)
            else:
                rows = _of_document(build, name, build.document(file))
            if rows:
                ordered = sorted(rows, key=lambda row: (-(row.size or 0), row.name))
                return TensorList(name, tuple(ordered))
    return None


def _of_table(build: Build, name: str) -> list[TensorRow]:
    path = build.root / name
    try:
        table = model_table.read(path.read_bytes(), str(path))
    except (FormatError, OSError) as error:
        build.note(error)
        return []
    return [TensorRow(row.name, row.type.label, row.ne, _product(row.ne), row.size) for row in table.tensors]


def _of_document(build: Build, name: str, document: dict[str, Any]) -> list[TensorRow]:
    """Read the list of a JSON document; both that have one give a tensor the same keys."""
    entries = document.get("tensors")
    rows = []
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        row = _row(entry)
        if row is None:
            expected = "a tensor's name, type, ne and size"
            build.note(
                FormatError(
                    expected, shown(str(entry)), path=f"tensors[{index}]", file=str(build.root / name)
                )
            )
            return []
        rows.append(row)
    return rows


def _row(entry: Any) -> TensorRow | None:
    if not isinstance(entry, dict):
        return None
    name, kind, ne, size = entry.get("name"), entry.get("type"), entry.get("ne"), entry.get("size")
    if not isinstance(name, str) or not isinstance(kind, str) or not isinstance(ne, list):
        return None
    if not all(isinstance(number, int) for number in ne) or not isinstance(size, int | None):
        return None
    return TensorRow(name, kind, tuple(ne), _product(ne), size)


def _product(ne: Iterable[int]) -> int:
    elements = 1
    for count in ne:
        elements *= count
    return elements
