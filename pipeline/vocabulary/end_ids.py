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

_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_SET = re.compile(r"\{%-?\s*set\s+([A-Za-z_][\w.]*)\s*=")
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

    It is the control token that most often comes next after a mention of a message's `content`, or of
    a variable that was set from it, with no statement (`{% ... %}`) begun or ended between the two:
    behind a statement stands what opens the next turn.

    Args:
        template: the model's chat template, in Jinja's language.
        controls: ids of the control tokens by their text.

    Returns:
        its id, or None where no control token follows any content.

    """
    tokens = SpecialMatcher(controls).find(template)
    starts = [match.start for match in tokens]
    statements = [match.start() for match in _STATEMENT.finditer(template)]
    names, targets = _content_names(template, statements)
    found: Counter[int] = Counter()
    for mention in _NAME.finditer(template):
        if mention.start() in targets or not _mentions(mention[0], names):
            continue
        behind = bisect_left(starts, mention.end())
        if behind == len(tokens):
            break
        if _next(statements, mention.end(), len(template)) > starts[behind]:
            found[tokens[behind].token] += 1
    return min(found, key=lambda token_id: (-found[token_id], token_id), default=None)


def _content_names(template: str, statements: list[int]) -> tuple[set[str], set[int]]:
    """List `content` and the variables that are set from it, and the places where any variable is set."""
    names, targets = {"content"}, set()
    for assignment in _SET.finditer(template):
        targets.add(assignment.start(1))
        value = template[assignment.end() : _next(statements, assignment.end(), len(template))]
        if any(_mentions(name[0], names) for name in _NAME.finditer(value)):
            names.add(assignment[1])
    return names, targets


def _mentions(dotted: str, names: set[str]) -> bool:
    return dotted in names or not names.isdisjoint(dotted.split("."))


def _next(positions: list[int], start: int, end: int) -> int:
    """Give the first of the ascending positions that is not before `start`, or `end`."""
    at = bisect_left(positions, start)
    return positions[at] if at < len(positions) else end


def collect(named: list[tuple[int, str]]) -> tuple[EndId, ...]:
    """Merge ids that are named more than once, in the order of their first naming."""
    origins: dict[int, list[str]] = {}
    for token_id, origin in named:
        origins.setdefault(token_id, []).append(origin)
    return tuple(EndId(token_id, tuple(names)) for token_id, names in origins.items())
