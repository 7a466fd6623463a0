"""The other end of `driver.c`: requests to the C library, many in one process.

Requests and answers are runs of little-endian u32; bytes are preceded by their length and not padded.
"""

from __future__ import annotations

import re
import struct
import subprocess
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from firmware_build import HEADER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

(
    SET_IMAGE,
    ENCODE,
    DETOKENIZE,
    STREAM,
    VERIFY,
    INFO,
    TO_BYTE_IDS,
    FROM_BYTE_IDS,
    SCRATCH,
    NAME,
) = range(1, 11)

_ENUM = HEADER.read_text(encoding="ascii").partition("typedef enum q25_nl_status {")[2].partition("}")[0]

STATUS = {name: int(value) for name, value in re.findall(r"Q25_NL_(\w+) = (\d+)", _ENUM)}
"""The library's status codes by name, as the header has them."""

OK = STATUS["OK"]

ENOUGH = 0xFFFFFFFF
"""As a capacity: what is always enough."""

SPECIALS = {"none": 0, "user": 1, "all": 2}
REPLACE = 4
SKIP_CONTROL, STOP_AT_END = 1, 2


class Encoded(NamedTuple):
    status: int
    n_ids: int
    n_merges: int
    n_bytes: int
    longest_piece: int
    scratch_needed: int
    error_offset: int
    steps: int
    intact: int
    ids: list[int]


class Detokenized(NamedTuple):
    status: int
    n_bytes: int
    n_read: int
    intact: int
    text: bytes


class Shown(NamedTuple):
    status: int
    n_bytes: int
    n_held: int
    intact: int
    text: bytes


class Verified(NamedTuple):
    status: int
    section: int
    row: int
    offset: int
    steps: int


class Converted(NamedTuple):
    status: int
    count: int
    intact: int
    data: bytes


@dataclass
class Requests:
    """Builds requests for a driver, which answers them in order."""

    parts: list[bytes] = field(default_factory=list)
    kinds: list[tuple[int, int]] = field(default_factory=list)

    def _add(self, kind: int, *words: int, data: bytes = b"", answers: int = 1) -> None:
        self.parts.append(struct.pack(f"<{len(words) + 1}I", kind, *words))
        self.parts.append(data)
        self.kinds.append((kind, answers))

    def set_image(self, image: bytes, skew: int = 0) -> None:
        self._add(SET_IMAGE, skew, len(image), data=image)

    def encode(
        self,
        text: str | bytes,
        flags: int = 2,
        scratch: int = ENOUGH,
        capacity: int = ENOUGH,
        *,
        scratch_skew: int = 0,
        text_skew: int = 0,
    ) -> None:
        data = text.encode() if isinstance(text, str) else text
        self._add(ENCODE, flags, scratch_skew, scratch, capacity, text_skew, len(data), data=data)

    def detokenize(self, ids: Sequence[int], flags: int = 0, capacity: int = 1 << 20) -> None:
        self._add(DETOKENIZE, flags, capacity, len(ids), data=array("I", ids).tobytes())

    def stream(self, ids: Sequence[int], flags: int = 0, capacity: int = 1 << 17) -> None:
        self._add(STREAM, flags, capacity, len(ids), data=array("I", ids).tobytes(), answers=len(ids) + 1)

    def verify(self, image: bytes, skew: int = 0) -> None:
        self._add(VERIFY, skew, len(image), data=image)

    def info(self) -> None:
        self._add(INFO)

    def to_byte_ids(self, text: bytes, capacity: int = 1 << 16) -> None:
        self._add(TO_BYTE_IDS, capacity, len(text) + 1, data=text + b"\0")

    def from_byte_ids(self, ids: Sequence[int], capacity: int = 1 << 16) -> None:
        self._add(FROM_BYTE_IDS, capacity, len(ids), data=array("I", ids).tobytes())

    def scratch(self, text_bytes: int) -> None:
        self._add(SCRATCH, text_bytes)

    def name(self, status: int) -> None:
        self._add(NAME, status)


class Driver:
    """A build of the driver, with the image it begins with.

    Args:
        command: the program, behind an emulator or not.
        image: file of an image; None: requests set one.

    """

    def __init__(self, command: Sequence[str | Path], image: Path | None = None) -> None:
        self._command = [*command, image] if image else [*command]

    def run(self, requests: Requests) -> list:
        """Run requests and return their answers; a sanitizer's complaint fails the test."""
        done = subprocess.run(self._command, input=b"".join(requests.parts), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")[-4000:]
        return list(_Answers(done.stdout).all(requests.kinds))

    def encode_all(self, texts: Iterable[str | bytes], flags: int = 2) -> list[list[int]]:
        """Encode texts, which must succeed, and return their ids."""
        requests = Requests()
        for text in texts:
            requests.encode(text, flags)
        answers = self.run(requests)
        assert all(answer.status == OK and answer.intact for answer in answers)
        return [answer.ids for answer in answers]


class _Answers:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def all(self, kinds: Iterable[tuple[int, int]]) -> Iterable:
        for kind, answers in kinds:
            found = [self._one(kind) for _ in range(answers)]
            yield found if kind == STREAM else found[0]
        assert self.at == len(self.data)

    def _one(self, kind: int):
        if kind in {SET_IMAGE, SCRATCH}:
            return self._words(1)[0]
        if kind == ENCODE:
            words = self._words(9)
            return Encoded(*words, array("I", self._bytes()).tolist())
        if kind == DETOKENIZE:
            return Detokenized(*self._words(4), self._bytes())
        if kind == STREAM:
            return Shown(*self._words(4), self._bytes())
        if kind == VERIFY:
            return Verified(*self._words(5))
        if kind in {TO_BYTE_IDS, FROM_BYTE_IDS}:
            return Converted(*self._words(3), self._bytes())
        return self._bytes()

    def _words(self, count: int) -> tuple[int, ...]:
        words = struct.unpack_from(f"<{count}I", self.data, self.at)
        self.at += 4 * count
        return words

    def _bytes(self) -> bytes:
        (length,) = self._words(1)
        self.at += length
        return self.data[self.at - length : self.at]
