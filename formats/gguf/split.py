"""Models split over several files: a part alone is refused, with the names of the others.

llama.cpp numbers the parts from 0 in `split.no` and from 1 in the files' names:
`model-00001-of-00003.gguf`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from formats.gguf.keys import SPLIT_COUNT, SPLIT_NO
from formats.gguf.kinds import INT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.gguf.values import GgufValue

_PART = re.compile(r"(?P<stem>.*)-\d{5,}-of-\d{5,}\.gguf")
_NAMED = 4
"""Parts named in a message at the most."""


def refuse_part(key_values: Mapping[str, GgufValue], file: str) -> None:
    """Refuse a file that holds only a part of a model.

    Raises:
        FormatError: with the part's number, and in the hint the other parts.

    """
    stated = key_values.get(SPLIT_COUNT)
    count = INT.read(stated) if stated is not None else 1
    if stated is None or count <= 1:
        return
    number = INT.read(key_values[SPLIT_NO]) if SPLIT_NO in key_values else None
    # A few more than are named: counts come from the file and may be anything.
    others = [other for other in range(min(count, _NAMED + 2)) if other != number]
    named = _PART.fullmatch(re.split(r"[/\\]", file)[-1])
    names = [
        f"{named['stem']}-{other + 1:05d}-of-{count:05d}.gguf" if named else f"{SPLIT_NO} {other}"
        for other in others[:_NAMED]
    ]
    more = count - len(names) - (number is not None and 0 <= number < count)
    listed = ", ".join(names) + (f" and {more} more" if more else "")
    found = f"one of {count} parts" if number is None else f"part {number + 1} of {count}"
    raise stated.place.error(
        "a whole model in one file",
        found,
        f"the other parts are {listed}: join them with llama-gguf-split --merge",
    )
