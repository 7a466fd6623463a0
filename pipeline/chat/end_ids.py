"""Ids at which an answer ends: those that the tokenizer's facts list, and those that Ollama is told to stop at."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from formats.errors import shown
from pipeline.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OLLAMA_STOP = "ollama params.stop"


@dataclass(frozen=True)
class Ends:
    """Where an answer ends.

    Attributes:
        ids: with id, token and named_by each, as in tokenizer_facts.json.
        texts: what Ollama stops at too and is no single token.

    """

    ids: tuple[Mapping[str, Any], ...]
    texts: tuple[str, ...]


def ends_of(facts: Mapping[str, Any], params: bytes | None) -> Ends:
    """Collect the end ids.

    Args:
        facts: of tokenizer_facts.json.
        params: the Ollama model's layer of parameters.

    Raises:
        ModelError: a layer that is no JSON object, or that stops at something else than texts.

    """
    found = {entry["id"]: {**entry, "named_by": list(entry["named_by"])} for entry in facts["end_ids"]}
    added = {
        entry["token"]: entry["id"] for entry in reversed(facts["added_tokens"])
    }  # of equal ones the first
    texts = []
    for stop in _stops(params):
        if stop in added:
            entry = found.setdefault(added[stop], {"id": added[stop], "token": stop, "named_by": []})
            entry["named_by"].append(OLLAMA_STOP)
        else:
            texts.append(stop)
    return Ends(tuple(found.values()), tuple(texts))


def _stops(params: bytes | None) -> Sequence[str]:
    if params is None:
        return ()
    try:
        stop = json.loads(params).get("stop", [])
    except (ValueError, AttributeError, RecursionError):
        raise ModelError(
            f"the Ollama model's params: expected a JSON object, found {shown(params)}"
        ) from None
    stops = [stop] if isinstance(stop, str) else stop
    if not isinstance(stops, list) or not all(isinstance(text, str) and text for text in stops):
        raise ModelError(f"the Ollama model's params.stop: expected texts, found {shown(json.dumps(stop))}")
    return tuple(dict.fromkeys(stops))
