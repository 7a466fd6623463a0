"""The parts of a file as a tree: what each is, where it lies, what it holds.

`formats.layout.walk` makes the tree from a declaration. Big lists stay columns: a row becomes parts when
it is asked for. The leaves, the gaps and the unread rest together are every byte of the file, once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.layout.describe import type_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import construct
    from numpy.typing import NDArray

    from formats.layout.fields import Field, Record


@dataclass(eq=False)
class Part:
    """A part of a file.

    Attributes:
        path: as messages write it: `sections.token_index[220].byte_offset`; empty for the file.
        offset: from the start of the file, in bytes.
        size: in bytes.
        field: the declaration of the part, or of the list it is an element of; None for a file.
        label: what the part is called in the file itself: a key, a tensor's name; else empty.

    """

    path: str
    offset: int
    size: int
    field: Field | None = None
    label: bytes = b""

    @property
    def end(self) -> int:
        """The offset of the first byte behind the part."""
        return self.offset + self.size

    @property
    def meaning(self) -> str:
        """What the part means, as declared."""
        return "" if self.field is None else str(self.field.docs)


@dataclass(eq=False)
class Leaf(Part):
    """A number or a run of bytes.

    Attributes:
        value: the number, or the bytes as a view of the file.
        type: as `u32` or `bytes`.
        fault: what the value had to be, where it is not; else empty.

    """

    value: Any = None
    type: str = ""
    fault: str = ""


@dataclass(eq=False)
class Gap(Part):
    """Padding: bytes that mean nothing and are zero.

    Attributes:
        first_wrong: offset of the first byte that is not zero, or None.

    """

    first_wrong: int | None = None


@dataclass(eq=False)
class Rest(Part):
    """Bytes that could not be read."""


@dataclass(eq=False)
class Group(Part):
    """A record, or the parts that a directory places.

    Attributes:
        parts: in the file's order.
        record: its layout, or None for placed parts.

    """

    parts: list[Part] = field(default_factory=list)
    record: Record | None = None

    def __getitem__(self, name: str) -> Any:
        """Give a part by its name: a number or bytes as such, anything else as a part."""
        return plain(self.part(name))

    def part(self, name: str) -> Part:
        """Give a part by the last step of its path."""
        path = f"{self.path}.{name}" if self.path else name
        for part in self.parts:
            if part.path == path:
                return part
        raise KeyError(name)


@dataclass(eq=False)
class List(Part, ABC):
    """Elements of one layout, in a row or placed by a directory.

    Attributes:
        layout: of one element.
        count: elements that are there whole.

    """

    layout: construct.Construct | None = None
    count: int = 0

    @abstractmethod
    def row(self, index: int) -> Part:
        """Give an element.

        Raises:
            IndexError: there is none of that number.

        """

    def bounds(self, index: int) -> tuple[int, int]:
        """Give the offset of an element, and of the first byte behind it."""
        part = self.row(index)
        return part.offset, part.end

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        return plain(self.row(index))

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(self.count))

    @property
    def type(self) -> str:
        """The type of an element."""
        return "bytes" if self.layout is None else type_words(self.layout)


@dataclass(eq=False)
class Items(List):
    """A list whose elements are parts already, as their sizes vary.

    Attributes:
        items: the elements.
        gaps: padding between and behind them.

    """

    items: list[Part] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)

    def row(self, index: int) -> Part:
        """Give an element."""
        return self.items[index]


@dataclass(eq=False)
class Table(List):
    """A list that stays where it is, with its numbers as columns; an element is made when it is asked for.

    Attributes:
        columns: shape (count,): the elements, or the fields before each string where they end in one.
        make: makes the element of a number, at an offset.

    """

    columns: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    make: Callable[[int, int], Part] | None = None

    def row(self, index: int) -> Part:
        """Give an element."""
        if not 0 <= index < self.count or self.make is None:
            raise IndexError(index)
        return self.make(index, self.bounds(index)[0])


@dataclass(eq=False)
class Rows(Table):
    """Elements of one size, `stride` bytes each."""

    stride: int = 0

    def bounds(self, index: int) -> tuple[int, int]:
        """Give the offset of an element, and of the first byte behind it."""
        return self.offset + index * self.stride, self.offset + (index + 1) * self.stride


@dataclass(eq=False)
class Strings(Table):
    """Records that end in a string of their own length.

    Attributes:
        head: bytes of a record before its string.
        starts, lengths: shape (count,), int64: the strings' offsets in the file, and their lengths.

    """

    head: int = 0
    starts: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    lengths: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def bounds(self, index: int) -> tuple[int, int]:
        """Give the offset of an element, and of the first byte behind it."""
        start = int(self.starts[index])
        return start - self.head, start + int(self.lengths[index])


def plain(part: Part) -> Any:
    """Give what a leaf holds; any other part as it is."""
    return part.value if isinstance(part, Leaf) else part
