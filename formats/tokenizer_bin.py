"""tokenizer.bin: the tokenizer of a small C engine for Qwen2.5, in the two layouts found under that name.

Both hold the vocabulary as byte-level text, the merges as pairs of ids in rank order, the added
tokens, and the byte alphabet. They differ in the header and in how the alphabet is written:

- `documented`, after the engine's own description: three header words; at the end 256 bytes, for each
  byte its index in the byte alphabet.
- `loader`, after what the engine's published loader reads: a fourth header word, the length of the
  longest vocabulary string; at the end 256 strings, for each byte the UTF-8 of its glyph.

Nothing in the file tells which layout it has. The engine reads the file, so the layouts do not change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import construct
import numpy as np

from formats.byte_level import GLYPHS, INDEX_OF_BYTE
from formats.errors import FormatError, shown
from formats.frames import scan_frames
from formats.layout import Blob, Counted, Field, FileLayout, Place, Record, exactly, u32
from formats.layout.tables import Table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from formats.byte_strings import ByteStrings

FILE_NAME = "tokenizer.bin"

STRING = Record(
    "tokenizer_string",
    "A string behind its length.",
    Field("length", u32, "length of the text", unit="bytes"),
    Field("text", Blob("length"), "the text, UTF-8, no NUL", form="text"),
)

MERGE_PAIR = Record(
    "merge_pair",
    "One merge; its rank is its position.",
    Field("left_id", u32, "id of the left token", unit="token id"),
    Field("right_id", u32, "id of the right token", unit="token id"),
)

ADDED_TOKEN = Record(
    "added_token",
    "One added token.",
    Field("token_id", u32, "the token's id", unit="token id"),
    Field("length", u32, "length of the text", unit="bytes"),
    Field("text", Blob("length"), "the token as it stands in a text, UTF-8", form="text"),
)

_COUNTS = (
    Field("vocab_size", u32, "number of vocabulary strings, padding included", unit="tokens"),
    Field("n_merges", u32, "number of merges"),
    Field("n_special", u32, "number of added tokens", unit="tokens"),
)
_LONGEST = Field("max_token_len", u32, "length of the longest vocabulary string", unit="bytes")
_LISTS = (
    Field(
        "vocab", Counted("vocab_size", STRING), "the tokens' texts in id order; byte-level for normal tokens"
    ),
    Field("merges", Counted("n_merges", MERGE_PAIR), "the merges in rank order"),
    Field("special", Counted("n_special", ADDED_TOKEN), "control and user-defined tokens in id order"),
)
_BYTE_MAP = Field(
    "byte_unicode_map",
    construct.Bytes(256),
    "for each byte its index in the byte alphabet; for Qwen the id of the byte's token",
    rule=exactly(bytes(INDEX_OF_BYTE)),
)
_GLYPHS = Field("byte_glyphs", Counted(256, STRING), "for each byte the UTF-8 of its glyph")

DOCUMENTED = FileLayout(
    "tokenizer_bin_documented",
    "tokenizer.bin in the layout of the engine's description.",
    *_COUNTS,
    *_LISTS,
    _BYTE_MAP,
    file_name=FILE_NAME,
)
LOADER = FileLayout(
    "tokenizer_bin_loader",
    "tokenizer.bin in the layout of the engine's loader.",
    *_COUNTS,
    _LONGEST,
    *_LISTS,
    _GLYPHS,
    file_name=FILE_NAME,
)

RECORDS = {"documented": DOCUMENTED, "loader": LOADER}
NO_NUL = "a text without NUL (the engine keeps C strings)"


@dataclass(frozen=True)
class TokenizerBin:
    """What a tokenizer.bin holds.

    Attributes:
        layout: `documented` or `loader`.
        vocab: texts in id order.
        merges: table with the columns left_id and right_id.
        special_ids: shape (n_special,), uint32.
        special: texts of the added tokens.

    """

    layout: str
    vocab: ByteStrings
    merges: Table
    special_ids: NDArray[np.uint32]
    special: ByteStrings


def build(
    layout: str, texts: ByteStrings, left: ArrayLike, right: ArrayLike, special_ids: NDArray[np.int64]
) -> bytes:
    """Pack tokenizer.bin.

    Args:
        layout: `documented` or `loader`.
        texts: the tokens' texts as the GGUF has them, UTF-8, in id order.
        left: ids of shape (n_merges,), in rank order.
        right: ids of shape (n_merges,), in rank order.
        special_ids: ids of the added tokens, shape (n_special,), ascending, no padding.

    Raises:
        FormatError: a text with a NUL (the engine handles texts as C strings), or another layout.

    """
    record = _record(layout, FILE_NAME)
    nul = _first_with_nul(texts)
    if nul is not None:
        raise FormatError(NO_NUL, f"token {nul}, {shown(texts[nul])}", file=FILE_NAME, path=f"vocab[{nul}]")
    merges = Table.build(MERGE_PAIR, {"left_id": left, "right_id": right}, Place(FILE_NAME, "merges"))
    special = texts.take(special_ids)
    counts = {"vocab_size": len(texts), "n_merges": len(merges), "n_special": len(special_ids)}
    if layout == "loader":
        counts["max_token_len"] = int(texts.lengths.max(initial=0))
    return b"".join(
        (
            record.head().build(counts),
            texts.framed(texts.lengths.astype("<u4")),
            merges.tobytes(),
            special.framed(np.column_stack((special_ids, special.lengths)).astype("<u4").view(np.uint8)),
            _alphabet(layout),
        )
    )


def read(data: Any, layout: str, file: str = FILE_NAME) -> TokenizerBin:
    """Read a tokenizer.bin as views of `data`.

    Raises:
        FormatError: a list beyond the end, a text with a NUL or not in UTF-8, an id that is no token,
            added tokens that are not in the order of their ids or have not the vocabulary's text,
            another byte alphabet, a wrong longest length, bytes left over, or another layout.

    """
    place = Place(file)
    head = _record(layout, file).head()
    header = head.read(data, 0, file)
    at = head.size
    vocab = scan_frames(data, at, header.vocab_size, STRING, place.field("vocab", at))
    longest = int(vocab.strings.lengths.max(initial=0))
    if layout == "loader" and header.max_token_len != longest:
        cell = place.field("max_token_len", head.offset_of("max_token_len"))
        raise cell.error(f"{longest}, the longest vocabulary string", str(header.max_token_len))
    _check_texts(vocab.strings, place.field("vocab", at))

    at, size = vocab.end, header.n_merges * MERGE_PAIR.size
    merges = Table.read(
        MERGE_PAIR, _slice(data, at, size, place.field("merges", at)), place.field("merges", at)
    )
    for side in ("left_id", "right_id"):
        merges.require(side, merges[side] < header.vocab_size, f"a token id below {header.vocab_size}")

    at += size
    special = scan_frames(data, at, header.n_special, ADDED_TOKEN, place.field("special", at))
    ids = special.headers()["token_id"]
    _check_special(vocab.strings, special.strings, ids, place.field("special", at))

    alphabet = _alphabet(layout)
    name = _BYTE_MAP.name if layout == "documented" else _GLYPHS.name
    tail = place.field(name, special.end)
    found = bytes(_slice(data, special.end, len(alphabet), tail))
    if found != alphabet:
        wrong = next(i for i in range(len(alphabet)) if found[i] != alphabet[i])
        raise place.field(name, special.end + wrong).error(
            f"byte {alphabet[wrong]:02X} (byte {wrong} of the byte alphabet)", f"{found[wrong]:02X}"
        )
    end = special.end + len(alphabet)
    if end != len(data):
        raise place.at(end).error("the end", f"{len(data) - end} bytes more")
    return TokenizerBin(layout, vocab.strings, merges, ids, special.strings)


def read_any(data: Any, file: str = FILE_NAME) -> TokenizerBin:
    """Read a tokenizer.bin in the layout that it fits.

    Raises:
        FormatError: it fits neither; that of the reading that came further.

    """
    try:
        return read(data, "documented", file)
    except FormatError as as_documented:
        try:
            return read(data, "loader", file)
        except FormatError as as_loader:
            raise max(as_documented, as_loader, key=lambda error: error.offset or 0) from None


def _record(layout: str, file: str) -> Record:
    record = RECORDS.get(layout)
    if record is None:
        raise FormatError(f"the layout {' or '.join(RECORDS)}", shown(layout), file=file)
    return record


def _check_texts(texts: ByteStrings, place: Place) -> None:
    """Refuse what the engine cannot handle as C strings in UTF-8; `place` is the list's."""
    row, expected = _first_with_nul(texts), NO_NUL
    if row is None:
        row, expected = _first_not_utf8(texts), "text in UTF-8"
    if row is not None:
        text_at = int(texts.starts[row])
        element = place.index(row, text_at - STRING.offset_of("text") - place.offset)
        raise STRING.member(element, "text").error(expected, shown(texts[row]))


def _first_with_nul(texts: ByteStrings) -> int | None:
    at = texts.joined().find(0)
    return None if at < 0 else int(np.searchsorted(texts.offsets(), at, side="right")) - 1


def _first_not_utf8(texts: ByteStrings) -> int | None:
    joined = texts.joined()
    firsts = np.frombuffer(joined, np.uint8)[texts.offsets()[:-1][texts.lengths > 0]]
    try:
        joined.decode()
    except UnicodeDecodeError:
        pass
    else:
        # Where no text begins inside a character, all together are UTF-8 exactly if each is.
        if not np.any(firsts & 0xC0 == 0x80):
            return None
    return next(row for row, text in enumerate(texts) if not _is_utf8(text))


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _check_special(vocab: ByteStrings, special: ByteStrings, ids: NDArray[np.uint32], place: Place) -> None:
    before = -1
    for row, token_id in enumerate(ids.tolist()):
        cell = place.index(row, int(special.starts[row]) - ADDED_TOKEN.offset_of("text") - place.offset)
        if token_id >= len(vocab):
            raise cell.field("token_id").error(f"a token id below {len(vocab)}", str(token_id))
        if token_id <= before:
            raise cell.field("token_id").error(f"an id above {before} (ids in order)", str(token_id))
        before = token_id
        if special[row] != vocab[token_id]:
            raise ADDED_TOKEN.member(cell, "text").error(
                f"{shown(vocab[token_id])}, the text of token {token_id}", shown(special[row])
            )


def _slice(data: Any, start: int, size: int, place: Place) -> memoryview:
    view = memoryview(data)[start : start + size]
    if len(view) != size:
        raise place.error(f"{size} bytes", f"{len(view)} bytes before the end")
    return view


@cache
def _alphabet(layout: str) -> bytes:
    if layout == "documented":
        return bytes(INDEX_OF_BYTE)
    return b"".join(STRING.build({"length": len(g.encode()), "text": g.encode()}) for g in GLYPHS)
