"""Parts whose place a directory states: the sections of an image, the tensors of a GGUF."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import construct

from formats.errors import FormatError
from formats.layout.fields import located
from formats.layout.parts import earlier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from enum import IntEnum


@dataclass(frozen=True)
class Blocks:
    """A size that follows from a shape and an element type: whole blocks, each of so many elements.

    Attributes:
        type_field: the entry's field that holds the element type.
        shape_field: the entry's field that lists the elements in each dimension.
        max_dims: dimensions at the most.
        block_sizes: (elements, bytes) of one block, by element type; the size of any other type is
            not known.

    """

    type_field: str
    shape_field: str
    max_dims: int
    block_sizes: Mapping[Any, tuple[int, int]]

    @property
    def words(self) -> str:
        """The size in words."""
        return f"the blocks that {self.shape_field} and {self.type_field} ask for"

    def of(self, entry: Mapping[str, Any]) -> int | None:
        """Bytes of an entry's part, or None where its type is unknown."""
        block = self.block_sizes.get(int(entry[self.type_field]))
        return None if block is None else math.prod(entry[self.shape_field]) // block[0] * block[1]


@dataclass(frozen=True)
class Stated:
    """A size that stands in a field of the entry."""

    field: str

    @property
    def words(self) -> str:
        """The size in words."""
        return self.field

    def of(self, entry: Mapping[str, Any]) -> int:
        """Bytes of an entry's part."""
        return int(entry[self.field])


@dataclass(frozen=True)
class KeyedNumber:
    """A number that stands in a list of keys and values, or is the default where the key is not there.

    Attributes:
        pairs: name of the list, whose elements have the fields `key`, with a `text`, and `value`.
        key: the key's text.
        default: the number without it.

    """

    pairs: str
    key: str
    default: int

    @property
    def words(self) -> str:
        """The number in words."""
        return f"{self.key} (default {self.default})"

    def of(self, values: Mapping[str, Any]) -> int:
        """Look the number up among the fields that were read before."""
        key = self.key.encode()
        found = (pair["value"] for pair in values[self.pairs] if bytes(pair["key"]["text"]) == key)
        return int(next(found, self.default))


@dataclass(frozen=True)
class Span:
    """Where one placed part lies.

    Attributes:
        offset: from the start of the file, in bytes.
        size: in bytes; None where it is not known.
        kind: the value of the entry's `kind_field`, or None.
        layout: what the bytes are; None for plain bytes.
        entry: the directory's entry.

    """

    offset: int
    size: int | None
    kind: int | None
    layout: construct.Construct | None
    entry: Mapping[str, Any]


class Placed(construct.Construct):  # type: ignore[misc]
    """Parts in the order of a directory's entries, each aligned, with zeros between and behind them.

    Attributes:
        entries: name of the directory, a field before this one.
        offset_field: the entry's field that holds the part's offset.
        size: the part's size, from its entry.
        align: alignment of every part: the path of an earlier field, or a key's number.
        from_aligned: offsets count from the first aligned byte behind the directory; else from the
            start of the file.
        kind_field: the entry's field that says what a part holds, or None.
        kinds: the enumeration of that field.
        cases: layouts by kind; they may count by the entry's fields. Any other part is plain bytes.

    """

    def __init__(
        self,
        entries: str,
        *,
        size: Blocks | Stated,
        align: str | KeyedNumber,
        from_aligned: bool = False,
        kind_field: str | None = None,
        kinds: type[IntEnum] | None = None,
        cases: Mapping[Any, construct.Construct] | None = None,
    ) -> None:
        super().__init__()
        self.entries = entries
        self.offset_field = "offset"
        self.size = size
        self.align = align
        self.from_aligned = from_aligned
        self.kind_field = kind_field
        self.kinds = kinds
        self.cases = dict(cases or {})

    @property
    def align_words(self) -> str:
        """Where the alignment comes from, in words."""
        return self.align if isinstance(self.align, str) else self.align.words

    def alignment(self, values: Mapping[str, Any]) -> int:
        """Give the alignment, at least 1, from the fields that were read before."""
        found = earlier(self.align)(values) if isinstance(self.align, str) else self.align.of(values)
        return max(found, 1)

    def base(self, values: Mapping[str, Any], end: int) -> int:
        """Give the offset from which offsets count; the directory ends at `end`."""
        return -(-end // self.alignment(values)) * self.alignment(values) if self.from_aligned else 0

    def spans(self, entries: Sequence[Mapping[str, Any]], base: int) -> Iterator[Span]:
        """List the places of the parts, in the order of the entries; nothing of it is checked."""
        for entry in entries:
            kind = None if self.kind_field is None else int(entry[self.kind_field])
            layout = None if kind is None else self.cases.get(kind)
            yield Span(base + int(entry[self.offset_field]), self.size.of(entry), kind, layout, entry)

    def _parse(self, stream: Any, context: Any, path: str) -> construct.ListContainer:
        end = construct.stream_tell(stream, path)
        parts = construct.ListContainer()
        for span in self.spans(context[self.entries], self.base(context, end)):
            construct.stream_seek(stream, span.offset, 0, path)
            try:
                if span.layout is None:
                    parts.append(construct.stream_read(stream, span.size, path))
                else:
                    inner = construct.Container(context, _=context, **_plain(span.entry))
                    parts.append(span.layout._parsereport(stream, inner, path))
            except FormatError as error:
                raise located(error, f"[{len(parts)}]") from None
            except construct.ConstructError:
                left = construct.stream_size(stream) - span.offset
                raise FormatError(
                    f"{span.size} bytes", f"{left} before the end", path=f"[{len(parts)}]", offset=span.offset
                ) from None
        return parts

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        end = construct.stream_tell(stream, path)
        spans = list(self.spans(context[self.entries], self.base(context, end)))
        for span, value in zip(spans, obj, strict=True):
            self._pad(stream, span.offset, path)
            if span.layout is None:
                construct.stream_write(stream, value, len(value), path)
            else:
                inner = construct.Container(context, _=context, **_plain(span.entry))
                span.layout._build(value, stream, inner, path)
        if spans:
            align = self.alignment(context)
            self._pad(stream, -(-construct.stream_tell(stream, path) // align) * align, path)
        return obj

    @staticmethod
    def _pad(stream: Any, to: int, path: str) -> None:
        gap = to - construct.stream_tell(stream, path)
        if gap < 0:
            raise FormatError("parts one behind the other", f"an overlap of {-gap} bytes", offset=to)
        construct.stream_write(stream, bytes(gap), gap, path)


def _plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if not name.startswith("_")}
