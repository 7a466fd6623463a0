"""Encode text to token ids with the tables of an image, exactly as the model's own tokenizer does.

The text is the argument, a file, or standard input; the ids of a text stand on one line, parted by
blanks.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pipeline.commands.command import Command
from pipeline.commands.console import say
from pipeline.commands.engine_argument import add_engine_argument, make_encoder
from pipeline.commands.image_arguments import add_image_argument, in_line, lines_of, load_image, read_input
from pipeline.text_output import json_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pipeline.bpe.text_encoder import TextEncoder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_image_argument(parser)
    parser.add_argument(
        "text", metavar="TEXT", nargs="?", help="the text; without it, --file or standard input"
    )
    parser.add_argument("--file", metavar="PATH", help="read the text from a file")
    parser.add_argument("--lines", action="store_true", help="take each line for a text of its own")
    parser.add_argument(
        "--specials",
        choices=("all", "user", "none"),
        default="all",
        help="special tokens in the text: all, user-defined ones only, or none (default: all)",
    )
    parser.add_argument(
        "--invalid",
        choices=("error", "replace"),
        default="error",
        help="bytes that are not UTF-8: refuse them, or take U+FFFD for them (default: error)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print a JSON object for each text, with its pieces"
    )
    add_engine_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Encode every text."""
    from pipeline.errors import UsageError

    if arguments.text is not None and arguments.file is not None:
        raise UsageError("expected TEXT or --file, found both")
    data = read_input(arguments.file) if arguments.text is None else os.fsencode(arguments.text)
    image = load_image(arguments.image)
    encoder = make_encoder(arguments.engine, image, arguments.specials, arguments.invalid)
    for number, text in enumerate(lines_of(data) if arguments.lines else [data], 1):
        with in_line(number if arguments.lines else None), _with_advice():
            line = _pieces(encoder, text) if arguments.json else " ".join(map(str, encoder.encode(text)))
        say(line)
    return 0


@contextmanager
def _with_advice() -> Iterator[None]:
    """Tell what to do about bytes that are no text."""
    from pipeline.bpe.errors import TextError
    from pipeline.errors import UsageError

    try:
        yield
    except TextError as error:
        raise UsageError(f"{error}; --invalid replace takes U+FFFD for them") from error


def _pieces(encoder: TextEncoder, text: bytes) -> str:
    pieces = encoder.pieces(text)
    return json_line(
        {
            "ids": [piece.token for piece in pieces],
            "pieces": [
                {
                    "id": piece.token,
                    "bytes": piece.data.hex(),
                    "text": piece.data.decode("utf-8", "backslashreplace"),
                    "start": piece.start,
                    "end": piece.end,
                }
                for piece in pieces
            ],
        }
    )


COMMAND = Command("encode", "text to token ids, with an image's tables", __doc__, add_arguments, run)
