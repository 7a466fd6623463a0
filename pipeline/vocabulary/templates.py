"""Chat templates: the default one and the named ones, with the files they are written to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.gguf import keys
from formats.gguf.kinds import BYTES
from pipeline.safe_names import safe_names

if TYPE_CHECKING:
    from formats.gguf.reader import GgufFile

DEFAULT_FILE = "chat_template.txt"


@dataclass(frozen=True)
class Template:
    """A chat template.

    Attributes:
        key: of the GGUF: `tokenizer.chat_template` for the default one, else with a name behind it.
        text: its bytes, nothing added or trimmed.
        file: the artifact's name.

    """

    key: str
    text: bytes
    file: str


def read_templates(gguf: GgufFile) -> list[Template]:
    """Read the default template and every named one, the default first, the others by name.

    Raises:
        FormatError: a template that is no string.

    """
    found = []
    default = gguf.get(keys.CHAT_TEMPLATE, BYTES)
    if default is not None:
        found.append(Template(keys.CHAT_TEMPLATE, default, DEFAULT_FILE))
    prefix = keys.CHAT_TEMPLATE_PREFIX
    names = sorted(key.removeprefix(prefix) for key in gguf.key_values if key.startswith(prefix))
    files = safe_names(names)
    return found + [
        Template(prefix + name, gguf.require(prefix + name, BYTES), f"chat_templates/{files[name]}.txt")
        for name in names
    ]
