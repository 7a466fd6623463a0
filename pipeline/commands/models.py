"""List the models of the local Ollama store, with what this tool can do with each.

Models that cannot be used are listed with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.commands.command import Command
from pipeline.commands.console import plain, say
from pipeline.text_output import json_line

if TYPE_CHECKING:
    import argparse

    from pipeline.sources.listing import ListedModel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def run(arguments: argparse.Namespace) -> int:
    """List the models."""
    from pipeline.sources.errors import path_words
    from pipeline.sources.listing import list_models
    from pipeline.sources.roots import store_roots

    roots = store_roots()
    rows = [_row(listed) for listed in list_models(roots)]
    if arguments.json:
        for row in rows:
            say(json_line(row))
        return 0
    if not rows:
        say("no models; looked in " + ", ".join(path_words(root.path) for root in roots))
        return 0
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        size = "" if row["size"] is None else f"{row['size']:,}"
        digest = "" if row["digest"] is None else row["digest"][7:19]
        say(f"{row['name']:<{width}}  {digest:<12}  {size:>15}  {row['use']}")
    return 0


def _row(listed: ListedModel) -> dict[str, Any]:
    model = listed.model
    return {
        "name": listed.name,
        "digest": None if model is None else model.manifest_digest,
        "size": None if model is None else model.size,
        "use": listed.problem if model is None else _use(listed),
        "usable": model is not None,
    }


def _use(listed: ListedModel) -> str:
    """Say what this tool can do with a model; only the GGUF's key/values are read for it."""
    from formats.errors import FormatError, shown
    from formats.gguf import keys
    from formats.gguf.kinds import STR
    from formats.gguf.reader import GgufFile
    from pipeline.bpe.pretokenizer import RULES

    assert listed.model is not None  # noqa: S101  (the caller has looked)
    try:
        with GgufFile.open(listed.model.model_blob) as gguf:
            tokenizer = gguf.get(keys.TOKENIZER_MODEL, STR)
            pre = gguf.get(keys.TOKENIZER_PRE, STR)
            architecture = plain(gguf.get(keys.ARCHITECTURE, STR) or "unknown architecture")
    except FormatError as error:
        return str(error)
    if tokenizer != "gpt2":
        return f"{architecture}: tensors only; tokenizer model {shown(tokenizer)} is not byte-level BPE"
    if pre not in RULES:
        return f"{architecture}: tensors and tables; no encoding, pre-tokenizer {shown(pre)} is not served"
    return f"{architecture}: tensors, tables and exact encoding"


COMMAND = Command(
    "models", "list what the Ollama store holds, and what can be made of it", __doc__, add_arguments, run
)
