"""The reference: HuggingFace `tokenizers`, set up from a model's own vocabulary as Qwen's files set it up.

No file is downloaded: tokens, merges and added tokens are those of the GGUF, and the rules are NFC, the
Qwen2 pattern, and byte-level BPE. The library is an extra, and imported here only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.byte_level import encode
from formats.errors import shown
from formats.token_types import TokenType
from pipeline.bpe.class_data import TOKENIZERS_VERSION
from pipeline.bpe.pretokenizer import rule_for
from pipeline.errors import MachineError, ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tokenizers import Tokenizer

    from pipeline.bpe.tables import TokenTables
    from pipeline.bpe.text_encoder import Specials

LIBRARY = "tokenizers"

QWEN2_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def library_version() -> str:
    """Tell the version of the library.

    Raises:
        MachineError: it is not installed.

    """
    try:
        from tokenizers import __version__
    except ImportError as error:
        raise MachineError(
            f"the comparison needs the package {LIBRARY} {TOKENIZERS_VERSION}, which is not installed: "
            "pip install '.[parity]'"
        ) from error
    return str(__version__)


class Reference:
    """Encodes as the library does.

    Args:
        tables: the vocabulary.
        merges: the merges in rank order, as ids.
        specials: which special tokens a text may hold, as `pipeline.bpe.encoder.Encoder` takes them.

    Raises:
        MachineError: the library is not installed.
        PretokenizerError: a rule of cutting text that is not known here.
        ModelError: a vocabulary that the library cannot hold.

    """

    def __init__(
        self, tables: TokenTables, merges: Iterable[tuple[int, int]], specials: Specials = "all"
    ) -> None:
        self.version = library_version()
        from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

        rule_for(tables.pre)  # every rule that is known is that of the pattern
        texts = {
            token: encode(tables.token_bytes(token))
            for token in range(tables.first_pad_id)
            if tables.token_type(token) == TokenType.NORMAL
        }
        vocabulary: dict[str, int] = {}
        for token, text in texts.items():
            vocabulary.setdefault(text, token)
        added = [] if specials == "none" else list(_added(tables))
        for token, text, _ in added:
            # The library numbers an added token as its vocabulary does.
            if vocabulary.setdefault(text, token) != token:
                raise ModelError(
                    f"token {token}, {shown(text)}: token {vocabulary[text]} has the same text, and {LIBRARY} "
                    "cannot tell the two apart; nothing can be compared"
                )
        pairs = [(texts[left], texts[right]) for left, right in merges]
        library = Tokenizer(models.BPE(vocabulary, pairs))
        if tables.nfc:
            library.normalizer = normalizers.NFC()
        library.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(QWEN2_PATTERN), behavior="isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        library.decoder = decoders.ByteLevel()
        _add(library, added)
        library.encode_special_tokens = specials == "user"
        self._library = library
        self._added = added

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text."""
        ids: list[int] = self._library.encode(text, add_special_tokens=False).ids
        return ids

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of many texts, in order."""
        encoded = self._library.encode_batch_fast(list(texts), add_special_tokens=False)
        return [entry.ids for entry in encoded]

    def wrongly_decoded(self) -> list[tuple[int, str, str]]:
        """List added tokens that the library itself decodes to another text: id, text, and that.

        It takes the characters of an added token for glyphs of the byte alphabet where they are some.
        """
        decoded = (
            (token, text, self._library.decode([token], skip_special_tokens=False))
            for token, text, _ in self._added
        )
        return [entry for entry in decoded if entry[1] != entry[2]]


def _added(tables: TokenTables) -> Iterator[tuple[int, str, bool]]:
    """Yield id, text and whether it is special of each added token; of equal texts the lowest id."""
    seen = set()
    for token in sorted(tables.added_tokens):
        text = tables.token_bytes(token).decode()
        if token < tables.first_pad_id and text and text not in seen:
            seen.add(text)
            yield token, text, tables.token_type(token) != TokenType.USER_DEFINED


def _add(library: Tokenizer, added: Iterable[tuple[int, str, bool]]) -> None:
    from tokenizers import AddedToken

    for token, text, special in added:
        library.add_tokens([AddedToken(text, special=special, normalized=False)])
        found = library.token_to_id(text)
        if found != token:
            raise ModelError(
                f"token {token}, {shown(text)}: {LIBRARY} gives it the id {found}; nothing can be compared"
            )
