"""What each layout demands of a file, as far as the file and those beside it can tell."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from formats import model_table, ps_bundle, token_types_bin, tokenizer_bin, vocab_bin
from formats.errors import shown
from formats.gguf.reader import GgufFile
from formats.layout import Place
from formats.layout.tables import Table
from formats.q25tokrt.layout import MAGIC
from formats.q25tokrt.verify import verify_image
from pipeline.steps.parity import PARITY
from pipeline.steps.runtime_image import IMAGE
from pipeline.verification.parity_json import check_parity

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOKEN_KEYS = {"id", "token", "type", "bytes"}


def check_for(path: Path, name: str) -> Callable[[Path], None] | None:
    """Find the check for a file, by its first bytes or else by its name; None where it has no layout.

    Args:
        path: the file.
        name: its name in the output folder. What lies in a folder of its own there is a payload or
            a text, whatever it is called and however it begins.

    """
    if "/" in name:
        return None
    with path.open("rb") as file:
        start = file.read(len(MAGIC))
    if start == MAGIC:
        return _image
    if start.startswith(b"GGUF") or path.suffix == ".gguf":
        return _gguf
    return _BY_NAME.get(name)


def known_names() -> list[str]:
    """List the names of files that are recognised by them."""
    return sorted(_BY_NAME)


def _image(path: Path) -> None:
    verify_image(path.read_bytes(), str(path))


def _gguf(path: Path) -> None:
    with GgufFile.open(path):
        pass


def _token_index(path: Path) -> None:
    data, place = path.read_bytes(), Place(str(path), "token_index")
    beside = path.with_name(ps_bundle.BYTES_FILE)
    if beside.is_file():
        ps_bundle.read_token_index(data, beside.stat().st_size, place)
    else:
        Table.read(ps_bundle.TOKEN_INDEX_RECORD, data, place)


def _merge_table(path: Path) -> None:
    data, place = path.read_bytes(), Place(str(path), "merge_table")
    index, strings = path.with_name(ps_bundle.INDEX_FILE), path.with_name(ps_bundle.BYTES_FILE)
    if not (index.is_file() and strings.is_file()):
        Table.read(ps_bundle.MERGE_RECORD, data, place)
        return
    token_bytes = strings.read_bytes()
    table = ps_bundle.read_token_index(index.read_bytes(), len(token_bytes), Place(str(index), "token_index"))
    tokens = ps_bundle.token_strings(table, token_bytes)
    ps_bundle.read_merge_table(data, tokens, table["token_type"], place)


def _token_bytes(path: Path) -> None:
    index = path.with_name(ps_bundle.INDEX_FILE)
    if index.is_file():
        ps_bundle.read_token_index(index.read_bytes(), path.stat().st_size, Place(str(index), "token_index"))


def _vocab_bin(path: Path) -> None:
    vocab_bin.read(path.read_bytes(), str(path))


def _token_types(path: Path) -> None:
    token_types_bin.read(path.read_bytes(), str(path))


def _model_table(path: Path) -> None:
    model_table.read(path.read_bytes(), str(path))


def _tokenizer_bin(path: Path) -> None:
    tokenizer_bin.read_any(path.read_bytes(), str(path))


def _tokens_jsonl(path: Path) -> None:
    place = Place(str(path))
    offset = 0
    lines = path.read_bytes().split(b"\n")
    if lines == [b""]:
        raise place.error("a line for each token", "an empty file")
    if lines[-1]:
        raise place.error("a line feed behind the last line", "none")
    for number, line in enumerate(lines[:-1]):
        at = place.field(f"line {number + 1}", offset)
        token = _parsed(line)
        if not isinstance(token, dict) or token.keys() != TOKEN_KEYS or token["id"] != number:
            found = shown(line.decode("utf-8", "backslashreplace"))
            raise at.error(f"a JSON object with the id {number}, and token, type and bytes", found)
        offset += len(line) + 1


def _parity(path: Path) -> None:
    check_parity(path.read_bytes(), str(path))


def _parsed(line: bytes) -> Any:
    """Read a line of JSON; None for what is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


_BY_NAME: dict[str, Callable[[Path], None]] = {
    IMAGE: _image,
    ps_bundle.INDEX_FILE: _token_index,
    ps_bundle.BYTES_FILE: _token_bytes,
    ps_bundle.MERGE_FILE: _merge_table,
    vocab_bin.FILE_NAME: _vocab_bin,
    token_types_bin.FILE_NAME: _token_types,
    tokenizer_bin.FILE_NAME: _tokenizer_bin,
    model_table.FILE_NAME: _model_table,
    "tokens.jsonl": _tokens_jsonl,
    PARITY: _parity,
}
