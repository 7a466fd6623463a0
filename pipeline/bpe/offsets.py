"""Where in a text the parts of its NFC form came from."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipeline.bpe.nfc import Change


class SourceMap:
    """Maps byte offsets in the NFC form of a text to byte offsets in the text; both in UTF-8.

    Inside a changed part there is no telling which byte came from which: such a place is taken for
    the beginning of the part where something starts there, and for its end where something ends.
    """

    def __init__(self, text: str, changes: Iterable[Change]) -> None:
        self._normal: list[int] = []  # start, end, start, end ... of the changed parts, ascending
        self._source: list[int] = []
        done = at_source = at_normal = 0
        for change in changes:
            same = len(text[done : change.start].encode())
            self._normal += (at_normal + same, at_normal + same + len(change.normal.encode()))
            self._source += (
                at_source + same,
                at_source + same + len(text[change.start : change.end].encode()),
            )
            at_normal, at_source = self._normal[-1], self._source[-1]
            done = change.end

    def start(self, offset: int) -> int:
        """Return where something that starts at this offset of the NFC form starts in the text."""
        at = bisect_right(self._normal, offset)
        return self._source[at - 1] if at % 2 else self._shifted(offset, at)

    def end(self, offset: int) -> int:
        """Return where something that ends at this offset of the NFC form ends in the text."""
        at = bisect_left(self._normal, offset)
        return self._source[at] if at % 2 else self._shifted(offset, at)

    def _shifted(self, offset: int, at: int) -> int:
        """An offset outside the changed parts, `at` // 2 of which lie before it."""
        return offset + self._source[at - 1] - self._normal[at - 1] if at else offset
