"""vocab.bin: the vocabulary of the RK3588 engine, `u32 N` and N records of varying length.

The engine encodes by taking the longest entry at each position, so this file is not a BPE
tokenizer: its ids differ from the model's own tokenizer on some texts. Entries are in id order, ids
0..N-1 without holes, padding left out. The engine reads the file, so the layout does not change.

Normal tokens are stored by the engine's own rule for each glyph of the byte alphabet: a glyph becomes
the byte it stands for, but the glyphs of the bytes 00..20 keep their UTF-8 spelling (a space is C4 A0,
a newline C4 8A: the engine's encoder looks for these). Added tokens are stored as plain text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.byte_level import GLYPHS
from formats.byte_strings import ByteStrings
from formats.errors import FormatError
from formats.frames import Frames, scan_frames
from formats.layout import ROW, Blob, Counted, Field, FileLayout, Place, Record, at_most, u16, u32
from formats.token_types import TokenType

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

FILE_NAME = "vocab.bin"
MAX_ENTRIES = 151_936
"""The engine refuses a file with more."""

ENTRY = Record(
    "vocab_entry",
    "One token as the engine matches and prints it.",
    Field("token_id", u32, "the token's id, equal to its position", unit="token id", follows=ROW),
    Field("length", u16, "length of the text", unit="bytes"),
    Field("text", Blob("length"), "what the engine matches: mostly the token's bytes", form="text"),
)

VOCAB_BIN = FileLayout(
    "vocab_bin",
    "The vocabulary of the RK3588 engine.",
    Field("n_entries", u32, "number of entries", unit="tokens", rule=at_most(MAX_ENTRIES)),
    Field("entries", Counted("n_entries", ENTRY), "the tokens in id order"),
    file_name=FILE_NAME,
)


def _stored(glyph: str) -> bytes:
    """Give the bytes the engine's files hold for one glyph of the byte alphabet."""
    code = ord(glyph)
    if code == 0x143:
        return b"\xad"
    if code == 0x121:
        return b"\x7f"
    if 0x122 <= code <= 0x142:
        return bytes([code - 0xA2])
    if 0xA1 <= code <= 0xFF:
        return bytes([code])
    return glyph.encode()


STORED: tuple[bytes, ...] = tuple(_stored(glyph) for glyph in GLYPHS)
"""For each byte of a normal token, the one or two bytes that stand for it in the file."""

_SIZES = np.array([len(stored) for stored in STORED], dtype=np.uint8)
_FIRST = np.array([stored[0] for stored in STORED], dtype=np.uint8)
_SECOND = np.array([stored[-1] for stored in STORED], dtype=np.uint8)
_CONVERTED = np.array([stored != glyph.encode() for stored, glyph in zip(STORED, GLYPHS, strict=True)])


@dataclass(frozen=True)
class VocabBin:
    """The packed file and what became of the tokens.

    Attributes:
        data: the file's bytes.
        entries: the stored texts, in id order.
        converted: normal tokens whose stored bytes differ from their byte-level text.
        kept: normal tokens stored as that text.
        special: added tokens, stored as plain text.

    """

    data: bytes
    entries: ByteStrings
    converted: int
    kept: int
    special: int


def build(tokens: ByteStrings, types: ArrayLike) -> VocabBin:
    """Pack vocab.bin.

    Args:
        tokens: the tokens' bytes (of normal tokens the bytes they stand for, of others their plain
            text), in id order, without padding.
        types: token types of shape (n_tokens,).

    Raises:
        FormatError: more tokens than the engine reads, or a token longer than 65,535 bytes.

    """
    count = len(tokens)
    place = Place(FILE_NAME)
    if count > MAX_ENTRIES:
        raise place.field("n_entries").error(f"at most {MAX_ENTRIES} tokens (the engine's limit)", str(count))
    normal = np.asarray(types) == TokenType.NORMAL
    entries, converted = _stored_texts(tokens, normal)
    too_long = np.flatnonzero(entries.lengths > 0xFFFF)
    if len(too_long):
        token_id = int(too_long[0])
        raise FormatError(
            "tokens of at most 65535 stored bytes (length is a u16)",
            f"token {token_id} of {int(entries.lengths[token_id])} bytes",
            file=FILE_NAME,
            path=f"entries[{token_id}].length",
        )
    headers = np.zeros(count, dtype=ENTRY.head().dtype)
    headers["token_id"] = np.arange(count)
    headers["length"] = entries.lengths
    data = VOCAB_BIN.fields[0].build(count) + entries.framed(headers)
    n_converted = int(np.count_nonzero(converted))
    n_normal = int(np.count_nonzero(normal))
    return VocabBin(data, entries, n_converted, n_normal - n_converted, count - n_normal)


def read(data: Any, file: str = FILE_NAME) -> ByteStrings:
    """Give the stored texts of a vocab.bin, in id order, as views of `data`.

    Raises:
        FormatError: too many entries, an id that is not its position, an entry or bytes beyond the
            end.

    """
    place = Place(file)
    header = VOCAB_BIN.head()
    count = header.read(data, 0, file).n_entries
    entries = place.field("entries", header.size)
    frames = scan_frames(data, header.size, count, ENTRY, entries)
    if frames.end != len(data):
        more = len(data) - frames.end
        raise place.at(frames.end).error(f"the end after {count} entries", f"{more} bytes more")
    _require_ids_in_order(frames, entries)
    return frames.strings


def _require_ids_in_order(frames: Frames, entries: Place) -> None:
    ids = frames.headers()["token_id"]
    wrong = np.flatnonzero(ids != np.arange(len(ids)))
    if len(wrong):
        row = int(wrong[0])
        start = int(frames.strings.starts[row]) - ENTRY.offset_of("text")
        cell = entries.index(row, start - entries.offset).field("token_id")
        raise cell.error(f"{row} (ids in order, without holes)", str(int(ids[row])))


def _stored_texts(tokens: ByteStrings, normal: NDArray[np.bool_]) -> tuple[ByteStrings, NDArray[np.bool_]]:
    """Spell every token as the file holds it.

    Returns:
        the stored texts, and for each token whether it was converted: shape (n_tokens,), bool.

    """
    source = np.frombuffer(tokens.joined(), dtype=np.uint8)
    in_normal = np.repeat(normal, tokens.lengths)
    double = in_normal & (_SIZES[source] == 2)
    columns = np.empty((len(source), 2), dtype=np.uint8)
    columns[:, 0] = np.where(in_normal, _FIRST[source], source)
    columns[:, 1] = _SECOND[source]
    used = np.ones((len(source), 2), dtype=np.bool_)
    used[:, 1] = double
    stored = columns[used]

    offsets = tokens.offsets()
    bounds = offsets + _counted(double, offsets)
    converted = np.diff(_counted(in_normal & _CONVERTED[source], offsets)) > 0
    return ByteStrings(stored, bounds[:-1], np.diff(bounds)), converted


def _counted(marks: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the marks before each offset."""
    counts = np.zeros(len(marks) + 1, dtype=np.int64)
    np.cumsum(marks, out=counts[1:])
    return counts[offsets]
