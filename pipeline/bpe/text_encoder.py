"""What every encoder of a vocabulary does alike: the checks, the parts of a text, where tokens came from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from formats.errors import shown
from formats.token_types import TokenType
from pipeline.bpe.errors import ByteTokenError, TextError, UnicodeTablesError
from pipeline.bpe.nfc import applied, changes, nfc
from pipeline.bpe.offsets import SourceMap
from pipeline.bpe.pretokenizer import rule_for
from pipeline.bpe.specials import SpecialMatcher
from pipeline.bpe.unicode_tables import CLASS_TABLES_VERSION, NFC_TABLES_VERSION, version_text
from pipeline.errors import ModelError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipeline.bpe.tables import TokenTables

Specials = Literal["all", "user", "none"]
"""Which special tokens a text may hold: all added tokens, the user-defined ones only, or none."""

Invalid = Literal["error", "replace"]
"""What to do with bytes that are not UTF-8."""


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


class TextEncoder(ABC):
    """Encodes text as HuggingFace `tokenizers` does, for one vocabulary.

    Attributes:
        split: cuts an ordinary part of a text, in NFC where the vocabulary wants it, into pieces.

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
        UnicodeTablesError: the vocabulary was checked with tables of other Unicode versions.
        ModelError: the text of an added token is not UTF-8.
        UsageError: `specials` or `invalid` is something else.

    """

    def __init__(self, tables: TokenTables, specials: Specials = "all", invalid: Invalid = "error") -> None:
        _one_of("specials", specials, get_args(Specials))
        _one_of("invalid", invalid, get_args(Invalid))
        self._tables = tables
        self._errors = "strict" if invalid == "error" else "replace"
        self.split = rule_for(tables.pre)
        _require_same_unicode(tables)
        self._byte_tokens = [tables.byte_token(byte) for byte in range(256)]
        ids = {} if specials == "none" else _special_texts(tables)
        self._specials = SpecialMatcher(ids)
        self._matched = frozenset(
            token
            for token in ids.values()
            if specials == "all" or tables.token_type(token) == TokenType.USER_DEFINED
        )

    @abstractmethod
    def encode(self, text: str | bytes) -> list[int]:
        """Return the ids of a text.

        Raises:
            TextError: bytes that are not UTF-8, or a `str` that holds half of a surrogate pair.
            ByteTokenError: the vocabulary has no token for a byte of the text.

        """

    def pieces(self, text: str | bytes) -> list[Piece]:
        """Return the tokens of a text with their bytes and what they came from; errors as in `encode`."""
        tokens = iter(self.encode(text))
        pieces: list[Piece] = []
        start = 0
        for stretch, special in self.stretches(self._checked(text)):
            end = start + len(stretch.encode())
            if special is None:
                pieces += self._stretch_pieces(stretch, start, tokens)
            else:
                token = next(tokens)
                pieces.append(Piece(token, self._tables.token_bytes(token), start, end))
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
            raise not_utf8(text, error.start) from None

    def _parts(self, text: str) -> Iterator[str | int]:
        """Yield what a text is made of: pieces of normalised text, to be merged, and ids of special tokens."""
        for stretch, special in self.stretches(text):
            if special is None:
                yield from self.split(nfc(stretch) if self._tables.nfc else stretch)
            else:
                yield special

    def stretches(self, text: str) -> Iterator[tuple[str, int | None]]:
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

    def _start_tokens(self, piece: str) -> list[int]:
        """The tokens of a piece's single bytes."""
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

    def _stretch_pieces(self, stretch: str, base: int, tokens: Iterator[int]) -> Iterator[Piece]:
        """Take the tokens of a stretch, which begins at byte `base` of the text."""
        found = list(changes(stretch)) if self._tables.nfc else []
        source = SourceMap(stretch, found)
        size = len(applied(stretch, found).encode())
        at = 0
        while at < size:
            token = next(tokens)
            data = self._tables.token_bytes(token)
            end = at + len(data)
            yield Piece(token, data, base + source.start(at), base + source.end(end))
            at = end


def not_utf8(text: bytes, offset: int) -> TextError:
    """Say that a text is not UTF-8 from a byte on."""
    found = shown(text[offset : offset + 4])
    return TextError(f"text at byte 0x{offset:X} ({offset}): expected UTF-8, found {found}", offset)


def _require_same_unicode(tables: TokenTables) -> None:
    """Refuse a vocabulary that was checked with Unicode tables of other versions: ids may differ."""
    for what, theirs, ours in (
        ("character classes", tables.class_tables, CLASS_TABLES_VERSION),
        ("NFC", tables.nfc_tables, NFC_TABLES_VERSION),
    ):
        if theirs != ours:
            found = version_text(theirs) if theirs else "none"
            raise UnicodeTablesError(
                f"{what}: expected an image checked with the tables of Unicode {version_text(ours)}, found "
                f"{found}: other tables may give other ids; make the image again with this version of the tool"
            )


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
