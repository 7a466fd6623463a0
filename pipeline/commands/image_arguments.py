"""What the commands that take an image have in common."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.commands.named_files import require_there
from pipeline.errors import ModelError, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from formats.q25tokrt.image import Image


def add_image_argument(parser: argparse.ArgumentParser) -> None:
    """Declare IMAGE."""
    parser.add_argument(
        "image", metavar="IMAGE", help="a Q25TOKRT image, or the output folder that holds one"
    )


def load_image(path: str | Path) -> Image:
    """Read and verify an image.

    Args:
        path: of the image, or of the output folder that holds it.

    Raises:
        UsageError: there is no such file.
        ModelError: it is no image, or a damaged one.
        OSError: it cannot be read.

    """
    from formats.errors import FormatError
    from formats.q25tokrt.layout import HEADER, MAGIC
    from formats.q25tokrt.verify import verify_image
    from pipeline.sources.errors import path_words
    from pipeline.sources.files import require_file
    from pipeline.steps.runtime_image import IMAGE

    file = require_there(Path(path))
    if file.is_dir():
        file = require_there(file / IMAGE)
    require_file(file, file.stat())
    with file.open("rb") as stream:
        data = stream.read(HEADER.size)
        if data.startswith(MAGIC):  # a model named by mistake is not read to its end
            data += stream.read()
    try:
        return verify_image(data, path_words(file))
    except FormatError as error:
        raise ModelError(str(error)) from error


def read_input(path: str | None) -> bytes:
    """Read a file, or standard input where none is named.

    Raises:
        UsageError: there is no such file.
        OSError: it cannot be read.

    """
    return sys.stdin.buffer.read() if path is None else require_there(Path(path)).read_bytes()


@contextmanager
def in_line(number: int | None) -> Iterator[None]:
    """Name the line, counted from 1, in what is refused meanwhile; None where there is but one text."""
    try:
        yield
    except (UsageError, ModelError) as error:
        if number is None:
            raise
        kind = UsageError if isinstance(error, UsageError) else ModelError
        raise kind(f"line {number}: {error}") from error


def lines_of(data: bytes) -> list[bytes]:
    """Cut text at line feeds; the last line need not end in one."""
    lines = data.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines
