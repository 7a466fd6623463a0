"""Show what each byte of a file means: address, hex, ASCII, and beside it path, type, value and meaning.

The format is recognised by the file's first bytes or by its name. PATH shows a part of the file:
`sections.token_index[220:230].byte_length`, `key_values['general.name']`, a bare number for the token of
that id (the row of that number, where a file has no tokens), or `text:...` for the tokens of a text.
Long tables are shown in part, and runs of zeros as one line; --all shows every row. A damaged file is
read as far as it goes; then it is said where reading stopped, and why, and the exit code is 1.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.commands.command import Command, Example
from pipeline.commands.console import plain, put_page, say
from pipeline.commands.named_files import require_there
from pipeline.text_output import json_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from pipeline.artifact_files import ArtifactFile
    from pipeline.dump.paths import Selection
    from pipeline.dump.rows import Heading, Row, RowMaker
    from pipeline.dump.tokens import TokenFacts, Tokens

TEXT = "text:"
"""What a path begins with that is a token's text."""
MOST_TOKENS = 16
"""Tokens of one text that are shown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="an artifact or a GGUF")
    parser.add_argument("path", metavar="PATH", nargs="?", help="the part to show, a token's id, or text:...")
    parser.add_argument("--format", metavar="NAME", help="the file's format, where nothing tells it")
    parser.add_argument("--all", action="store_true", help="show every row of every table")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object for each field")
    form.add_argument("--html", action="store_true", help="print an HTML page that needs no other file")


def run(arguments: argparse.Namespace) -> int:
    """Print the rows, then what is wrong with the file."""
    from pipeline.artifact_files import open_artifact
    from pipeline.dump.rows import RowMaker
    from pipeline.dump.tokens import tokens_of

    artifact = open_artifact(require_there(Path(arguments.file)), arguments.format)
    tokens = tokens_of(artifact)
    maker = RowMaker(
        artifact.walk,
        artifact.data,
        whole=arguments.all,
        name=None if tokens is None or tokens.strings is None else tokens.name,
        token_list="" if tokens is None else tokens.path,
    )
    chosen = _chosen(artifact, tokens, arguments.path or "")
    faults = [str(fault) for fault in artifact.walk.faults]
    if arguments.html:
        _print_html(artifact, chosen, maker, faults)
    elif arguments.json:
        _print_json(chosen, maker)
    else:
        _print_text(artifact, chosen, maker)
    sys.stdout.flush()
    for fault in faults:
        print(fault, file=sys.stderr)
    return int(bool(faults))


@dataclass(frozen=True)
class _Chosen:
    """Parts to show, and the token they are, if they are one."""

    selections: list[Selection]
    facts: TokenFacts | None = None


def _chosen(artifact: ArtifactFile, tokens: Tokens | None, path: str) -> list[_Chosen]:
    """Find what is to be shown.

    Raises:
        UsageError: the path leads nowhere, or no token has the text.

    """
    from formats.errors import shown
    from pipeline.dump.paths import select
    from pipeline.errors import UsageError

    file_name = plain(artifact.path.name)
    if path.startswith(TEXT):
        found = () if tokens is None else tokens.find(path.removeprefix(TEXT))
        if not found:
            raise UsageError(f"{file_name}: no token is {shown(path.removeprefix(TEXT))}")
        return [_token(artifact, tokens, token) for token in found[:MOST_TOKENS]]
    if path.isascii() and path.isdigit() and len(path) < 12:
        return [_token(artifact, tokens, int(path))]
    try:
        return [_Chosen([select(artifact.walk.root, path, file_name)])]
    except UsageError as error:
        if tokens is not None and tokens.find(path):
            raise UsageError(f"{error}; for the token of that text: {shown(TEXT + path)}") from None
        raise


def _token(artifact: ArtifactFile, tokens: Tokens | None, number: int) -> _Chosen:
    """Choose a token, or the row of a file that has none."""
    from formats.layout.tree import List
    from pipeline.dump.paths import Selection, select
    from pipeline.errors import UsageError

    name = plain(artifact.path.name)
    if tokens is not None and tokens.has_places:
        if number >= len(tokens):
            raise UsageError(f"{name}: expected a token id below {len(tokens)}, found {number}")
        selections = [select(artifact.walk.root, path, name) for path in tokens.places(number)]
        return _Chosen(selections, tokens.facts(number))
    lists = [part for part in artifact.walk.root.parts if isinstance(part, List)]
    if not lists:
        raise UsageError(f"{name}: a number is a token or a row, and the file has neither; name a path")
    if number >= lists[0].count:
        raise UsageError(f"{name}: expected a row below {lists[0].count}, found {number}")
    return _Chosen([Selection(lists[0].row(number))])


def _print_text(artifact: ArtifactFile, chosen: list[_Chosen], maker: RowMaker) -> None:
    from pipeline.dump.text_form import text_lines, use_color

    color = use_color()
    known = artifact.format
    say(f"{plain(artifact.path.name)}: {known.name}, {len(artifact.data):,} bytes: {known.layout.meaning}")
    for entry in chosen:
        for line in text_lines(_rows(entry, maker), artifact.data, color=color):
            say(line)
        for name, words in _fact_words(entry.facts):
            say(f"{name:<10}  {words}")


def _print_html(
    artifact: ArtifactFile, chosen: list[_Chosen], maker: RowMaker, faults: Iterable[str]
) -> None:
    from pipeline.dump.html_form import html_lines

    title = f"{plain(artifact.path.name)}: {artifact.format.name}, {len(artifact.data):,} bytes"
    put_page(html_lines(title, _all_rows(chosen, maker), artifact.data, faults))


def _rows(entry: _Chosen, maker: RowMaker) -> Iterator[Row | Heading]:
    for selection in entry.selections:
        yield from maker.rows(selection)


def _all_rows(chosen: list[_Chosen], maker: RowMaker) -> Iterator[Row | Heading]:
    from pipeline.dump.rows import Heading

    for entry in chosen:
        yield from _rows(entry, maker)
        yield from (Heading(name, words) for name, words in _fact_words(entry.facts))


def _print_json(chosen: list[_Chosen], maker: RowMaker) -> None:
    from pipeline.dump.rows import Row

    for entry in chosen:
        for row in _rows(entry, maker):
            if isinstance(row, Row):
                say(json_line(_row_object(row)))
        if entry.facts is not None:
            say(json_line(_fact_object(entry.facts)))


def _row_object(row: Row) -> dict[str, Any]:
    return {
        "path": row.path,
        "offset": row.offset,
        "size": row.size,
        "type": row.type,
        "value": row.plain,
        "words": row.value,
        "unit": row.unit,
        "meaning": row.meaning,
        "fault": row.fault,
    }


def _fact_object(facts: TokenFacts) -> dict[str, Any]:
    return {
        "token": facts.token_id,
        "bytes": None if facts.stored is None else facts.stored.hex(),
        "glyphs": list(facts.glyphs),
        "type": facts.type,
        "same_bytes": list(facts.same),
    }


def _fact_words(facts: TokenFacts | None) -> list[tuple[str, str]]:
    from pipeline.dump.values import text_words

    if facts is None:
        return []
    lines = [("token", str(facts.token_id))]
    if facts.stored is not None:
        lines.append(("bytes", f"{facts.stored.hex(' ').upper()} {text_words(facts.stored)}"))
        lines.append(("glyphs", " or ".join(map(plain, facts.glyphs))))
    lines.append(("type", facts.type or "nothing here tells it"))
    if facts.stored is not None:
        others = [str(token) for token in facts.same if token != facts.token_id]
        lines.append(("same bytes", ", ".join(others) if others else "no other token"))
    return lines


EXAMPLES = (
    Example(
        "dump build/qwen25/vocab.bin 220",
        """\
vocab.bin: vocab_bin, 1,950,794 bytes: The vocabulary of the RK3588 engine.
entries[220]  vocab_entry (8 bytes at 0x628): the tokens in id order
00000628  DC 00 00 00              ....      entries[220].token_id  u32  220 'Ġ'  the token's id, equal to its position [token id]
0000062C  02 00                    ..        entries[220].length  u16  2  length of the text [bytes]
0000062E  C4 A0                    ..        entries[220].text  bytes[2]  'Ġ'  what the engine matches: mostly the token's bytes
token       220
bytes       C4 A0 'Ġ'
glyphs      Ġ or Äł
type        1 normal (token_types.bin beside it)
same bytes  144242
""",  # noqa: E501
    ),
    Example(
        "dump build/qwen25/q25_tokenizer.img sections.token_index[220:222].byte_length",
        """\
q25_tokenizer.img: q25tokrt, 5,667,200 bytes: A tokenizer as one memory image that firmware opens in place.
sections.token_index  151,936 token_index_record (1,215,488 bytes at 0x1C0): the sections, in the directory's order, aligned
000008A4  01 00                    ..        sections.token_index[220].byte_length  u16  1  length of the token [bytes]
000008AC  01 00                    ..        sections.token_index[221].byte_length  u16  1  length of the token [bytes]
""",  # noqa: E501
    ),
)

COMMAND = Command(
    "dump", "show what each byte of a file means", __doc__, add_arguments, run, examples=EXAMPLES
)
