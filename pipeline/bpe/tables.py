"""What the encoder and the decoder need to know of a vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class TokenTables(Protocol):
    """A byte-level BPE vocabulary, read in place. Ids are 0 <= id < n_tokens."""

    @property
    def n_tokens(self) -> int:
        """Number of ids, padding included."""

    @property
    def first_pad_id(self) -> int:
        """The ids from this one on are padding: no text has them, they decode to nothing."""

    @property
    def pre(self) -> str:
        """Name of the pre-tokenizer's rule, as in the GGUF; empty where the model names none."""

    @property
    def nfc(self) -> bool:
        """Whether the text is brought to NFC before it is cut into pieces."""

    @property
    def class_tables(self) -> int:
        """Unicode version of the character classes it was checked with, packed as in `unicode_tables`."""

    @property
    def nfc_tables(self) -> int:
        """Unicode version of the NFC tables it was checked with, in the same form."""

    @property
    def added_tokens(self) -> Sequence[int]:
        """Ids of the types 2, 3 and 4 below `first_pad_id`, in any order."""

    def byte_token(self, byte: int) -> int | None:
        """Return the id of the token that is exactly this byte (0..255), or None."""

    def merge(self, left: int, right: int) -> tuple[int, int] | None:
        """Return (rank, id of the result) of the merge of two tokens, or None if there is none.

        The rank is at least 0, lower is earlier, and no two merges share one.
        """

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes that a token stands for; for an added token, its text in UTF-8."""

    def token_type(self, token: int) -> int:
        """Return a token's type, as `formats.token_types.TokenType` numbers them."""
