"""Where two ways to cut a text into tokens agree, and where they do not."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.parity.passage import Span


class Region(NamedTuple):
    """A stretch of a text that is cut differently: bytes start..end, and the ids of both ways."""

    start: int
    end: int
    expected: tuple[int, ...]
    found: tuple[int, ...]


class Cuts:
    """The places at which a text is cut, as byte offsets, and the tokens between them.

    What got lost between two tokens counts with the one behind it. A place that lies inside a part
    which NFC changed is no cut.
    """

    def __init__(self, spans: Sequence[Span], size: int) -> None:
        self._ids = tuple(span.token for span in spans)
        self._index = {0: 0}
        for index, (before, after) in enumerate(pairwise(spans), 1):
            if before.end <= after.start:
                self._index.setdefault(before.end, index)
        if spans and spans[-1].end < size:
            self._index.setdefault(spans[-1].end, len(spans))
        self._index[size] = len(spans)

    def ids(self, start: int, end: int) -> tuple[int, ...] | None:
        """Return the ids between two places; None where one of them is no cut."""
        first, last = self._index.get(start), self._index.get(end)
        return None if first is None or last is None else self._ids[first:last]

    def differences(self, found: Cuts) -> list[Region]:
        """List the smallest stretches that begin and end at cuts of both ways and hold different ids."""
        places = sorted(self._index.keys() & found._index.keys())
        regions = []
        for start, end in pairwise(places):
            expected, other = self.ids(start, end), found.ids(start, end)
            if expected is not None and other is not None and expected != other:
                regions.append(Region(start, end, expected, other))
        return regions
