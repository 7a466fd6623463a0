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

    from formats.layout.walk import Walk

PADDING = "padding"
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
    for part, size in _parts(found.root, found.root.size):
        sizes[part] = sizes.get(part, 0) + size
    padding = sizes.pop(PADDING, 0)
    return [Share(part, size) for part, size in sizes.items() if size] + (
        [Share(PADDING, padding)] if padding else []
    )


def _parts(group: Group, whole: int) -> Iterator[tuple[str, int]]:
    is_start = True
    for part in group.parts:
        is_start = is_start and isinstance(part, Leaf) and part.size <= LONGEST
        if isinstance(part, Gap):
            yield PADDING, part.size
        elif isinstance(part, Rest):
            yield "unread", part.size
        elif isinstance(part, Leaf):
            # The numbers that a file begins with are its header.
            yield (HEADER if is_start else part.path), part.size
        elif isinstance(part, Group) and part.record is None:
            yield from _placed(part, whole)
        elif isinstance(part, Strings) and part.head:
            *before, text = [] if part.layout is None else [field.name for field in part.layout.fields]
            yield f"{part.path}[].{', '.join(before)}", part.count * part.head
            yield f"{part.path}[].{text}", part.size - part.count * part.head
        elif isinstance(part, Items):
            yield from _items(part, whole)
        else:
            yield part.path, part.size


def _placed(group: Group, whole: int) -> Iterator[tuple[str, int]]:
    for part in group.parts:
        if isinstance(part, Items):
            yield from _items(part, whole)
        else:
            yield (PADDING if isinstance(part, Gap) else part.path), part.size


def _items(items: Items, whole: int) -> Iterator[tuple[str, int]]:
    """List the large elements by name, and the others together."""
    for part in items.items:
        is_large = part.size * LARGE >= whole and bool(part.label)
        yield (f"{items.path}[{text_words(part.label)}]" if is_large else items.path), part.size
    for gap in items.gaps:
        yield PADDING, gap.size


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
