"""Token ids to the bytes they stand for, whole or one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.token_types import TokenType
from pipeline.bpe.errors import TokenIdError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from pipeline.bpe.tables import TokenTables

_CONTROL = (TokenType.CONTROL, TokenType.UNKNOWN)

_SECOND_BYTE = {0xE0: (0xA0, 0xBF), 0xED: (0x80, 0x9F), 0xF0: (0x90, 0xBF), 0xF4: (0x80, 0x8F)}
"""What may follow these lead bytes; after all others any continuation byte may."""


class Decoder:
    """Decodes ids of one vocabulary.

    The bytes of all tokens, joined, are the text after NFC. One token may hold a part of a
    character only, so they need not be UTF-8 one by one. Padding decodes to nothing.

    Args:
        tables: the vocabulary.
        skip_control: leave out tokens of the types control and unknown.
        end_ids: end before the first of these; none by default.

    """

    def __init__(
        self, tables: TokenTables, *, skip_control: bool = False, end_ids: Collection[int] = ()
    ) -> None:
        self._tables = tables
        self._skip_control = skip_control
        self._end_ids = frozenset(end_ids)

    def decode(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids.

        Raises:
            TokenIdError: an id is not in the vocabulary. Ids behind an end are not looked at.

        """
        return b"".join(self.tokens(ids))

    def tokens(self, ids: Iterable[int]) -> Iterator[bytes]:
        """Yield the bytes of each id up to the end, empty for one that is left out; errors as in `decode`."""
        for index, token in enumerate(ids):
            if not 0 <= token < self._tables.n_tokens:
                raise unknown_id(token, index, self._tables.n_tokens)
            if token in self._end_ids:
                return
            yield self._bytes(token)

    def _bytes(self, token: int) -> bytes:
        if token >= self._tables.first_pad_id:
            return b""
        if self._skip_control and self._tables.token_type(token) in _CONTROL:
            return b""
        return self._tables.token_bytes(token)

    def stream(self, ids: Iterable[int]) -> Iterator[bytes]:
        """Yield bytes that a display can show: an unfinished UTF-8 character is held back.

        It comes out whole with the token that finishes it. What can no longer become a character, or is
        unfinished at the end, comes out as it is, so the joined bytes are those of `decode`. Ids are
        taken one by one, as a model makes them; nothing is yielded for one that finishes nothing.
        """
        held = b""
        for data in self.tokens(ids):
            held += data
            ready = len(held) - unfinished(held)
            if ready:
                yield held[:ready]
                held = held[ready:]
        if held:
            yield held


def unknown_id(token: int, index: int, n_tokens: int) -> TokenIdError:
    """Say that an id is not in the vocabulary."""
    return TokenIdError(f"id {token} at index {index}: expected an id from 0 to {n_tokens - 1}", index)


def unfinished(data: bytes) -> int:
    r"""Return how many bytes at the end, 0 to 3, begin a UTF-8 character that is not all there.

    >>> unfinished(b"a\xe5\xb0")
    2
    """
    for length in (1, 2, 3):
        if length > len(data):
            return 0
        lead = data[-length]
        if lead & 0xC0 == 0x80:
            continue  # it goes on a character: the lead byte lies further back
        if lead < 0xC2 or lead > 0xF4 or length >= (2 if lead < 0xE0 else 3 if lead < 0xF0 else 4):
            return 0
        low, high = _SECOND_BYTE.get(lead, (0x80, 0xBF))
        return length if length == 1 or low <= data[1 - length] <= high else 0
    return 0
