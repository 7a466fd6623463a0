"""Print a format's declared layout: offset, size, type, count, unit, meaning and constraint of each field.

Without FORMAT the names of the formats, one a line; with --json or --markdown all of them. The
exported forms come from the same declaration that packs, reads and checks the files: a C header with
its proof of offsets, a Kaitai Struct description, and a pattern for the hex editor ImHex.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.commands.command import Command, Example
from pipeline.commands.console import say

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from formats.catalog import Format
    from formats.layout import FileLayout


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("format", metavar="FORMAT", nargs="?", help="the format's name")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json", dest="form", action="store_const", const="json", help="one JSON object a line"
    )
    form.add_argument("--markdown", dest="form", action="store_const", const="markdown", help="as Markdown")
    form.add_argument(
        "--c", dest="form", action="store_const", const="c", help="a C header: structs, enumerations, limits"
    )
    form.add_argument("--ksy", dest="form", action="store_const", const="ksy", help="as Kaitai Struct")
    form.add_argument(
        "--hexpat", dest="form", action="store_const", const="hexpat", help="as an ImHex pattern"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the layout in the form that was asked for."""
    from formats.catalog import FORMATS
    from pipeline.artifact_files import find_format
    from pipeline.errors import UsageError

    form, name = arguments.form, arguments.format
    if name is None and form is None:
        say("\n".join(known.name for known in FORMATS))
        return 0
    if name is None and form not in ("json", "markdown"):
        names = ", ".join(known.name for known in FORMATS)
        raise UsageError(f"schema --{form}: expected the name of one format: {names}")
    _print(list(FORMATS) if name is None else [find_format(name)], form)
    return 0


def _print(formats: list[Format], form: str | None) -> None:
    from pipeline.schema.json_form import describe_format
    from pipeline.schema.tables import markdown_page, text_tables
    from pipeline.text_output import json_line

    if form == "json":
        for known in formats:
            say(json_line(describe_format(known)))
    elif form == "markdown":
        say(markdown_page(formats).rstrip("\n"))
    else:
        (known,) = formats
        text = text_tables(known) if form is None else _exporter(form)(known.layout)
        say(text.rstrip("\n"))


def _exporter(form: str) -> Callable[[FileLayout], str]:
    if form == "c":
        from pipeline.schema.c_header import c_header

        return c_header
    if form == "ksy":
        from pipeline.schema.kaitai import kaitai

        return kaitai
    from pipeline.schema.imhex import imhex

    return imhex


EXAMPLE = Example(
    "schema vocab_bin",
    """\
vocab_bin: The vocabulary of the RK3588 engine.
File vocab.bin, little-endian, packed.
  offset  size    type         count      field      unit    meaning                 must be
  0       4       u32                     n_entries  tokens  number of entries       at most 151936
  4       varies  vocab_entry  n_entries  entries            the tokens in id order

vocab_entry: One token as the engine matches and prints it.
  offset  size    type   count   field     unit      meaning                                            must be
  0       4       u32            token_id  token id  the token's id, equal to its position              the number of its row
  4       2       u16            length    bytes     length of the text
  6       varies  bytes  length  text                what the engine matches: mostly the token's bytes
""",  # noqa: E501
)

COMMAND = Command(
    "schema", "print the declared layout of a format", __doc__, add_arguments, run, examples=(EXAMPLE,)
)
