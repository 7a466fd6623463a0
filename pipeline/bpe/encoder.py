"""Text to token ids: special tokens, NFC, the split rule, merges by rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from formats.errors import shown
from formats.token_types import TokenType
from pipeline.bpe.errors import ByteTokenError, TextError
from pipeline.bpe.merging import merge
from pipeline.bpe.nfc import applied, changes, nfc
from pipeline.bpe.offsets import SourceMap
from pipeline.bpe.pretokenizer import rule_for
from pipeline.bpe.specials import SpecialMatcher
from pipeline.errors import ModelError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipeline.bpe.tables import TokenTables

Specials = Literal["all", "user", "none"]
"""Which special tokens a text may hold: all added tokens, the user-defined ones only, or none."""

Invalid = Literal["error", "replace"]
"""What to do with bytes that are not UTF-8."""

CACHED_PIECES = 1 << 15
"""Pieces whose ids are kept; when there are so many, all are dropped."""

CACHED_LENGTH = 32
"""Characters of the longest piece that is kept."""


class Piece(NamedTuple):
    """A token of an encoded text.

    Fields:
        token: its id.
        data: the bytes it stands for; those of all pieces, joined, are the text after NFC.
        start, end: what it came from, as byte offsets in the UTF-8 form of the text before NFC
            (and after invalid bytes were replaced). Tokens that share a part which NFC changed
            share its offsets.
    """

    token: int
    data: bytes
    start: int
    end: int


class Encoder:
    """Encodes text as HuggingFace `tokenizers` does, for one vocabulary.

    Args:
        tables: the vocabulary.
        specials: "all" matches control, unknown and user-defined tokens in the text; "user" only
            user-defined ones, as the reference does when told to encode special tokens: all are
            looked for, and where a control or unknown token stands its text is ordinary, even
            if a user-defined token overlaps it; "none" takes all text for ordinary.
        invalid: for `bytes` that are not UTF-8, "error", or "replace" to put U+FFFD for each
            maximal subpart: a lead byte with as many continuation bytes as could still belong to
            a character, else a single byte. That is Python's `errors="replace"`.

    Raises:
        PretokenizerError: the split rule is none of those known.
        ModelError: the text of an added token is not UTF-8.
        UsageError: `specials` or `invalid` is something else.

    """

    def __init__(self, tables: TokenTables, specials: Specials = "all", invalid: Invalid = "error") -> None:
        _one_of("specials", specials, get_args(Specials))
        _one_of("invalid", invalid, get_args(Invalid))
        self._tables = tables
        self._errors = "strict" if invalid == "error" else "replace"
        self._split = rule_for(tables.pre)
        self._merge = tables.merge
        self._byte_tokens = [tables.byte_token(byte) for byte in range(256)]
        self._cache: dict[str, list[int]] = {}
        ids = {} if specials == "none" else _special_texts(tables)
        self._specials = SpecialMatcher(ids)
        self._matched = frozenset(
            token
            for token in ids.values()
            if specials == "all" or tables.token_type(token) == TokenType.USER_DEFINED
        )

    def encode(self, text: str | bytes) -> list[int]:
        """Return the ids of a text.

        Raises:
            TextError: bytes that are not UTF-8, or a `str` that holds half of a surrogate pair.
            ByteTokenError: the vocabulary has no token for a byte of the text.

        """
        ids: list[int] = []
        for stretch, special in self._stretches(self._checked(text)):
            if special is None:
                normal = nfc(stretch) if self._tables.nfc else stretch
                for piece in self._split(normal):
                    ids += self._piece_ids(piece)
            else:
                ids.append(special)
        return ids

    def pieces(self, text: str | bytes) -> list[Piece]:
        """Return the tokens of a text with their bytes and what they came from; errors as in `encode`."""
        pieces: list[Piece] = []
        start = 0
        for stretch, special in self._stretches(self._checked(text)):
            end = start + len(stretch.encode())
            if special is None:
                pieces += self._stretch_pieces(stretch, start)
            else:
                pieces.append(Piece(special, self._tables.token_bytes(special), start, end))
            start = end
        return pieces

    def _checked(self, text: str | bytes) -> str:
        """The text as well-formed Unicode."""
        if isinstance(text, str):
            try:
                text.encode()
            except UnicodeEncodeError as error:
                at = error.start
                raise TextError(
                    f"text at character {at}: expected a character, found half of a surrogate pair, "
                    f"U+{ord(text[at]):04X}",
                    at,
                ) from None
            return text
        try:
            return text.decode(errors=self._errors)
        except UnicodeDecodeError as error:
            at = error.start
            raise TextError(
                f"text at byte 0x{at:X} ({at}): expected UTF-8, found {shown(text[at : at + 4])}", at
            ) from None

    def _stretches(self, text: str) -> Iterator[tuple[str, int | None]]:
        """Yield the parts of a text in order: ordinary ones with None, special tokens with their id."""
        done = 0
        for match in self._specials.find(text):
            if match.token not in self._matched:
                continue
            if match.start > done:
                yield text[done : match.start], None
            yield text[match.start : match.end], match.token
            done = match.end
        if done < len(text):
            yield text[done:], None

    def _stretch_pieces(self, stretch: str, base: int) -> Iterator[Piece]:
        found = list(changes(stretch)) if self._tables.nfc else []
        source = SourceMap(stretch, found)
        at = 0
        for piece in self._split(applied(stretch, found)):
            for token in self._piece_ids(piece):
                data = self._tables.token_bytes(token)
                end = at + len(data)
                yield Piece(token, data, base + source.start(at), base + source.end(end))
                at = end

    def _piece_ids(self, piece: str) -> list[int]:
        ids = self._cache.get(piece)
        if ids is None:
            ids = merge(self._start_tokens(piece), self._merge)
            if len(piece) <= CACHED_LENGTH:
                if len(self._cache) >= CACHED_PIECES:
                    self._cache.clear()
                self._cache[piece] = ids
        return ids

    def _start_tokens(self, piece: str) -> list[int]:
        tokens: list[int] = []
        for byte in piece.encode():
            token = self._byte_tokens[byte]
            if token is None:
                raise ByteTokenError(
                    f"byte 0x{byte:02X} ({byte}) of {shown(piece)}: expected a token that is this byte, "
                    "found none in the vocabulary"
                )
            tokens.append(token)
        return tokens


def _special_texts(tables: TokenTables) -> dict[str, int]:
    """Text -> id of the added tokens; of two with the same text the lower id."""
    ids: dict[str, int] = {}
    kinds = (TokenType.UNKNOWN, TokenType.CONTROL, TokenType.USER_DEFINED)
    for token in sorted(tables.added_tokens):
        if token >= tables.first_pad_id or tables.token_type(token) not in kinds:
            continue
        data = tables.token_bytes(token)
        try:
            ids.setdefault(data.decode(), token)
        except UnicodeDecodeError:
            raise ModelError(f"added token {token}: expected text in UTF-8, found {shown(data)}") from None
    return ids


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UsageError(f"{name}: expected one of {', '.join(known)}, found {shown(value)}")
