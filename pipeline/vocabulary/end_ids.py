"""Which ids end a turn or a text, and where each is named.

A chat model ends its turns with a token that its `eos` id need not be: a base model's GGUF may name
`<|endoftext|>` while the template closes every message with `<|im_end|>`. Firmware that stops at
`eos` alone would run on, so every such id is listed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

_CONTENT = re.compile(r"content")


@dataclass(frozen=True)
class EndId:
    """An id that ends a turn or a text.

    Attributes:
        token_id: the id.
        origins: the keys that name it, or `tokenizer.chat_template`.

    """

    token_id: int
    origins: tuple[str, ...]


def turn_end(template: str, controls: dict[str, int]) -> int | None:
    """Find the control token that closes a message in a chat template.

    It is the control token that most often comes next after a mention of a message's `content`.

    Args:
        template: the model's chat template.
        controls: ids of the control tokens by their text.

    Returns:
        its id, or None where no control token follows any content.

    """
    if not controls:
        return None
    longest_first = sorted(controls, key=lambda text: (-len(text), text))
    token = re.compile("|".join(re.escape(text) for text in longest_first if text))
    found: Counter[str] = Counter()
    for mention in _CONTENT.finditer(template):
        match = token.search(template, mention.end())
        if match is not None:
            found[match[0]] += 1
    if not found:
        return None
    text = min(found, key=lambda text: (-found[text], controls[text]))
    return controls[text]


def collect(named: list[tuple[int, str]]) -> tuple[EndId, ...]:
    """Merge ids that are named more than once, in the order of their first naming."""
    origins: dict[int, list[str]] = {}
    for token_id, origin in named:
        origins.setdefault(token_id, []).append(origin)
    return tuple(EndId(token_id, tuple(names)) for token_id, names in origins.items())
