"""Reading a byte-level BPE vocabulary out of a GGUF, with every check that the tables rely on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formats.errors import FormatError, shown
from formats.gguf import keys
from formats.gguf.kinds import INTS, STR, STRINGS
from formats.ps_bundle import MAX_TOKEN_BYTES
from formats.q25tokrt.special_index import added_ids
from formats.token_types import TokenType
from pipeline.tensor_names import EMBEDDING
from pipeline.vocabulary import padding
from pipeline.vocabulary.byte_text import decode_texts
from pipeline.vocabulary.merges import Merges, reachable, read_merges

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from formats.byte_strings import ByteStrings
    from formats.gguf.reader import GgufFile
    from formats.layout import Place

BYTE_LEVEL_BPE = "gpt2"


@dataclass(frozen=True)
class Vocabulary:
    """Tokens and merges, in columns; ids run from 0.

    Attributes:
        texts: the tokens' texts as the GGUF has them, UTF-8.
        text_list: the same as a list, for look-ups by text.
        tokens: the bytes they stand for; plain text for all but normal tokens.
        types: shape (n_tokens,), int32: GGUF's token types.
        merges: in rank order.
        first_pad_id: where padding starts; n_tokens where nothing is padded.
        embedding_rows: rows of token_embd.weight, None where there is no such tensor.

    """

    texts: ByteStrings
    text_list: list[bytes]
    tokens: ByteStrings
    types: NDArray[np.int32]
    merges: Merges
    first_pad_id: int
    embedding_rows: int | None

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def n_base(self) -> int:
        """Number of normal tokens."""
        return int(np.count_nonzero(self.types == TokenType.NORMAL))

    @property
    def added_ids(self) -> NDArray[np.int64]:
        """Ids of the tokens that are matched in text as a whole, ascending; no padding, none unused."""
        return added_ids(self.types, self.first_pad_id)

    def duplicates(self) -> list[tuple[int, int]]:
        """List texts that occur twice: the first id and the id that repeats it."""
        texts = self.text_list
        if len(set(texts)) == len(texts):
            return []
        first: dict[bytes, int] = {}
        again = []
        for token_id, text in enumerate(texts):
            known = first.setdefault(text, token_id)
            if known != token_id:
                again.append((known, token_id))
        return again

    def unreachable_ids(self) -> NDArray[np.int64]:
        """List the normal tokens that no run of merges makes, ascending."""
        normal = self.types == TokenType.NORMAL
        byte_tokens = np.flatnonzero(normal & (self.tokens.lengths == 1))
        return np.flatnonzero(normal & ~reachable(self.merges, byte_tokens, len(self)))


def read_vocabulary(gguf: GgufFile) -> Vocabulary:
    """Read the vocabulary of a GGUF.

    Raises:
        FormatError: no byte-level BPE, a key that is missing or of the wrong type, columns that do
            not fit each other, a text outside the byte alphabet, a merge of what are no tokens,
            fewer embedding rows than tokens.

    """
    model = gguf.require(keys.TOKENIZER_MODEL, STR)
    if model != BYTE_LEVEL_BPE:
        raise gguf.key_values[keys.TOKENIZER_MODEL].place.error(
            f"{BYTE_LEVEL_BPE!r}", shown(model), f"tokenizer model {shown(model)} is not byte-level BPE"
        )
    texts = _require_filled(gguf, keys.TOKENS).compact()
    types = _types(gguf, len(texts))
    normal = types == TokenType.NORMAL
    element = gguf.key_values[keys.TOKENS].element
    _require_text(texts, np.flatnonzero(~normal), element)
    tokens = decode_texts(texts, normal, element)
    _refuse_long(tokens, element)
    text_list = list(texts)
    ids = _ids_by_text(text_list, np.flatnonzero(normal).tolist())
    merge_texts = _require_filled(gguf, keys.MERGES)
    merges = read_merges(merge_texts, ids, len(texts), gguf.key_values[keys.MERGES].element)
    first_pad_id = padding.first_pad(texts, types)
    return Vocabulary(
        texts, text_list, tokens, types, merges, first_pad_id, _embedding_rows(gguf, len(texts))
    )


def _ids_by_text(texts: list[bytes], ids: list[int]) -> dict[bytes, int]:
    """Map texts to ids; of tokens with the same text the lowest id serves."""
    is_prefix = not ids or ids[-1] == len(ids) - 1
    chosen = texts[: len(ids)] if is_prefix else [texts[token_id] for token_id in ids]
    found = dict(zip(chosen, ids, strict=True))
    if len(found) < len(ids):
        found = dict(zip(reversed(chosen), reversed(ids), strict=True))
    return found


def _require_filled(gguf: GgufFile, key: str) -> ByteStrings:
    strings = gguf.require(key, STRINGS)
    if not len(strings):
        raise gguf.key_values[key].place.error("at least one string, for byte-level BPE", "none")
    return strings


def _require_text(texts: ByteStrings, ids: NDArray[np.int64], element: Callable[[int], Place]) -> None:
    """Refuse plain texts that are not UTF-8; byte-level texts are checked where they are decoded."""
    for token_id in ids.tolist():
        try:
            texts[token_id].decode()
        except UnicodeDecodeError:
            raise element(token_id).error("text in UTF-8", shown(texts[token_id])) from None


def _refuse_long(tokens: ByteStrings, element: Callable[[int], Place]) -> None:
    """Refuse a token whose length no table can state, before any table is written."""
    too_long = np.flatnonzero(tokens.lengths > MAX_TOKEN_BYTES)
    if len(too_long):
        token_id = int(too_long[0])
        raise element(token_id).error(
            f"tokens of at most {MAX_TOKEN_BYTES} bytes, as the tables state lengths in 16 bits",
            f"token {token_id} of {int(tokens.lengths[token_id])} bytes",
            "this vocabulary cannot be packed",
        )


def _types(gguf: GgufFile, n_tokens: int) -> NDArray[np.int32]:
    found = gguf.require(keys.TOKEN_TYPE, INTS)
    value = gguf.key_values[keys.TOKEN_TYPE]
    if len(found) != n_tokens:
        raise value.place.error(f"{n_tokens} types, one for each of {keys.TOKENS}", str(len(found)))
    # Byte tokens belong to SentencePiece vocabularies; byte-level BPE spells bytes as glyphs.
    served = (found >= TokenType.NORMAL) & (found <= TokenType.UNUSED)
    if not served.all():
        token_id = int(np.argmin(served))
        raise value.element(token_id).error("a type from 1 (normal) to 5 (unused)", str(found[token_id]))
    return found.astype(np.int32)


def _embedding_rows(gguf: GgufFile, n_tokens: int) -> int | None:
    tensor = next((tensor for tensor in gguf.tensors if tensor.name == EMBEDDING), None)
    if tensor is None:
        return None
    rows = tensor.ne[1] if len(tensor.ne) > 1 else 1
    if rows < n_tokens:
        raise FormatError(
            f"at least {n_tokens} rows, one for each token",
            f"{rows} (ne {list(tensor.ne)})",
            path=f"tensor {EMBEDDING!r}",
            offset=tensor.entry_offset,
            file=gguf.file,
        )
    return rows
