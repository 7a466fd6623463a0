"""The records of the sections that only profile fast has."""

from __future__ import annotations

from formats.layout import Field, Record, u8, u32

TRIE_INTERNAL = 1 << 9
TRIE_TERMINAL = 1 << 10
TRIE_VALUE_SHIFT = 11
TRIE_VALUE_BITS = 32 - TRIE_VALUE_SHIFT

TRIE_SLOT = Record(
    "trie_slot",
    "One slot of the token trie. The base of the root is 0. The child of a node by byte c is the slot base + 1 + c, if "
    "that is of byte c. A node that is a token and has children has its id in the slot at its base.",
    Field(
        "slot",
        u32,
        "0 empty; bits 0-8 last byte + 1, or 0 for an id; bit 9 has children, bit 10 is a token; "
        "bits 11-31 base of the children, else id",
        form="hex",
    ),
)

PREFIX_LENGTH_SHIFT = 21
MAX_PREFIX_BYTES = (1 << 32 - PREFIX_LENGTH_SHIFT) - 1

TOKEN_PREFIX = Record(
    "token_prefix",
    "The longest other token that a token begins with; the row is the token's id.",
    Field("prefix", u32, "0 none; bits 0-20 the id, bits 21-31 its length in bytes", form="hex"),
)

PAIR_BITS = Record(
    "pair_bits",
    "Eight bits of the merge-pair bitmap, which has such a byte for each of the merge-pair index's 2^k home slots. "
    "The hash of a pair is the highest k + 3 bits of (left_id * 0x9E3779B1 + right_id * 0x85EBCA77) mod 2^32.",
    Field("bits", u8, "bit b mod 8 of byte b / 8 is set where a merged pair has the hash b", form="hex"),
)
