"""token_types.bin: one i32 per token, in id order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from formats.layout import Field, FileLayout, Place, Record, ToEnd, i32
from formats.layout.tables import Table
from formats.token_types import TokenType

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FILE_NAME = "token_types.bin"

TOKEN_TYPE = Record(
    "token_type_record",
    "One token's type.",
    Field("token_type", i32, "what the token is", names=TokenType),
)

TOKEN_TYPES = FileLayout(
    "token_types",
    "The type of each token.",
    Field("token_types", ToEnd(TOKEN_TYPE), "a record for each token, in id order"),
    file_name=FILE_NAME,
)


def build(types: ArrayLike) -> bytes:
    """Pack token types of shape (n_tokens,) into token_types.bin.

    Raises:
        FormatError: a type outside the enumeration, with its index.

    """
    return Table.build(TOKEN_TYPE, {"token_type": types}, Place(FILE_NAME, "token_types")).tobytes()


def read(data: Any, file: str = FILE_NAME) -> Table:
    """View token_types.bin as a table with the column `token_type`, i32 of shape (n_tokens,).

    Raises:
        FormatError: bytes left over, or a type outside the enumeration.

    """
    return Table.read(TOKEN_TYPE, data, Place(file, "token_types"))
