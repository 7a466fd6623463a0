"""The token trie: from the bytes of a text to the longest token they begin with, a read for each byte.

A double array. A node that has children has a base; the child by byte b is the slot at base + 1 + b,
which says that it is by b. No two nodes have the same base, so a slot is the child of one node only. A
node that is a token and has children too has its id in the slot at its base. The root's base is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formats.errors import FormatError
from formats.q25tokrt.fast_records import (
    MAX_PREFIX_BYTES,
    PREFIX_LENGTH_SHIFT,
    TRIE_INTERNAL,
    TRIE_TERMINAL,
    TRIE_VALUE_BITS,
    TRIE_VALUE_SHIFT,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formats.byte_strings import ByteStrings

_WINDOW = 8192
_SLIDE = 1024
"""Slots that are looked through for a base, and by how many they move on when there is none."""
_SPREAD = 257
"""Slots that a node's children and its id may be apart."""
_ROUNDS = 60
"""How often slots that were left over are tried again."""


@dataclass(frozen=True)
class _Nodes:
    """The nodes of a trie but for the root, in the order of their paths' bytes.

    Attributes:
        parent: shape (n,), the node above, or -1 for the root.
        byte: shape (n,), the last byte of the path.
        token: shape (n,), the id of the token that the path is, or -1.

    """

    parent: NDArray[np.int64]
    byte: NDArray[np.int64]
    token: NDArray[np.int64]


@dataclass(frozen=True)
class TokenTrie:
    """What is packed of a trie.

    Attributes:
        slots: shape (n_slots,), little-endian uint32.
        prefixes: shape (n_tokens,), little-endian uint32: the longest other token that each token
            begins with, as length << 21 | id; 0 where there is none.

    """

    slots: NDArray[np.uint32]
    prefixes: NDArray[np.uint32]


def build(tokens: ByteStrings) -> TokenTrie:
    """Arrange the trie of tokens, whose ids are their places.

    Args:
        tokens: distinct and not empty.

    Raises:
        FormatError: more slots than a slot can number, or a token longer than a prefix can be.

    """
    longest = int(tokens.lengths.max(initial=0))
    if longest > MAX_PREFIX_BYTES:
        raise _refusal(f"tokens of at most {MAX_PREFIX_BYTES} bytes", f"one of {longest}")
    nodes = _grow(tokens)
    children = np.bincount(nodes.parent + 1, minlength=len(nodes.parent) + 1)
    by_parent = np.argsort(nodes.parent, kind="stable")
    ends = np.cumsum(children)
    is_inner = children[1:] > 0
    has_id = np.concatenate([[False], is_inner & (nodes.token >= 0)])
    bases = _place(nodes, children, by_parent, ends, has_id)

    slots_of = bases[nodes.parent + 1] + 1 + nodes.byte
    id_slots = bases[has_id]
    n_slots = int(max(slots_of.max(initial=0), id_slots.max(initial=0))) + 1
    if n_slots > 1 << TRIE_VALUE_BITS:
        raise _refusal(f"at most {1 << TRIE_VALUE_BITS} slots", str(n_slots))
    slots = np.zeros(n_slots, dtype="<u4")
    values = np.where(is_inner, bases[1:], nodes.token)
    marks = np.where(is_inner, TRIE_INTERNAL, 0) | np.where(nodes.token >= 0, TRIE_TERMINAL, 0)
    slots[slots_of] = values << TRIE_VALUE_SHIFT | marks | (nodes.byte + 1)
    slots[id_slots] = nodes.token[has_id[1:]] << TRIE_VALUE_SHIFT
    return TokenTrie(slots, _prefixes(nodes, tokens.lengths))


def _refusal(expected: str, found: str) -> FormatError:
    hint = "profile standard serves any vocabulary"
    return FormatError(expected, found, path="token_trie", hint=hint)


def _prefixes(nodes: _Nodes, lengths: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Find the nearest token above each token: going up from all of them at once."""
    prefixes = np.zeros(len(lengths), dtype="<u4")
    token = np.append(nodes.token, -1)  # of the root, which is at -1
    above = nodes.parent[nodes.token >= 0]
    ids = nodes.token[nodes.token >= 0]
    while len(ids):
        found = token[above] >= 0
        prefix = token[above[found]]
        prefixes[ids[found]] = lengths[prefix] << PREFIX_LENGTH_SHIFT | prefix
        goes_on = ~found & (above >= 0)
        ids, above = ids[goes_on], nodes.parent[above[goes_on]]
    return prefixes


def _grow(tokens: ByteStrings) -> _Nodes:
    """Make the nodes, a level at a time: among sorted tokens those of one node lie together."""
    order = np.array(sorted(range(len(tokens)), key=list(tokens).__getitem__), dtype=np.int64)
    starts, lengths = tokens.starts[order], tokens.lengths[order]
    above = np.full(len(order), -1, dtype=np.int64)  # the node that a token's path has come to
    alive = np.arange(len(order))
    parents, letters, ids, firsts = [], [], [], []
    n_nodes = 0
    for depth in range(int(lengths.max(initial=0))):
        alive = alive[lengths[alive] > depth]
        letter = tokens.data[starts[alive] + depth].astype(np.int64)
        keys = above[alive] << 8 | letter
        begins = np.concatenate([[True], keys[1:] != keys[:-1]])
        node = np.cumsum(begins) - 1
        heads = alive[begins]
        parents.append(above[heads])
        letters.append(letter[begins])
        ids.append(np.where(lengths[heads] == depth + 1, order[heads], -1))
        firsts.append(heads)
        above[alive] = node + n_nodes
        n_nodes += len(heads)
    parent, byte, token, first = (
        np.concatenate([[], *part]).astype(np.int64) for part in (parents, letters, ids, firsts)
    )
    # From levels to the order of paths: a node comes before those below it, near them.
    by_path = np.argsort(first, kind="stable")
    new = np.empty(n_nodes + 1, dtype=np.int64)
    new[by_path] = np.arange(n_nodes)
    new[-1] = -1
    return _Nodes(new[parent[by_path]], byte[by_path], token[by_path])


def _place(
    nodes: _Nodes,
    children: NDArray[np.int64],
    by_parent: NDArray[np.int64],
    ends: NDArray[np.int64],
    has_id: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Choose the bases: of nodes that take several slots first, most slots first, then of the others.

    Returns:
        shape (n + 1,), the root first; 0 where a node has no children.

    """
    taken = children + has_id
    several = np.flatnonzero((taken > 1) & (children > 0))
    several = several[np.argsort(-taken[several], kind="stable")]
    several = np.concatenate([[0], several[several != 0]])
    bases = np.zeros(len(children), dtype=np.int64)
    free = _FreeSlots()
    bytes_of, begins = (nodes.byte[by_parent] + 1).tolist(), (ends - children).tolist()
    for node, size, identified in zip(
        several.tolist(), children[several].tolist(), has_id[several].tolist(), strict=True
    ):
        wanted = bytes_of[begins[node] : begins[node] + size]
        bases[node] = free.take([0, *wanted] if identified else wanted)
    single = np.flatnonzero((taken == 1) & (children == 1))
    single = single[single != 0]
    offsets = nodes.byte[by_parent[(ends - 1)[single]]] + 1
    bases[single] = free.take_singly(offsets)
    return bases


class _FreeSlots:
    """The slots that are free: bits of an integer, of which only a window is looked at."""

    def __init__(self) -> None:
        self._bits = (1 << _WINDOW) - 1
        self._start = 0
        self._passed: list[int] = []  # what was free in each part that the window has left behind
        self._bases: set[int] = set()

    def take(self, offsets: list[int]) -> int:
        """Take the lowest base from which the slots at all offsets are free."""
        while True:
            fits = (1 << (_WINDOW - _SPREAD)) - 1
            for offset in offsets:
                fits &= self._bits >> offset
            while fits:
                lowest = fits & -fits
                base = self._start + lowest.bit_length() - 1
                if base not in self._bases:
                    self._bases.add(base)
                    for offset in offsets:
                        self._bits &= ~(lowest << offset)
                    return base
                fits ^= lowest
            self._passed.append(self._bits & ((1 << _SLIDE) - 1))
            self._bits = self._bits >> _SLIDE | ((1 << _SLIDE) - 1) << (_WINDOW - _SLIDE)
            self._start += _SLIDE

    def take_singly(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Take a base for each offset, where the slot at it is free; nothing can be taken afterwards.

        In rounds: each offset is paired with a free slot, in order. What does not fit, because the
        base is another node's, is paired anew among itself, and with slots further on in the end.
        """
        free = self._free(_SPREAD + 4 * len(offsets))
        is_base = np.zeros(len(free), dtype=bool)
        is_base[list(self._bases)] = True
        slots, unused = np.split(np.flatnonzero(free[_SPREAD:]) + _SPREAD, [len(offsets)])
        bases = np.empty(len(offsets), dtype=np.int64)
        left = np.arange(len(offsets))
        number = 0
        while len(left):
            number += 1
            found = slots - offsets[left]
            _, firsts = np.unique(found, return_index=True)
            fits = np.zeros(len(found), dtype=bool)
            fits[firsts] = True
            fits &= ~is_base[found]
            bases[left[fits]] = found[fits]
            is_base[found[fits]] = True
            left, slots = left[~fits], np.roll(slots[~fits], number)
            if number > _ROUNDS:
                slots, unused = np.split(unused, [len(left)])
        return bases

    def _free(self, more: int) -> NDArray[np.bool_]:
        """Tell of each slot whether it is free, and of `more` behind the window, which are."""
        sizes = [*[_SLIDE] * len(self._passed), _WINDOW]
        parts = [
            np.unpackbits(np.frombuffer(bits.to_bytes(size // 8, "little"), np.uint8), bitorder="little")
            for bits, size in zip([*self._passed, self._bits], sizes, strict=True)
        ]
        return np.concatenate([*parts, np.ones(more, dtype=np.uint8)]).astype(bool)
