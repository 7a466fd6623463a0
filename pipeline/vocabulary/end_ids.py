"""Which ids end a turn or a text, and where each is named.

A chat model ends its turns with a token that its `eos` id need not be: a base model's GGUF may name
`<|endoftext|>` while the template closes every message with `<|im_end|>`. Firmware that stops at
`eos` alone would run on, so every such id is listed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass

from pipeline.bpe.specials import SpecialMatcher

_CONTENT = re.compile(r"content")
_STATEMENT = re.compile(r"\{%|%\}")


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

    It is the control token that most often comes next after a mention of a message's `content`, with
    no statement (`{% ... %}`) begun or ended between the two: behind a statement stands what opens the
    next turn.

    Args:
        template: the model's chat template, in Jinja's language.
        controls: ids of the control tokens by their text.

    Returns:
        its id, or None where no control token follows any content.

    """
    tokens = SpecialMatcher(controls).find(template)
    starts = [match.start for match in tokens]
    statements = [match.start() for match in _STATEMENT.finditer(template)]
    found: Counter[int] = Counter()
    for mention in _CONTENT.finditer(template):
        end = mention.end()
        behind = bisect_left(starts, end)
        if behind == len(tokens):
            break
        # The first statement's mark behind the mention must lie behind the token too.
        mark = bisect_left(statements, end)
        if mark == len(statements) or statements[mark] > starts[behind]:
            found[tokens[behind].token] += 1
    return min(found, key=lambda token_id: (-found[token_id], token_id), default=None)


def collect(named: list[tuple[int, str]]) -> tuple[EndId, ...]:
    """Merge ids that are named more than once, in the order of their first naming."""
    origins: dict[int, list[str]] = {}
    for token_id, origin in named:
        origins.setdefault(token_id, []).append(origin)
    return tuple(EndId(token_id, tuple(names)) for token_id, names in origins.items())
