"""Which template a model's chats are written with, and the variables that are the same in each of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from formats.errors import shown
from formats.gguf import keys
from pipeline.errors import ModelError
from pipeline.sources.errors import path_words
from pipeline.sources.files import read_up_to, require_file
from pipeline.vocabulary.templates import read_templates

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from formats.gguf.reader import GgufFile
    from pipeline.bpe.tables import TokenTables

LIMIT = 1 << 20
"""Bytes of a template; those of models have some thousand."""


@dataclass(frozen=True)
class ChosenTemplate:
    """A chat template.

    Attributes:
        name: in messages and in the document: the GGUF's key, or the file's name.
        text: in Jinja's language.
        sha256: of its bytes, in hexadecimal.

    """

    name: str
    text: str
    sha256: str


def choose_template(gguf: GgufFile, path: Path | None) -> ChosenTemplate:
    """Read the file that the manifest names, else the GGUF's default template.

    Raises:
        ModelError: there is none, or it is no text of a sensible size.
        OSError: the file cannot be read.

    """
    if path is not None:
        require_file(path, path.stat())
        name, data = path_words(path.name), read_up_to(path, LIMIT)
    else:
        name = keys.CHAT_TEMPLATE
        found = {template.key: template.text for template in read_templates(gguf)}
        if name not in found:
            others = f", only {', '.join(shown(key) for key in found)}" if found else ""
            raise ModelError(
                f"{name}: expected the model's chat template, found none{others}; name a file with one in Jinja in "
                "`template` (Ollama's own template is in another language)"
            )
        data = found[name]
    if len(data) > LIMIT:
        raise ModelError(f"{name}: expected a template of at most {LIMIT:,} bytes, found more")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        wrong = shown(data[error.start : error.start + 4])
        raise ModelError(f"{name} at byte {error.start}: expected UTF-8, found {wrong}") from None
    return ChosenTemplate(name, text, hashlib.sha256(data).hexdigest())


def fixed_variables(special_ids: Mapping[str, int | None], tables: TokenTables) -> dict[str, Any]:
    """Give the variables that do not depend on the chat, as chat libraries set them: no tools, the tokens' texts."""
    tokens = {
        f"{name}_token": tables.token_bytes(token).decode("utf-8", "replace")
        for name, token in special_ids.items()
        if token is not None
    }
    return {"tools": None, "documents": None, **tokens}
