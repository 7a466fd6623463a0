"""Decode token ids to the bytes they stand for, with the tables of an image.

The ids are the arguments, or standard input parted by blanks or commas. The bytes are written as
they are: one id may hold a part of a character only. Padding decodes to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.commands.command import Command
from pipeline.commands.console import put
from pipeline.commands.engine_argument import add_engine_argument, make_decoder
from pipeline.commands.image_arguments import add_image_argument, in_line, lines_of, load_image, read_input

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_image_argument(parser)
    parser.add_argument("ids", metavar="ID", nargs="*", help="token ids; without any, standard input")
    parser.add_argument("--file", metavar="PATH", help="read the ids from a file")
    parser.add_argument(
        "--lines", action="store_true", help="decode each line by itself, and end it with a line feed"
    )
    parser.add_argument("--skip-control", action="store_true", help="leave out control and unknown tokens")
    parser.add_argument("--stop-at-end", action="store_true", help="stop at the first end token of the image")
    add_engine_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Decode every line of ids."""
    from pipeline.errors import UsageError

    if arguments.ids and arguments.file is not None:
        raise UsageError("expected IDs or --file, found both")
    data = " ".join(arguments.ids).encode() if arguments.ids else read_input(arguments.file)
    image = load_image(arguments.image)
    decoder = make_decoder(
        arguments.engine, image, skip_control=arguments.skip_control, stop_at_end=arguments.stop_at_end
    )
    end = b"\n" if arguments.lines else b""
    for number, line in enumerate(lines_of(data) if arguments.lines else [data], 1):
        with in_line(number if arguments.lines else None):
            decoded = decoder.decode(_numbers(line))
        put(decoded + end)
    return 0


def _numbers(line: bytes) -> list[int]:
    from formats.errors import shown
    from pipeline.errors import UsageError

    ids = []
    for index, word in enumerate(line.replace(b",", b" ").split()):
        # Longer numbers are no ids, and Python refuses to read thousands of digits.
        if not word.isdigit() or len(word) > 10:
            text = shown(word.decode("utf-8", "backslashreplace"))
            raise UsageError(f"id at index {index}: expected a number, found {text}")
        ids.append(int(word))
    return ids


COMMAND = Command("decode", "token ids to text, with an image's tables", __doc__, add_arguments, run)
