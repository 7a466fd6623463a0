"""Show a model's key/values, tensors and counts.

MODEL is the name of a model in the Ollama store (`qwen2.5:0.5b`), or the path of a GGUF file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.commands.command import Command
from pipeline.commands.console import plain, say
from pipeline.text_output import json_line

if TYPE_CHECKING:
    import argparse

    from formats.gguf.reader import GgufFile


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("model", metavar="MODEL", help="a name in the Ollama store, or a GGUF file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print what the model holds."""
    from formats.errors import FormatError
    from formats.gguf.reader import GgufFile
    from pipeline.errors import ModelError
    from pipeline.inspection import describe_gguf

    path = _find(arguments.model)
    try:
        with GgufFile.open(path) as gguf:
            if arguments.json:
                say(json_line(describe_gguf(gguf)))
            else:
                _print_text(gguf, describe_gguf(gguf))
    except FormatError as error:
        raise ModelError(str(error)) from error
    return 0


def _find(model: str) -> Path:
    """Take a path for a path, and anything else for a name in the store.

    Raises:
        ModelError: there is no such file; or as `find_model`.

    """
    from pipeline.errors import ModelError
    from pipeline.sources.errors import path_words
    from pipeline.sources.files import stat_or_none
    from pipeline.sources.names import parse_name
    from pipeline.sources.roots import store_roots
    from pipeline.sources.store import find_model

    path = Path(model)
    if stat_or_none(path) is not None:
        return path
    if path.suffix == ".gguf":
        raise ModelError(f"{path_words(path)}: expected a file, found nothing there")
    return find_model(parse_name(model), store_roots()).model_blob


def _print_text(gguf: GgufFile, described: dict[str, Any]) -> None:
    from formats.errors import shown

    counts = described["counts"]
    say(
        f"GGUF version {gguf.version}, {gguf.size:,} bytes: {counts['key_values']} key/values, {counts['tensors']} "
        f"tensors, {counts['parameters']:,} parameters; alignment {gguf.alignment}, data at 0x{gguf.data_offset:X}"
    )
    for warning in described["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)
    say("\nkey/values")
    for key, value in described["key_values"].items():
        words = _value_words(value)
        say(f"  {plain(key)}  {value['type']}  {words}")
    say("\ntensors")
    width = max((len(plain(tensor["name"])) for tensor in described["tensors"]), default=0)
    for tensor in described["tensors"]:
        ne = " x ".join(map(str, tensor["ne"])) or "1 element"
        size = "unknown size" if tensor["size"] is None else f"{tensor['size']:,} bytes"
        say(f"  {plain(tensor['name']):<{width}}  {tensor['type']:<7} {ne}, {size} at 0x{tensor['offset']:X}")
    for name, entry in counts["types"].items():
        say(f"  {entry['tensors']} of type {name}, {entry['bytes']:,} bytes")
    if not described["tensors"]:
        say(f"  none ({shown(gguf.file)} holds a vocabulary only)")


def _value_words(value: dict[str, Any]) -> str:
    from formats.errors import shown

    if "sha256" in value:
        return f"{value['count']:,} elements, sha256:{value['sha256'][:12]}"
    found = value["value"]
    if isinstance(found, list):
        return "[" + ", ".join(shown(element) for element in found) + "]"
    return shown(found)


COMMAND = Command(
    "inspect", "show key/values and tensors of a GGUF or an Ollama model", __doc__, add_arguments, run
)
