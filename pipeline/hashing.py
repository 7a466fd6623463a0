"""SHA-256 of long data while it is read and written: the hash takes a core of its own."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_WORTH_A_THREAD = 1 << 18
"""Bytes; shorter data is hashed sooner than handed over."""


@cache
def _worker() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(1, "sha256")


class OverlappedSha256:
    """SHA-256 of pieces, each hashed while the caller goes on.

    A buffer given to `update` may be changed again when the next `update`, or `hexdigest`, has
    returned; two buffers in turn are enough.
    """

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._pending: Future[None] | None = None

    def update(self, data: bytes | memoryview) -> None:
        """Take the next piece."""
        self._settle()
        if len(data) < _WORTH_A_THREAD:
            self._digest.update(data)
        else:
            self._pending = _worker().submit(self._digest.update, data)

    def hexdigest(self) -> str:
        """Return the digest of all pieces so far, 64 hex digits."""
        self._settle()
        return self._digest.hexdigest()

    def _settle(self) -> None:
        if self._pending is not None:
            self._pending.result()
            self._pending = None


class TwoBuffers:
    """Two buffers of one size, given out in turn."""

    def __init__(self, size: int) -> None:
        self._next, self._other = (memoryview(bytearray(size)) for _ in range(2))

    def take(self) -> memoryview:
        """Return the buffer that was not returned last."""
        self._next, self._other = self._other, self._next
        return self._other
