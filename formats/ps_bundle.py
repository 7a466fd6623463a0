"""The PS bundle: three tables for the A53 processing system, little-endian and packed.

- `token_index.bin`: a record for each token, in id order;
- `token_bytes.bin`: the bytes of all tokens, back to back, in id order;
- `merge_table_u32.bin`: a record for each merge, in rank order.

The layout is the one of the format note for the processing system; engines outside this project
read it, so it does not change. The first three sections of Q25TOKRT are these tables, byte for byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from formats.byte_strings import ByteStrings
from formats.errors import FormatError, shown
from formats.layout import ROW, BytesToEnd, Field, FileLayout, Place, Record, ToEnd, u16, u32
from formats.layout.tables import Table
from formats.token_types import TokenType

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

INDEX_FILE = "token_index.bin"
BYTES_FILE = "token_bytes.bin"
MERGE_FILE = "merge_table_u32.bin"

MAX_TOKEN_BYTES = 0xFFFF
"""The longest token that byte_length can state."""

TOKEN_INDEX_RECORD = Record(
    "token_index_record",
    "Where one token's bytes lie, and what the token is.",
    Field(
        "byte_offset", u32, "first byte of the token in the token bytes", unit="bytes", follows="byte_length"
    ),
    Field("byte_length", u16, "length of the token", unit="bytes"),
    Field("token_type", u16, "what the token is", names=TokenType),
)

MERGE_RECORD = Record(
    "merge_record",
    "One merge: the pair of tokens and the token they make.",
    Field("left_id", u32, "id of the left token", unit="token id"),
    Field("right_id", u32, "id of the right token", unit="token id"),
    Field("out_id", u32, "id of the token made", unit="token id"),
    Field("rank", u32, "rank of the merge, equal to its row; the lowest goes first", follows=ROW),
)

TOKEN_INDEX = FileLayout(
    "token_index",
    "Where each token's bytes lie and what it is.",
    Field("token_index", ToEnd(TOKEN_INDEX_RECORD), "a record for each token, in id order"),
    file_name=INDEX_FILE,
)

TOKEN_BYTES = FileLayout(
    "token_bytes",
    "The bytes of all tokens.",
    Field("token_bytes", BytesToEnd(), "the tokens' bytes, back to back, in id order"),
    file_name=BYTES_FILE,
)

MERGE_TABLE = FileLayout(
    "merge_table_u32",
    "The merges.",
    Field("merge_table", ToEnd(MERGE_RECORD), "a record for each merge, in rank order"),
    file_name=MERGE_FILE,
)


def build_token_index(tokens: ByteStrings, types: ArrayLike) -> bytes:
    """Pack token_index.bin.

    Args:
        tokens: the tokens' bytes, n_tokens of them, in id order.
        types: token types of shape (n_tokens,).

    Raises:
        FormatError: a token longer than 65,535 bytes, or all of them longer than 4 GiB.

    """
    too_long = np.flatnonzero(tokens.lengths > MAX_TOKEN_BYTES)
    if len(too_long):
        token_id = int(too_long[0])
        raise FormatError(
            f"tokens of at most {MAX_TOKEN_BYTES} bytes (byte_length is a u16)",
            f"token {token_id} of {int(tokens.lengths[token_id])} bytes",
            file=INDEX_FILE,
            path=f"token_index[{token_id}].byte_length",
        )
    columns: dict[str, ArrayLike] = {
        "byte_offset": np.cumsum(tokens.lengths) - tokens.lengths,
        "byte_length": tokens.lengths,
        "token_type": types,
    }
    return Table.build(TOKEN_INDEX_RECORD, columns, Place(INDEX_FILE, "token_index")).tobytes()


def build_merge_table(left: ArrayLike, right: ArrayLike, out: ArrayLike) -> bytes:
    """Pack merge_table_u32.bin from token ids of shape (n_merges,) each, in rank order."""
    columns = {"left_id": left, "right_id": right, "out_id": out, "rank": np.arange(np.size(left))}
    return Table.build(MERGE_RECORD, columns, Place(MERGE_FILE, "merge_table")).tobytes()


def read_token_index(data: Any, n_token_bytes: int, place: Place | None = None) -> Table:
    """View token_index.bin and check that it covers the token bytes once, in id order.

    Args:
        data: the table's bytes.
        n_token_bytes: length of token_bytes.bin.
        place: where the table lies, where that is not its own file.

    Raises:
        FormatError: an unknown type, an offset that is not the sum of the lengths before it, or
            bytes left over.

    """
    table = Table.read(TOKEN_INDEX_RECORD, data, place or Place(INDEX_FILE, "token_index"))
    ends = np.cumsum(table["byte_length"], dtype=np.int64)
    starts = ends - table["byte_length"]
    table.require("byte_offset", table["byte_offset"] == starts, starts)
    total = int(ends[-1]) if len(ends) else 0
    if total != n_token_bytes:
        raise table.place.error(f"lengths that sum to the {n_token_bytes} token bytes", f"a sum of {total}")
    return table


def token_strings(index: Table, data: Any) -> ByteStrings:
    """Give every token's bytes, from a token index that was read and the token bytes."""
    return ByteStrings(
        np.frombuffer(data, np.uint8),
        index["byte_offset"].astype(np.int64),
        index["byte_length"].astype(np.int64),
    )


def read_merge_table(
    data: Any, tokens: ByteStrings, types: NDArray[Any], place: Place | None = None
) -> Table:
    """View merge_table_u32.bin and check it against the tokens.

    Args:
        data: the table's bytes.
        tokens: the tokens' bytes, n_tokens of them.
        types: token types of shape (n_tokens,).
        place: where the table lies, where that is not its own file.

    Raises:
        FormatError: a rank that is not its row, an id that is no normal token, a pair that occurs
            twice, or a merge whose bytes are not those of the token it makes.

    """
    table = Table.read(MERGE_RECORD, data, place or Place(MERGE_FILE, "merge_table"))
    table.require("rank", table["rank"] == np.arange(len(table)), np.arange(len(table)))
    for field in ("left_id", "right_id", "out_id"):
        table.require(field, table[field] < len(tokens), f"a token id below {len(tokens)}")
        # A merge to a control token would let plain text end a turn.
        table.require(field, types[table[field]] == TokenType.NORMAL, "the id of a normal token")
    left, right, out = (table[field].astype(np.int64) for field in ("left_id", "right_id", "out_id"))
    wrong = first_unjoined(tokens, left, right, out)
    if wrong is not None:
        joined = tokens[int(left[wrong])] + tokens[int(right[wrong])]
        raise table.cell(wrong, "out_id").error(
            f"the token with {shown(joined)}", f"{int(out[wrong])} with {shown(tokens[int(out[wrong])])}"
        )
    # Last, so that a damaged row is named itself, and not the row whose pair it took.
    repeated = first_repeat(left, right, len(tokens))
    if repeated is not None:
        first, again = repeated
        raise table.cell(again, "left_id").error(
            "each pair once", f"the pair {int(left[again])}, {int(right[again])} of row {first} again"
        )
    return table


def first_repeat(left: NDArray[np.int64], right: NDArray[np.int64], n_tokens: int) -> tuple[int, int] | None:
    """Find the first pair that occurs twice: its first row and the row that repeats it."""
    keys = left * n_tokens + right
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if not len(same):
        return None
    at = int(same[np.argmin(order[same + 1])])
    return int(order[at]), int(order[at + 1])


def first_unjoined(
    tokens: ByteStrings, left: NDArray[np.int64], right: NDArray[np.int64], out: NDArray[np.int64]
) -> int | None:
    """Find the first merge whose two tokens, joined, are not the token it makes."""
    lengths = tokens.lengths
    whole = lengths[left] + lengths[right] == lengths[out]
    # Up to the first merge of another length, the bytes of pairs and results must run alike.
    rows = len(out) if whole.all() else int(np.argmin(whole))
    made = tokens.take(out[:rows]).joined()
    pairs = tokens.take(np.column_stack((left[:rows], right[:rows])).ravel()).joined()
    if made == pairs:
        return None if rows == len(out) else rows
    differ = np.flatnonzero(np.frombuffer(made, np.uint8) != np.frombuffer(pairs, np.uint8))[0]
    return int(np.searchsorted(np.cumsum(lengths[out[:rows]]), differ, side="right"))


def require_padding(index: Table, first_pad_id: int) -> None:
    """Refuse padding of type normal: merges could make such a token, and text must never have one.

    Args:
        index: the token index.
        first_pad_id: ids from here on are padding.

    Raises:
        FormatError: naming the first such token.

    """
    wrong = np.flatnonzero(index["token_type"][first_pad_id:] == TokenType.NORMAL)
    if len(wrong):
        cell = index.cell(first_pad_id + int(wrong[0]), "token_type")
        raise cell.error("a type other than normal for padding", "1")
