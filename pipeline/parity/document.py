"""The outcome of a comparison as a document: what `parity.json` holds and the tables are made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.parity.causes import MEANING, Cause
from pipeline.parity.comparison import REFERENCE
from pipeline.parity.reference import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pipeline.parity.assembly import Assembly
    from pipeline.parity.comparison import Count, Difference, Outcome
    from pipeline.parity.corpus import Corpus
    from pipeline.parity.model_tables import ModelTables

VERSION = 1
AS_SUITS = "as suits each text"
"""The unit of the built-in texts."""

_DIGITS = 6


def make_document(
    assembly: Assembly, source_sha256: str, corpus: Corpus, outcomes: Mapping[str, Outcome], listed: int
) -> dict[str, Any]:
    """Describe a comparison; the same comparison gives the same document.

    Args:
        assembly: the model's side.
        source_sha256: SHA-256 of the model's GGUF, in hex.
        corpus: the texts.
        outcomes: what `Comparison.run` gives.
        listed: the differences that were to be kept of each party and class.

    """
    reference = outcomes[REFERENCE]
    total = reference.total
    parties = [outcome for key, outcome in outcomes.items() if key != REFERENCE]
    tables = assembly.tables
    return {
        "parity_version": VERSION,
        "model": {"gguf_sha256": source_sha256},
        "corpus": {
            "name": _name(corpus.name),
            "unit": corpus.unit or AS_SUITS,
            "samples": total.samples,
            "bytes": total.size,
            "groups": [
                {"name": _name(group), "samples": count.samples, "bytes": count.size}
                for group, count in reference.groups.items()
            ],
        },
        "reference": {
            "library": LIBRARY,
            "version": assembly.reference.version,
            "pre_tokenizer": tables.pre,
            "nfc": tables.nfc,
            "tokens": total.tokens,
            "tokens_per_byte": _ratio(total.tokens, total.size),
            "returned": total.returned,
            "decodes_otherwise": [
                {"id": token, "text": text, "decoded": decoded}
                for token, text, decoded in assembly.reference.wrongly_decoded()
            ],
        },
        "classes": {str(cause): meaning for cause, meaning in MEANING.items()},
        "listed_differences": listed,
        "parties": [_party(outcome) for outcome in parties],
        "differences": [
            _difference(outcome.key, difference, tables)
            for outcome in parties
            for difference in outcome.differences
        ],
    }


def _party(outcome: Outcome) -> dict[str, Any]:
    return {
        "party": outcome.key,
        "title": outcome.title,
        "artifact": outcome.artifact,
        **_count(outcome.total),
        "groups": [{"name": _name(group), **_count(count)} for group, count in outcome.groups.items()],
    }


def _count(count: Count) -> dict[str, Any]:
    return {
        "samples": count.samples,
        "equal": count.equal,
        "returned": count.returned,
        "tokens": count.tokens,
        "tokens_per_byte": _ratio(count.tokens, count.size),
        "reference_tokens": count.expected,
        "reference_tokens_differing": count.wrong,
        "differences": count.differences,
        "classes": {str(cause): count.causes[cause] for cause in Cause if count.causes[cause]},
    }


def _difference(party: str, difference: Difference, tables: ModelTables) -> dict[str, Any]:
    return {
        "party": party,
        "group": _name(difference.group),
        "sample": difference.number,
        "start": difference.start,
        "end": difference.end,
        "bytes": difference.data.hex(),
        "text": _text(difference.data),
        "classes": [str(cause) for cause in difference.causes],
        "reference": _tokens(difference.expected, tables),
        "found": _tokens(difference.found, tables),
    }


def _tokens(ids: Iterable[int], tables: ModelTables) -> dict[str, Any]:
    """Give ids, and the bytes that they stand for to the model, as text."""
    listed = list(ids)
    return {"ids": listed, "pieces": [_text(tables.token_bytes(token)) for token in listed]}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _name(group: str) -> str:
    """Give a file's name without the half surrogates that Python has for what is not UTF-8."""
    return group.encode("utf-8", "backslashreplace").decode()


def _ratio(tokens: int, size: int) -> float:
    return round(tokens / size, _DIGITS) if size else 0.0
