"""The tokens of an image of profile compact: most are put together from their merges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formats.byte_strings import ByteStrings
from formats.errors import FormatError
from formats.layout import Place
from formats.layout.tree import Leaf, Rows
from formats.q25tokrt import compact_tables
from formats.q25tokrt.compact_records import FIRST_HIGH_ROW, MERGE_LOW_BITS
from formats.q25tokrt.layout import N_BYTES, Kind
from formats.token_types import TokenType
from pipeline.dump.tokens import Tokens, part_inside

if TYPE_CHECKING:
    from pipeline.artifact_files import ArtifactFile


@dataclass(frozen=True)
class CompactTokens(Tokens):
    """Tokens of which the bytes are not in one place.

    Attributes:
        first_stored: ids from here on have bytes of their own.

    """

    first_stored: int = 0

    @property
    def has_places(self) -> bool:
        """Whether the tokens lie in the file itself, which they do in several parts."""
        return True

    def places(self, token_id: int) -> list[str]:
        """List the paths of a single byte, of a merge, or of a row of the stored tokens and its bytes."""
        if token_id < N_BYTES:
            return [f"sections.byte_values[{token_id}]"]
        if token_id < self.first_stored:
            row = token_id - N_BYTES
            high = (
                [f"sections.merge_high_bits[{(row - FIRST_HIGH_ROW) // 2}]"] if row >= FIRST_HIGH_ROW else []
            )
            return [f"sections.merge_low_bits[{row}]", *high]
        assert self.strings is not None  # noqa: S101  (an image that has no strings has no such tokens)
        row, end = token_id - self.first_stored, int(self.strings.lengths[token_id])
        start = int(self.strings.starts[token_id] - self.strings.starts[self.first_stored])
        return [
            f"sections.stored_token_index[{row}]",
            f"sections.stored_token_bytes[{start}:{start + end}]",
        ]


def compact_tokens(artifact: ArtifactFile) -> CompactTokens | None:
    """Put the tokens together; None where the image is not of that profile, or damaged."""
    found = [
        part_inside(artifact.walk.root, "sections", kind.name.lower())
        for kind in (Kind.MERGE_LOW_BITS, Kind.MERGE_HIGH_BITS, Kind.BYTE_VALUES, Kind.STORED_TOKEN_INDEX)
    ]
    data = part_inside(artifact.walk.root, "sections", "stored_token_bytes")
    if not isinstance(data, Leaf) or not all(isinstance(part, Rows) for part in found):
        return None
    low, high, values, index = (part.columns for part in found if isinstance(part, Rows))
    place = Place(artifact.path.name, "sections.merge_low_bits")
    if len(high) < compact_tables.high_count(len(low)) or len(values) != N_BYTES:
        return None
    left, right = compact_tables.unpack_merges(low.tobytes(), high.tobytes())
    try:
        compact_tables.require_lower_parts(left, right, place)
        compact_tables.require_bounds(compact_tables.measure(left, right), place, MERGE_LOW_BITS.size)
    except FormatError:
        return None
    made = compact_tables.made_strings(left, right, values.tobytes())
    # Behind the bytes that were put together come those that are stored.
    stored = np.frombuffer(data.value, dtype=np.uint8)
    starts, lengths = index["byte_offset"].astype(np.int64), index["byte_length"].astype(np.int64)
    lengths[starts + lengths > len(stored)] = 0  # a damaged index leads nowhere
    starts[lengths == 0] = 0
    strings = ByteStrings(
        np.concatenate((made.data, stored)),
        np.concatenate((made.starts, starts + len(made.data))),
        np.concatenate((made.lengths, lengths)),
    )
    normal = np.full(len(made), TokenType.NORMAL, dtype=np.uint16)
    types = np.concatenate((normal, index["token_type"]))
    return CompactTokens("", strings, types, "", "bytes", "", len(made))
