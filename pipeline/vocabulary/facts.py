"""What is known of a tokenizer beside its tokens and merges: `tokenizer_facts.json`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.errors import shown
from formats.gguf import keys
from formats.gguf.kinds import BOOL, INT, INTS
from formats.token_types import TokenType
from pipeline.bpe.pretokenizer import RULES
from pipeline.bpe.unicode_tables import CLASS_TABLES_VERSION, NFC_TABLES_VERSION
from pipeline.vocabulary.end_ids import collect, turn_end
from pipeline.vocabulary.vocabulary import BYTE_LEVEL_BPE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formats.gguf.reader import GgufFile
    from pipeline.model import Model
    from pipeline.vocabulary.templates import Template
    from pipeline.vocabulary.vocabulary import Vocabulary

SPECIAL_IDS = {
    "bos": keys.BOS_ID,
    "eos": keys.EOS_ID,
    "eot": keys.EOT_ID,
    "eom": keys.EOM_ID,
    "unk": keys.UNK_ID,
    "pad": keys.PAD_ID,
}
LISTED = 100
"""Ids that a list of oddities holds at the most; the count is always whole."""


@dataclass(frozen=True)
class Facts:
    """The document, and what a user should be told about.

    Attributes:
        document: the content of tokenizer_facts.json.
        warnings: a line for each thing that may be wrong.

    """

    document: dict[str, Any]
    warnings: tuple[str, ...]


def collect_facts(model: Model, templates: Sequence[Template]) -> Facts:
    """Collect the facts about a model's tokenizer.

    Raises:
        FormatError: an id that is no token, or a key of the wrong type.

    """
    gguf, vocabulary = model.gguf, model.vocabulary
    special = {name: _token_id(gguf, key, len(vocabulary)) for name, key in SPECIAL_IDS.items()}
    ends, warnings = _end_ids(gguf, vocabulary, special, templates)
    duplicates = vocabulary.duplicates()
    if duplicates:
        first, again = duplicates[0]
        warnings.append(
            f"texts that an earlier token has already: {len(duplicates)}, the first "
            f"{shown(_text(vocabulary, first))} as {first} and {again}; look-ups by text give the lowest id"
        )
    unreachable = vocabulary.unreachable_ids()
    added = vocabulary.added_ids
    document = {
        "tokenizer_model": BYTE_LEVEL_BPE,
        "pre_tokenizer": _pre_tokenizer(model),
        "counts": {
            "tokens": len(vocabulary),
            "base": vocabulary.n_base,
            "added": len(added),
            "padded": len(vocabulary) - vocabulary.first_pad_id,
            "embedding_rows": vocabulary.embedding_rows,
            "merges": len(vocabulary.merges),
            "unreachable": len(unreachable),
            "types": {
                kind.name.lower(): int(np.count_nonzero(vocabulary.types == kind)) for kind in TokenType
            },
        },
        "first_pad_id": vocabulary.first_pad_id,
        "max_token_bytes": int(vocabulary.tokens.lengths.max()),
        "special_ids": special,
        "add_bos": gguf.get(keys.ADD_BOS, BOOL),
        "add_eos": gguf.get(keys.ADD_EOS, BOOL),
        "end_ids": [
            {"id": end.token_id, "token": _text(vocabulary, end.token_id), "named_by": list(end.origins)}
            for end in ends
        ],
        "added_tokens": [
            {
                "id": token_id,
                "token": _text(vocabulary, token_id),
                "type": TokenType(vocabulary.types[token_id]).name.lower(),
            }
            for token_id in added.tolist()
        ],
        "duplicates": duplicates[:LISTED],
        "unreachable": unreachable[:LISTED].tolist(),
        "chat_templates": {template.key: template.file for template in templates},
    }
    return Facts(document, tuple(warnings))


def _pre_tokenizer(model: Model) -> dict[str, Any]:
    """Say which rule cuts text into pieces, who named it, and with which tables it is served."""
    name = model.pre
    served = name in RULES
    named_by = "manifest" if model.source.pre else "model" if name else None
    return {
        "name": name,
        "named_by": named_by,
        "served": served,
        "nfc": served,
        "class_tables": CLASS_TABLES_VERSION if served else 0,
        "nfc_tables": NFC_TABLES_VERSION if served else 0,
    }


def _token_id(gguf: GgufFile, key: str, n_tokens: int) -> int | None:
    found = gguf.get(key, INT)
    if found is not None and not 0 <= found < n_tokens:
        raise gguf.key_values[key].place.error(f"a token id below {n_tokens}", str(found))
    return found


def _end_ids(
    gguf: GgufFile, vocabulary: Vocabulary, special: dict[str, int | None], templates: Sequence[Template]
) -> tuple[Any, list[str]]:
    named = [(special[name], SPECIAL_IDS[name]) for name in ("eos", "eot", "eom")]
    more = gguf.get(keys.EOS_IDS, INTS)
    for index, token_id in enumerate([] if more is None else more.tolist()):
        if not 0 <= token_id < len(vocabulary):
            place = gguf.key_values[keys.EOS_IDS].element(index)
            raise place.error(f"a token id below {len(vocabulary)}", str(token_id))
        named.append((token_id, keys.EOS_IDS))
    found = [(token_id, key) for token_id, key in named if token_id is not None]
    warnings = []
    default = next((template.text for template in templates if template.key == keys.CHAT_TEMPLATE), None)
    if default is not None:
        controls = {
            _text(vocabulary, token_id): token_id
            for token_id in vocabulary.added_ids[::-1].tolist()  # the lowest id of equal texts stays
            if vocabulary.types[token_id] == TokenType.CONTROL
        }
        closing = turn_end(default.decode("utf-8", "replace"), controls)
        if closing is not None:
            if closing not in [token_id for token_id, _ in found]:
                token = f"{shown(_text(vocabulary, closing))} ({closing})"
                warnings.append(
                    f"the chat template ends turns with {token}, which no key names; it is listed as an end id"
                )
            found.append((closing, keys.CHAT_TEMPLATE))
    return collect(found), warnings


def _text(vocabulary: Vocabulary, token_id: int) -> str:
    return vocabulary.texts[token_id].decode()
