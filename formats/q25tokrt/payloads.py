"""What the sections of an image of each profile hold, made from the PS bundle's tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.q25tokrt import (
    byte_map,
    compact_tables,
    derivation,
    pair_bitmap,
    pair_index,
    perfect_index,
    special_index,
    token_trie,
)
from formats.q25tokrt.layout import N_BYTES, Kind, Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from formats.byte_strings import ByteStrings
    from formats.layout.tables import Table


@dataclass(frozen=True)
class Tables:
    """The PS bundle's tables, which were checked.

    Attributes:
        token_index, token_bytes, merge_table: the files.
        tokens: the tokens' bytes in id order.
        types: token types of shape (n_tokens,).
        merges: the rows of the merge table.
        first_pad_id: where padding starts.

    """

    token_index: bytes
    token_bytes: bytes
    merge_table: bytes
    tokens: ByteStrings
    types: NDArray[Any]
    merges: Table
    first_pad_id: int

    @property
    def pairs(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Left and right of each merge."""
        return self.merges["left_id"], self.merges["right_id"]

    @property
    def byte_tokens(self) -> NDArray[np.uint32]:
        """The byte-token map."""
        return byte_map.build(self.tokens, self.types)


@dataclass(frozen=True)
class Payloads:
    """What an image holds.

    Attributes:
        sections: the payload of each section and the number of its records, in their order.
        hash_seed, max_probe: what the header says of the merge-pair index.

    """

    sections: dict[Kind, tuple[bytes, int]]
    hash_seed: int
    max_probe: int


def _standard(tables: Tables) -> Payloads:
    pairs = pair_index.build(*tables.pairs)
    sections = {
        Kind.TOKEN_INDEX: (tables.token_index, len(tables.tokens)),
        Kind.TOKEN_BYTES: (tables.token_bytes, len(tables.tokens)),
        Kind.MERGE_TABLE: (tables.merge_table, len(tables.merges)),
        Kind.BYTE_TOKEN_MAP: (tables.byte_tokens.tobytes(), N_BYTES),
        Kind.MERGE_PAIR_INDEX: (pairs.slots.tobytes(), len(pairs.slots)),
        Kind.SPECIAL_TOKEN_INDEX: _special_token_index(tables),
    }
    return Payloads(sections, pairs.seed, pairs.max_probe)


def _fast(tables: Tables) -> Payloads:
    made = _standard(tables)
    derivation.prove(*tables.pairs, tables.merges["out_id"], tables.byte_tokens)
    trie = token_trie.build(tables.tokens.take(np.arange(N_BYTES + len(tables.merges))))
    made.sections[Kind.TOKEN_TRIE] = (trie.slots.tobytes(), len(trie.slots))
    made.sections[Kind.TOKEN_PREFIXES] = (trie.prefixes.tobytes(), len(trie.prefixes))
    bitmap = pair_bitmap.build(*tables.pairs)
    made.sections[Kind.MERGE_PAIR_BITMAP] = (bitmap.tobytes(), len(bitmap))
    return made


def _compact(tables: Tables) -> Payloads:
    left, right = tables.pairs
    compact_tables.prove(left, right, tables.merges["out_id"], tables.byte_tokens)
    pairs = perfect_index.build(left, right)
    low, high = compact_tables.pack_merges(left, right)
    first_stored = N_BYTES + len(left)
    index, token_bytes = compact_tables.pack_stored(tables.tokens, tables.types, first_stored)
    n_stored = len(tables.tokens) - first_stored
    sections = {
        Kind.BYTE_TOKEN_MAP: (tables.byte_tokens.tobytes(), N_BYTES),
        Kind.BYTE_VALUES: (compact_tables.pack_byte_values(tables.byte_tokens), N_BYTES),
        Kind.MERGE_LOW_BITS: (low.tobytes(), len(low)),
        Kind.MERGE_HIGH_BITS: (high.tobytes(), len(high)),
        Kind.PAIR_MULTIPLIERS: (pairs.multipliers.tobytes(), len(pairs.multipliers)),
        Kind.PAIR_ROWS: (pairs.slots.tobytes(), len(pairs.slots)),
        Kind.STORED_TOKEN_INDEX: (index, n_stored),
        Kind.STORED_TOKEN_BYTES: (token_bytes, n_stored),
        Kind.SPECIAL_TOKEN_INDEX: _special_token_index(tables),
    }
    return Payloads(sections, pairs.seed, 1)


def _special_token_index(tables: Tables) -> tuple[bytes, int]:
    added = special_index.added_ids(tables.types, tables.first_pad_id)
    return special_index.build(tables.tokens, tables.types, tables.first_pad_id), len(added)


MAKERS: Mapping[Profile, Callable[[Tables], Payloads]] = {
    Profile.STANDARD: _standard,
    Profile.FAST: _fast,
    Profile.COMPACT: _compact,
}
"""What makes the sections of each profile; a FormatError where a vocabulary cannot have it."""
