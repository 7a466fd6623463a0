"""Byte-pair merges by rank: the lowest rank first, and the leftmost among equals.

A vocabulary's merges are asked for one pair at a time, so no table of them needs to be built. Both
ways below give the same ids and ask for less than three pairs for each token they start from.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import pairwise

PairLookup = Callable[[int, int], tuple[int, int] | None]
"""The merge of two neighbouring tokens, as (rank, id of the result), or None if there is none."""

SHORT = 48
"""Up to so many tokens, searching the whole list for the lowest rank is quicker than a heap."""

_NEVER = (1 << 62, -1)
"""What no merge is: it ranks behind every one."""


def merge(tokens: list[int], lookup: PairLookup) -> list[int]:
    """Return what the merges make of a piece's byte tokens.

    Time is O(n log n) for n tokens, and for at most `SHORT` of them a bounded number of steps.
    """
    return merge_short(tokens, lookup) if len(tokens) <= SHORT else merge_long(tokens, lookup)


def merge_short(tokens: list[int], lookup: PairLookup) -> list[int]:
    """Merge by searching all neighbours for the lowest rank, again and again: for short pieces."""
    merged = list(tokens)
    found = [lookup(left, right) or _NEVER for left, right in pairwise(merged)]
    while found:
        best = min(found)
        if best is _NEVER:
            break
        at = found.index(best)
        merged[at : at + 2] = [best[1]]
        del found[at]
        if at > 0:
            found[at - 1] = lookup(merged[at - 1], merged[at]) or _NEVER
        if at < len(found):
            found[at] = lookup(merged[at], merged[at + 1]) or _NEVER
    return merged


def merge_long(tokens: list[int], lookup: PairLookup) -> list[int]:
    """Merge with a heap of the possible merges over a linked list of tokens: for pieces of any length."""
    count = len(tokens)
    merged = list(tokens)
    following = list(range(1, count + 1))  # index of the next token; `count` behind the last
    previous = list(range(-1, count - 1))
    rank_at = [-1] * count  # the rank of the token's merge with the next one; -1: none, or swallowed
    heap: list[tuple[int, int, int]] = []  # (rank, index of the left token, id of the result)

    for at in range(count - 1):
        if found := lookup(merged[at], merged[at + 1]):
            rank_at[at] = found[0]
            heap.append((found[0], at, found[1]))
    heapify(heap)

    while heap:
        rank, at, result = heappop(heap)
        if rank_at[at] != rank:
            continue  # one of the two tokens has been merged otherwise since
        swallowed = following[at]
        after = following[swallowed]
        before = previous[at]
        merged[at] = result
        rank_at[swallowed] = -1
        following[at] = after
        rank_at[at] = -1
        if after < count:
            previous[after] = at
            if found := lookup(result, merged[after]):
                rank_at[at] = found[0]
                heappush(heap, (found[0], at, found[1]))
        if before >= 0:
            rank_at[before] = -1
            if found := lookup(merged[before], result):
                rank_at[before] = found[0]
                heappush(heap, (found[0], before, found[1]))

    kept: list[int] = []
    at = 0
    while at < count:
        kept.append(merged[at])
        at = following[at]
    return kept
