"""The other end of `engines_driver.c`: requests to the engines' C libraries, many in one process.

Requests and answers are runs of little-endian u32; bytes are preceded by their length and not padded.
"""

from __future__ import annotations

import re
import struct
import subprocess
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from engines_build import GREEDY as GREEDY_LIBRARY
from engines_build import TOKENIZER_BIN as TOKENIZER_BIN_LIBRARY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

OPEN, REOPEN, ENCODE, DECODE, FIND, WORDS = range(1, 7)
GREEDY, DOCUMENTED, LOADER = range(3)
LAYOUTS = {"documented": DOCUMENTED, "loader": LOADER}

NONE = ENOUGH = NOT_OPEN = 0xFFFFFFFF
"""An id or a row that is not there; as a capacity, what is enough; as a status, that no file is open."""

SPACE_AT_START, LONE_SPACE, SPECIALS, NEWLINE_RUNS = 1, 2, 4, 8
VARIANTS = {
    "base": 0,
    "A": SPACE_AT_START,
    "AB": SPACE_AT_START | LONE_SPACE,
    "specials_first": SPECIALS | NEWLINE_RUNS,
}
"""Flags of the greedy encoder's variants."""


def _statuses(header: Path, prefix: str) -> dict[str, int]:
    text = header.read_text(encoding="ascii")
    body = re.search(rf"typedef enum {prefix.lower()}status {{(.*?)}}", text, re.DOTALL)
    assert body is not None
    names = re.findall(rf"^    {prefix}(\w+)", body[1], re.MULTILINE)
    return {name: value for value, name in enumerate(names)}


GREEDY_STATUS = _statuses(GREEDY_LIBRARY.header, "GREEDY_")
TOKBIN_STATUS = _statuses(TOKENIZER_BIN_LIBRARY.header, "TOKBIN_")
"""The libraries' status codes by name, in the headers' order."""


def name_of(engine: int, status: int) -> str:
    """Return the name of a status without its prefix."""
    names = GREEDY_STATUS if engine == GREEDY else TOKBIN_STATUS
    return next(name for name, value in names.items() if value == status)


class Opened(NamedTuple):
    status: int
    row: int
    offset: int
    steps: int
    message: str


class Encoded(NamedTuple):
    status: int
    n_ids: int
    steps: int
    intact: int
    ids: list[int]


class Decoded(NamedTuple):
    status: int
    n_bytes: int
    n_read: int
    intact: int
    text: bytes


@dataclass
class Requests:
    """Builds requests for a driver, which answers them in order."""

    parts: list[bytes] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)

    def _add(self, kind: int, *words: int, data: bytes = b"") -> None:
        self.parts.append(struct.pack(f"<{len(words) + 1}I", kind, *words))
        self.parts.append(data)
        self.kinds.append(kind)

    def open(self, engine: int, file: bytes) -> None:
        self._add(OPEN, engine, len(file), data=file)

    def reopen(self, engine: int, length: int, changes: Mapping[int, int] | None = None) -> None:
        """Open the first bytes of the file that was opened last, with other bytes at some offsets."""
        pairs = (changes or {}).items()
        words = [word for pair in pairs for word in pair]
        self._add(REOPEN, engine, length, len(pairs), *words)

    def encode(
        self, engine: int, text: str | bytes, option: int | None = None, capacity: int = ENOUGH
    ) -> None:
        """Encode, with the flags of the greedy encoder, or BOS of the other one."""
        data = text.encode() if isinstance(text, str) else text
        if option is None:
            option = 0 if engine == GREEDY else NONE
        self._add(ENCODE, engine, option, capacity, len(data), data=data)

    def decode(self, engine: int, ids: Sequence[int], capacity: int = ENOUGH) -> None:
        self._add(DECODE, engine, capacity, len(ids), data=array("I", ids).tobytes())

    def find(self, engine: int, text: bytes) -> None:
        self._add(FIND, engine, len(text), data=text)

    def words(self, engine: int, status: int) -> None:
        self._add(WORDS, engine, status)


class Driver:
    """A build of the driver."""

    def __init__(self, command: Sequence[str | Path]) -> None:
        self._command = [*command]

    def run(self, requests: Requests) -> list:
        """Run requests and return their answers; a sanitizer's complaint fails the test."""
        done = subprocess.run(self._command, input=b"".join(requests.parts), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")[-4000:]
        return list(_answers(done.stdout, requests.kinds))

    def opened(self, engine: int, file: bytes) -> Opened:
        """Open one file."""
        requests = Requests()
        requests.open(engine, file)
        return self.run(requests)[0]


def _answers(data: bytes, kinds: Iterable[int]) -> Iterator:
    at = 0

    def words(count: int) -> tuple[int, ...]:
        nonlocal at
        at += 4 * count
        return struct.unpack_from(f"<{count}I", data, at - 4 * count)

    def run_of_bytes() -> bytes:
        nonlocal at
        (length,) = words(1)
        at += length
        return data[at - length : at]

    for kind in kinds:
        if kind in {OPEN, REOPEN}:
            yield Opened(*words(4), run_of_bytes().decode("ascii"))
        elif kind == ENCODE:
            yield Encoded(*words(4), array("I", run_of_bytes()).tolist())
        elif kind == DECODE:
            yield Decoded(*words(4), run_of_bytes())
        elif kind == FIND:
            yield words(1)[0]
        else:
            yield run_of_bytes().decode("ascii")
    assert at == len(data)
