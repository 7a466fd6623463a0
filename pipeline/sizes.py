"""What the bytes of an artifact are spent on: by section, and by part of a section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.layout.tree import Gap, Group, Items, Leaf, Rest, Strings
from pipeline.artifact_files import candidates, open_artifact, start_of
from pipeline.dump.values import LONGEST, text_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from formats.layout.tree import Part
    from formats.layout.walk import Walk

PADDING = "padding"
UNREAD = "unread"
HEADER = "header"
LARGE = 100
"""An element of a list stands by itself where it takes one byte in so many, or more."""
NAMED = 3
"""Parts that a refusal names."""


@dataclass(frozen=True)
class Share:
    """A part of a file.

    Attributes:
        part: its path, or what it is: `header`, `padding`.
        size: in bytes.

    """

    part: str
    size: int


@dataclass(frozen=True)
class Extent:
    """A part of a file with its place.

    Attributes:
        part: as in `Share`.
        offset, size: in bytes.

    """

    part: str
    offset: int
    size: int

    @property
    def end(self) -> int:
        """The offset of the first byte behind it."""
        return self.offset + self.size


def parts_of_file(path: Path, final: Path | None = None) -> list[Share]:
    """Measure the parts of a file; one of no known format is one part.

    Args:
        path: where the file lies.
        final: where it will lie, if that is elsewhere: its name tells its format.

    """
    known = candidates(final or path, start_of(path))
    if not known:
        return [Share("bytes", path.stat().st_size)]
    return shares(open_artifact(path, known[0].name if len(known) == 1 else None).walk)


def shares(found: Walk) -> list[Share]:
    """Measure the parts of a file; together they are its size.

    Returns:
        the parts in the file's order, padding last.

    """
    sizes: dict[str, int] = {}
    for name, part in _named(found.root, found.root.size):
        for piece, size in _pieces(name, part):
            sizes[piece] = sizes.get(piece, 0) + size
    padding = sizes.pop(PADDING, 0)
    return [Share(part, size) for part, size in sizes.items() if size] + (
        [Share(PADDING, padding)] if padding else []
    )


def extents(found: Walk) -> list[Extent]:
    """Place the parts of a file: side by side from its first byte to its last, none of them empty."""
    placed: list[Extent] = []
    for name, part in sorted(_named(found.root, found.root.size), key=lambda entry: entry[1].offset):
        last = placed[-1] if placed else None
        if last is not None and last.part == name and last.end == part.offset:
            placed[-1] = Extent(name, last.offset, last.size + part.size)
        elif part.size:
            placed.append(Extent(name, part.offset, part.size))
    return placed


def _named(group: Group, whole: int) -> Iterator[tuple[str, Part]]:
    """Name the parts that a file is measured by; together they are its bytes."""
    is_start = True
    for part in group.parts:
        is_start = is_start and isinstance(part, Leaf) and part.size <= LONGEST
        if isinstance(part, Rest):
            yield UNREAD, part
        elif isinstance(part, Leaf):
            # The numbers that a file begins with are its header.
            yield (HEADER if is_start else part.path), part
        elif isinstance(part, Group) and part.record is None:
            for inner in part.parts:
                yield from _items(inner, whole) if isinstance(inner, Items) else _one(inner)
        elif isinstance(part, Items):
            yield from _items(part, whole)
        else:
            yield from _one(part)


def _one(part: Part) -> Iterator[tuple[str, Part]]:
    yield (PADDING if isinstance(part, Gap) else part.path), part


def _items(items: Items, whole: int) -> Iterator[tuple[str, Part]]:
    """Name the large elements, and give the others one name."""
    for part in items.items:
        is_large = part.size * LARGE >= whole and bool(part.label)
        yield (f"{items.path}[{text_words(part.label)}]" if is_large else items.path), part
    for gap in items.gaps:
        yield PADDING, gap


def _pieces(name: str, part: Part) -> Iterator[tuple[str, int]]:
    """Part records that end in a string into what comes before the strings, and the strings."""
    if not (isinstance(part, Strings) and part.head):
        yield name, part.size
        return
    *before, text = [] if part.layout is None else [field.name for field in part.layout.fields]
    yield f"{name}[].{', '.join(before)}", part.count * part.head
    yield f"{name}[].{text}", part.size - part.count * part.head


def over_budget(size: int, budget: int, parts: Sequence[Share]) -> str:
    """Say by how much a size is over its budget, and where it goes."""
    largest = sorted(parts, key=lambda share: -share.size)[:NAMED]
    where = ", ".join(f"{share.part} {share.size:,}" for share in largest)
    return (
        f"expected at most {budget:,} bytes, found {size:,}, {size - budget:,} too many; most go to {where}"
    )


def total(parts: Iterable[Share]) -> int:
    """Add the sizes up."""
    return sum(share.size for share in parts)
