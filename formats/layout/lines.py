"""Text as a layout: lines, and the keys of the JSON in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import construct

from formats.errors import FormatError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a JSON object.

    Attributes:
        path: the key; inside another one as `counts.tokens`, in each object of a list as `sections[].kind`.
        type: the value's type in JSON's words: `number`, `string`, `list of objects`, ...
        meaning: what it means.
        unit: as of a `Field`.

    """

    path: str
    type: str
    meaning: str
    unit: str = ""


class Lines(construct.Construct):  # type: ignore[misc]
    r"""Lines of text up to the end of the file, each with the `\n` that ends it; the last may have none.

    Attributes:
        keys: of the JSON object on each line, or of the one object that all lines are.
        is_document: whether all lines together are one JSON document.

    """

    def __init__(self, keys: Sequence[Key] = (), *, is_document: bool = False) -> None:
        super().__init__()
        self.keys = tuple(keys)
        self.is_document = is_document

    def _parse(self, stream: Any, _context: Any, path: str) -> construct.ListContainer:
        return construct.ListContainer(split(bytes(construct.stream_read_entire(stream, path))))

    def _build(self, obj: Any, stream: Any, _context: Any, path: str) -> Any:
        if not isinstance(obj, list) or not all(isinstance(line, bytes) for line in obj):
            raise FormatError("lines", shown(obj), offset=construct.stream_tell(stream, path))
        data = b"".join(obj)
        construct.stream_write(stream, data, len(data), path)
        return obj


def split(data: bytes) -> list[bytes]:
    r"""Cut text behind each `\n`, and nowhere else.

    >>> split(b"a\r\nb\x0bc\n\nd")
    [b'a\r\n', b'b\x0bc\n', b'\n', b'd']
    """
    *whole, last = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([last] if last else [])
