"""From a file's bytes to text that YAML may be read from, and from an index in it to line and column."""

from __future__ import annotations

import re
from bisect import bisect_right
from pathlib import Path

from pipeline.errors import MachineError
from pipeline.manifest.place import ManifestError, Place

LIMIT = 256 * 1024
"""Largest manifest in bytes. Reading one of this size takes seconds; real ones have about 1 KiB."""

_LINE_END = re.compile(r"\r\n|\r|\n")
# What YAML 1.2 calls printable, without the line breaks that only YAML 1.1 knows (U+0085, U+2028,
# U+2029) and without U+FEFF, which no editor shows.
_FORBIDDEN = re.compile(
    "[^\t\n\r\u0020-\u007e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


class Source:
    """A text with a name, in which every index has a place.

    Attributes:
        name: of the file, or the `--set KEY=VALUE` that the text is the value of.
        text: the text, without byte order mark.
        in_file: False for the value of a `--set`, whose places have no line.

    """

    def __init__(self, name: str, text: str, *, in_file: bool = True) -> None:
        self.name = name
        self.text = text
        self.in_file = in_file
        self._end = len(text.rstrip(" \t\r\n"))
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def place(self, index: int) -> Place:
        """Turn an index into a place.

        What lies in the blank rest of the text is placed behind its last word, so that a
        "missing ..." points at a line that has something on it.
        """
        if not self.in_file:
            return Place(self.name)
        index = min(index, self._end)
        line = bisect_right(self._starts, index)
        return Place(self.name, line, index - self._starts[line - 1] + 1)

    def check_characters(self) -> None:
        """Refuse characters that are invisible or that readers of YAML disagree about.

        Raises:
            ManifestError: with the place of the first.

        """
        bad = _FORBIDDEN.search(self.text)
        if bad:
            code = ord(bad.group())
            hint = "; save the file as UTF-8" if code == 0 else ""
            raise self.place(bad.start()).error(
                f"the character U+{code:04X} is not allowed in a manifest{hint}"
            )


def decode(data: bytes, name: str) -> Source:
    """Turn a manifest's bytes into checked text; a UTF-8 byte order mark is taken off.

    Raises:
        ManifestError: too large, no UTF-8, or a character that is not allowed.

    """
    start = Place(name, 1, 1)
    if len(data) > LIMIT:
        raise start.error(f"the file is larger than {LIMIT} bytes (0x{LIMIT:X}), the most for a manifest")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise start.error("the file is UTF-16; save it as UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = Source(name, data[: error.start].decode("utf-8").removeprefix("\ufeff") + "?")
        raise before.place(len(before.text) - 1).error(
            f"byte 0x{data[error.start]:02X} at offset {error.start} (0x{error.start:X}) is not UTF-8; "
            "save the file as UTF-8"
        ) from None
    source = Source(name, text.removeprefix("\ufeff"))
    source.check_characters()
    return source


def read_source(path: str | Path) -> Source:
    """Read a manifest file.

    Raises:
        ManifestError: there is no such file, or its text is not allowed.
        MachineError: the file cannot be read.

    """
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            data = file.read(LIMIT + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise _no_such_file(Path(path)) from None
    except IsADirectoryError:
        raise Place(name).error("is a folder; expected a manifest file") from None
    except OSError as error:
        raise MachineError(f"{Place(name)}: cannot read the manifest: {error.strerror}") from None
    return decode(data, name)


def _no_such_file(path: Path) -> ManifestError:
    from difflib import get_close_matches

    try:
        beside = sorted(file.name for file in path.parent.iterdir() if file.suffix in {".yaml", ".yml"})
    except OSError:
        beside = []
    near = get_close_matches(path.name, beside, 1)
    hint = f"; did you mean {Place(str(path.parent / near[0]))}?" if near else ""
    return Place(str(path)).error(f"there is no such manifest file{hint}")
