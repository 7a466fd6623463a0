"""Two images of different profiles: hardly a byte is the same, but the vocabulary may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from formats.layout.rules import word_of
from formats.layout.tree import Leaf, Rows
from formats.q25tokrt.compact_tables import high_count, unpack_merges
from formats.q25tokrt.layout import N_BYTES, PROFILE_SHIFT, Profile
from pipeline.dump.tokens import part_inside

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pipeline.artifact_files import ArtifactFile
    from pipeline.dump.tokens import Tokens

    Side = tuple[ArtifactFile, Tokens | None]


def profile_words(first: Side, second: Side) -> str:
    """Say of two images of different profiles whether tokens and merges are the same; nothing of other files."""
    profiles = [_profile(artifact) for artifact, _ in (first, second)]
    if None in profiles or profiles[0] == profiles[1]:
        return ""
    words = " -> ".join(word_of(profile) for profile in profiles if profile is not None)
    kinds = [_token_words(first[1], second[1]), _merge_words(_merges(first[0]), _merges(second[0]))]
    return f"profile {words}: {', '.join(kinds)}"


def _profile(artifact: ArtifactFile) -> Profile | None:
    flags = part_inside(artifact.walk.root, "header", "flags")
    if artifact.format.name != "q25tokrt" or not isinstance(flags, Leaf):
        return None
    return next((known for known in Profile if known == flags.value >> PROFILE_SHIFT), None)


def _token_words(one: Tokens | None, other: Tokens | None) -> str:
    if one is None or other is None or one.strings is None or other.strings is None:
        return "tokens that cannot be read"
    if len(one) != len(other):
        return f"{len(one):,} -> {len(other):,} tokens"
    pairs = zip(one.strings, other.strings, strict=True)
    differ = np.fromiter((a != b for a, b in pairs), dtype=bool, count=len(one))
    if one.types is not None and other.types is not None:
        differ |= one.types != other.types
    return _count_words("token", differ)


def _merge_words(one: NDArray[np.int64] | None, other: NDArray[np.int64] | None) -> str:
    if one is None or other is None:
        return "merges that cannot be read"
    if len(one) != len(other):
        return f"{len(one):,} -> {len(other):,} merges"
    return _count_words("merge", (one != other).any(axis=1))


def _count_words(name: str, differ: NDArray[np.bool_]) -> str:
    found = np.flatnonzero(differ)
    if not len(found):
        return f"the same {len(differ):,} {name}s"
    return f"{len(found):,} of {len(differ):,} {name}s differ, the first is {name} {found[0]}"


def _merges(artifact: ArtifactFile) -> NDArray[np.int64] | None:
    """Give left, right and out of each merge: shape (n_merges, 3)."""
    found: list[NDArray[Any]] = []
    whole = part_inside(artifact.walk.root, "sections", "merge_table")
    if isinstance(whole, Rows):
        found = [whole.columns[name].astype(np.int64) for name in ("left_id", "right_id", "out_id")]
    low, high = (
        part_inside(artifact.walk.root, "sections", f"merge_{part}_bits") for part in ("low", "high")
    )
    if isinstance(low, Rows) and isinstance(high, Rows) and len(high.columns) >= high_count(len(low.columns)):
        left, right = unpack_merges(low.columns.tobytes(), high.columns.tobytes())
        found = [left, right, np.arange(len(left)) + N_BYTES]
    return np.column_stack(found) if found else None
