"""The records of the sections that only profile compact has, and its bounds."""

from __future__ import annotations

from formats.layout import Field, Record, odd, u8, u16

COMPACT_ID_BITS = 18
MAX_COMPACT_MERGES = (1 << COMPACT_ID_BITS) - 256
"""So that the ids of what merges make, and their rows, fit."""
MAX_PENDING = 32
"""Parts of a token that wait, where it is taken apart from the left: what a reader has to keep."""
MAX_MADE_BYTES = 1 << 24
"""Of all tokens that merges make, together: it bounds what proving an image takes."""

MERGE_LOW_BITS = Record(
    "merge_low_bits",
    "The low 16 bits of the two tokens of a merge; the row is its rank, and the id it makes 256 + row.",
    Field("left_low", u16, "of the left token's id"),
    Field("right_low", u16, "of the right token's id"),
)

FIRST_HIGH_ROW = (1 << 16) - 256
"""The first merge of a token that may have an id of more than 16 bits: a merge is of lower ids than it makes."""

MERGE_HIGH_BITS = Record(
    "merge_high_bits",
    "The high bits of the tokens of two merges; merge r is in row (r - 65280) / 2, and none below.",
    Field(
        "high_bits",
        u8,
        "bits 0-1 of the left and 2-3 of the right token of the even merge, bits 4-7 of the odd one",
        form="hex",
    ),
)

PAIR_MULTIPLIER = Record(
    "pair_multiplier",
    "What sends the pairs of one bucket to their slots: with h = (2^36 + left * 2^18 + right) * hash_seed mod 2^64 "
    "the bucket is the top k bits of h, for 2^k rows.",
    Field("multiplier", u16, "odd", rule=odd()),
)

PAIR_CHECK_BITS = 6
EMPTY_PAIR_ROW = (1 << COMPACT_ID_BITS) - 1

PAIR_ROW = Record(
    "pair_row",
    "One slot of the perfect merge-pair index: that of a pair is (x * multiplier mod 2^32) * rows / 2^32, with x the "
    "two halves of h, one XOR the other; a pair is merged where check and merge agree.",
    Field("row_low", u16, "low 16 bits of the merge's row; 0xFFFF with high bits 3: empty", form="hex"),
    Field(
        "row_high_and_check",
        u8,
        "bits 0-1 high bits of the row; bits 2-7 check: the six bits of h below the bucket, 0 where empty",
        form="hex",
    ),
)

BYTE_VALUE = Record(
    "byte_value",
    "The byte that a token below 256 is; the row is its id.",
    Field("byte", u8, "the token's byte", form="hex"),
)
