"""The texts of a comparison: a file, every file of a folder, or the texts that come with this package.

A file is UTF-8. It is cut into samples, either lines, without their line ends, or blocks: lines up to
the next one that is not blank behind one that is, with all their line ends, so that the blocks joined
are the file. Longer samples than `MOST` bytes are cut, and files are read bit by bit, so that memory
stays bounded however large a corpus is.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from formats.errors import shown
from pipeline.bpe.decoder import unfinished
from pipeline.errors import UsageError
from pipeline.sources.errors import path_words
from pipeline.sources.files import failure
from pipeline.sources.trees import TreeFile, files_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Unit = Literal["lines", "blocks"]
UNITS: tuple[Unit, ...] = get_args(Unit)

BUILT_IN = "built-in"
TEXTS = Path(__file__).parent / "texts"
MOST = 1 << 14
"""Bytes of the longest sample."""

_IN_BLOCKS = ("chat", "code")
"""The built-in texts whose line ends are part of what is tried."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A text to encode.

    Attributes:
        group: the file it is from, by its name below the corpus.
        number: of the sample in the file, from 1.
        text: not empty.

    """

    group: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts to encode.

    Attributes:
        name: of the file or folder, or `built-in`.
        files: in the order in which they are read.
        unit: what a sample is; None for what suits each of the built-in texts.

    """

    name: str
    files: Sequence[TreeFile]
    unit: Unit | None

    @property
    def groups(self) -> list[str]:
        """The names of the groups, in order."""
        return [file.name for file in self.files]

    @property
    def size(self) -> int:
        """Bytes of all files, as they are now."""
        return sum(file.path.stat().st_size for file in self.files)

    def samples(self) -> Iterator[Sample]:
        """Read the samples, one after the other.

        Raises:
            UsageError: a file that is not UTF-8, or no text in any of them.
            StoreUnreadable: the system refuses to read one.

        """
        found = False
        for file in self.files:
            unit = self.unit or ("blocks" if file.name in _IN_BLOCKS else "lines")
            number = 0
            for number, text in enumerate(_texts(file.path, unit), 1):
                yield Sample(file.name, number, text)
            found = found or number > 0
        if not found:
            raise UsageError(
                f"{path_words(self.name)}: expected text to compare, found none; name another corpus"
            )


def open_corpus(path: Path | None, unit: Unit = "lines") -> Corpus:
    """Find the files of a corpus.

    Args:
        path: a file or a folder; None for the built-in texts.
        unit: what a sample is. The built-in texts know that themselves.

    Raises:
        UsageError: there is nothing at the path, or a folder without files.
        PipelineError: it is neither file nor folder, or the system refuses.

    """
    if path is None:
        files = [TreeFile(file.name.removesuffix(".txt"), file.path) for file in files_of(TEXTS)]
        return Corpus(BUILT_IN, files, None)
    files = files_of(path)
    if not files:
        raise UsageError(f"{path_words(path)}: expected text files in it, found none")
    return Corpus(path.resolve().name or str(path), files, unit)


def _texts(path: Path, unit: Unit) -> Iterator[str]:
    """Cut a file into samples; empty ones are left out."""
    lines = _lines(path)
    if unit == "lines":
        for line in lines:
            text = line.removesuffix("\n").removesuffix("\r")
            if text:
                yield text
        return
    block: list[str] = []
    size, blank = 0, False
    for line in lines:
        is_blank = not line.strip()
        length = len(line.encode())
        if block and ((blank and not is_blank) or size + length > MOST):
            yield "".join(block)
            block, size = [], 0
        block.append(line)
        size += length
        blank = is_blank
    if block:
        yield "".join(block)


def _lines(path: Path) -> Iterator[str]:
    """Read the lines of a file with their line feeds; longer ones than `MOST` bytes in several parts.

    Raises:
        UsageError: bytes that are not UTF-8, with their offset in the file.

    """
    at, held = 0, b""
    try:
        with path.open("rb") as file:
            while True:
                line = held + file.readline(MOST - len(held))
                if not line:
                    return
                # A part that ends inside a character leaves that to the next one.
                rest = unfinished(line) if len(line) == MOST else 0
                line, held = line[: len(line) - rest], line[len(line) - rest :]
                yield _decoded(line, path, at)
                at += len(line)
    except OSError as error:
        raise failure(path, error) from error


def _decoded(line: bytes, path: Path, at: int) -> str:
    try:
        return codecs.decode(line, "utf-8")
    except UnicodeDecodeError as error:
        start = at + error.start
        raise UsageError(
            f"{path_words(path)}: byte 0x{start:X} ({start}): expected text in UTF-8, found "
            f"{shown(line[error.start : error.start + 4])}; leave the file out of the corpus, or convert it"
        ) from None
