"""The RK3588 engine as a party: its encoder, and what it would do with some of its stages mended.

The engine's code stays as it is; it is given another text, other special tokens or places that no match
may cross, and its tokens are looked at again:

- special: it takes all added tokens first, as its present form takes some;
- normalisation: it is given the text in NFC;
- unmatched byte, lost blank: it is given bytes below 20, or blanks, spelled as its entries spell them;
- byte alias: it is given entries and a text in which the byte C4, with which stored glyphs begin, is
  another one where it is a byte of the text;
- pre-tokenizer: no match crosses the borders of the reference's pieces;
- merge order: what its tokens stand for within a piece, or within pieces that a token of it joins, is
  merged by rank, as far as it is what stood there.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING

from formats.byte_strings import ByteStrings
from formats.token_types import TokenType
from formats.vocab_bin import FILE_NAME, STORED
from pipeline.engines.greedy import GreedyEncoder
from pipeline.parity.causes import Cause
from pipeline.parity.parties import likely
from pipeline.parity.passage import Passage, Span

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from pipeline.bpe.encoder import Encoder
    from pipeline.engines.greedy import GreedyToken
    from pipeline.parity.causes import Mended
    from pipeline.parity.model_tables import ModelTables

_REMEMBERED = 4
"""Passages that are kept: each text is asked about many times, and then no more."""

_BLANK = 0x20
_TWO_BYTES = [byte for byte in range(256) if len(STORED[byte]) > 1]
"""The bytes of a token that the file spells in two."""
_SWAP = bytes.maketrans(b"\xc4\xff", b"\xff\xc4")
_LOW = re.compile(b"[" + re.escape(bytes(_TWO_BYTES)) + b"]")


class Mending:
    """What the variants of one model share: the model's side, and entries that tell letters and glyphs apart.

    Args:
        tables: the model's vocabulary.
        exact: the model's exact encoder.

    """

    def __init__(self, tables: ModelTables, exact: Encoder) -> None:
        self.tables = tables
        self.exact = exact
        self.passage = lru_cache(_REMEMBERED)(self._make_passage)

    def _make_passage(self, text: str, *, nfc: bool) -> tuple[Passage, list[int]]:
        """Give a text as a passage, and where the reference's pieces begin in it."""
        passage = Passage(self.exact.stretches(text), nfc=nfc)
        borders = []
        for part in passage.parts:
            at = part.start
            for piece in self.exact.split(part.text) if part.special is None else ():
                borders.append(at)
                at += len(piece.encode())
        return passage, borders

    @cached_property
    def told_apart(self) -> GreedyEncoder:
        """An encoder, of the base form, on entries that no letter can be taken for a glyph in.

        The 33 glyphs of the bytes 00..20 are stored as C4 80..C4 A0, which are letters too. Here a byte
        C4 of a token is stored as FF, and FF, which no text in UTF-8 has, as C4; a text must be
        spelled likewise.
        """
        stored = []
        for token in range(self.tables.first_pad_id):
            data = _swapped(self.tables.token_bytes(token))
            if self.tables.token_type(token) == TokenType.NORMAL:
                data = _LOW.sub(lambda match: STORED[match[0][0]], data)
            stored.append(data)
        return GreedyEncoder(ByteStrings.from_list(stored))


class GreedyParty:
    """A variant of the engine.

    Args:
        key: its short name.
        title: what it is, in a line.
        encoder: the variant on the entries of a vocab.bin.
        mending: the model's side.

    """

    artifact = FILE_NAME
    stages = (
        Cause.SPECIAL,
        Cause.NORMALISATION,
        Cause.UNMATCHED_BYTE,
        Cause.BYTE_ALIAS,
        Cause.LOST_BLANK,
        Cause.PRE_TOKENIZER,
        Cause.MERGE_ORDER,
    )

    def __init__(self, key: str, title: str, encoder: GreedyEncoder, mending: Mending) -> None:
        self.key = key
        self.title = title
        self._encoder = encoder
        self._mending = mending
        self._tables = mending.tables
        self._exact = mending.exact
        self._encoder_with = cache(self._make_encoder)

    def manner(self, text: str) -> Hashable:
        """Give the variant's rules, less those that no tokens of the text depend on.

        Mending changes nothing of that: the text may be spelled otherwise and brought to NFC, but neither makes
        a blank, a newline or a character of the special tokens that was not there.
        """
        rules, data = self._encoder.rules, text.encode()
        needed = replace(
            rules,
            blank_needs_token=rules.blank_needs_token and data.startswith(b" "),
            lone_blank=rules.lone_blank and b" " in data,
            specials=rules.specials if any(special in data for special in rules.specials) else (),
            newline_run=rules.newline_run if b"\n\n" in data else 1,
        )
        return self._mending, needed

    def likely(self, text: str) -> Sequence[Cause]:
        """List those of its stages that are worth trying on a text, in order."""
        return likely(self.stages, text, self._exact)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text."""
        return self._encoder.encode(text.encode())

    def trace(self, text: str, mended: Mended) -> list[Span]:
        """Return the tokens of a text, with some stages mended, and what each was made from."""
        passage, borders = self._mending.passage(text, nfc=Cause.NORMALISATION in mended)
        spelled = _Spelled(passage, _pattern(mended), told_apart=Cause.BYTE_ALIAS in mended)
        fences = [spelled.place_of(border) for border in borders] if Cause.PRE_TOKENIZER in mended else []
        tokens = spelled.origins(self._mended_encoder(mended).tokens(spelled.data, fences))
        if Cause.MERGE_ORDER in mended:
            tokens = self._merged(tokens, passage.data, set(borders))
        return tokens if passage.is_as_given else [passage.span(*token) for token in tokens]

    def _mended_encoder(self, mended: Mended) -> GreedyEncoder:
        return self._encoder_with(all_specials=Cause.SPECIAL in mended, told_apart=Cause.BYTE_ALIAS in mended)

    def _make_encoder(self, *, all_specials: bool, told_apart: bool) -> GreedyEncoder:
        encoder, specials = self._encoder, self._encoder.rules.specials
        if all_specials:
            specials = [self._tables.token_bytes(token) for token in self._tables.added_tokens]
        if told_apart:
            encoder = self._mending.told_apart
            specials = [_swapped(text) for text in specials]
        return encoder.with_rules(replace(self._encoder.rules, specials=tuple(specials)))

    def _merged(self, tokens: list[Span], data: bytes, borders: set[int]) -> list[Span]:
        """Merge by rank the bytes of tokens that follow each other between borders and places where bytes got lost."""
        merged: list[Span] = []
        group: list[Span] = []
        for token in tokens:
            stands = self._stands_for_its_bytes(token, data)
            if group and (not stands or group[-1].end != token.start or token.start in borders):
                merged += self._merged_group(group, data)
                group = []
            if stands:
                group.append(token)
            else:
                merged.append(token)
        return merged + self._merged_group(group, data)

    def _merged_group(self, group: list[Span], data: bytes) -> list[Span]:
        if not group:
            return []
        at = group[0].start
        try:
            text = data[at : group[-1].end].decode()
        except UnicodeDecodeError:  # a part of a character got lost beside it
            return group
        spans = []
        for token in self._exact.piece_ids(text):
            start, at = at, at + len(self._tables.token_bytes(token))
            spans.append(Span(token, start, at))
        return spans

    def _stands_for_its_bytes(self, token: Span, data: bytes) -> bool:
        """Tell whether a token is a normal one, and stands for what it was made from."""
        is_normal = self._tables.token_type(token.token) == TokenType.NORMAL
        return is_normal and self._tables.token_bytes(token.token) == data[token.start : token.end]


def _swapped(data: bytes) -> bytes:
    return data.translate(_SWAP)


@cache
def _pattern(mended: Mended) -> re.Pattern[bytes] | None:
    """Match the bytes of a text that are to be spelled as the entries spell them; None for none."""
    which = [
        byte
        for byte in _TWO_BYTES
        if (Cause.LOST_BLANK if byte == _BLANK else Cause.UNMATCHED_BYTE) in mended
    ]
    return re.compile(b"[" + re.escape(bytes(which)) + b"]") if which else None


class _Spelled:
    """A passage with some of its bytes spelled as entries spell them, in two bytes for one.

    Special tokens stay as they are: the file has them as plain text.

    Attributes:
        data: the passage so spelled.

    """

    def __init__(self, passage: Passage, pattern: re.Pattern[bytes] | None, *, told_apart: bool) -> None:
        self._places: list[int] = []  # of the bytes spelled in two, ascending
        self.data = _swapped(passage.data) if told_apart else passage.data
        if pattern is None:
            return
        chunks = []
        for part in passage.parts:
            raw = _swapped(part.text.encode()) if told_apart else part.text.encode()
            if part.special is None:
                self._places += [part.start + match.start() for match in pattern.finditer(raw)]
                raw = pattern.sub(lambda match: STORED[match[0][0]], raw)
            chunks.append(raw)
        self.data = b"".join(chunks)
        self._doubled = [place + index for index, place in enumerate(self._places)]

    def place_of(self, offset: int) -> int:
        """Tell where a place of the passage lies in the spelled data."""
        return offset + bisect_left(self._places, offset)

    def origins(self, tokens: Iterable[GreedyToken]) -> list[Span]:
        """Tell what in the passage the tokens of the spelled data were made from."""
        if not self._places:
            return [Span(token, start, end) for token, start, end, _ in tokens]
        doubled = self._doubled
        return [
            Span(token, start - bisect_left(doubled, start), end - bisect_left(doubled, end))
            for token, start, end, _ in tokens
        ]
