"""Kinds of values that are text: each reads a node and describes itself, in JSON Schema and in words.

Whole numbers and sizes are in `integers`, lists and mappings in `containers`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pipeline.manifest.implicit import misread
from pipeline.manifest.nodes import Node, Scalar, refusal

T_co = TypeVar("T_co", covariant=True)

END = r"(?![\s\S])"
"""The end of the text in a pattern of JSON Schema, where Python's `$` would let a line end pass."""

_CONTROL = r"\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff\ufeff"
ONE_LINE = f"^[^{_CONTROL}]+{END}"
_ONE_LINE = re.compile(ONE_LINE)

_FILE_PATH = re.compile(rf"^(?!~)[^\\{_CONTROL}]+{END}")
_RELATIVE_PATH = re.compile(
    rf"^(?![A-Za-z]:)(?:(?!\.{{1,2}}(?:/|{END}))[^/\\{_CONTROL}]+(?:/(?!{END})|{END}))+{END}"
)
_DIGEST = re.compile(f"^(?:sha256:)?[0-9A-Fa-f]{{64}}{END}")


class Kind(Protocol[T_co]):
    """What a key's value may be."""

    def read(self, node: Node, path: str) -> T_co:
        """Turn a node into a value.

        Args:
            node: what the manifest has.
            path: the key, as `--set` names it.

        Raises:
            ManifestError: with the place, what was expected and what was found.

        """

    def schema(self) -> dict[str, object]:
        """Describe the values in JSON Schema (2020-12)."""

    def words(self) -> str:
        """Describe the values in words that fit after "expected"."""


def read_text(node: Node, path: str, expected: str) -> str:
    """Read one line of text; what a reader of YAML may take for something else needs quotes.

    Raises:
        ManifestError: no text, no quotes where they are needed, empty, or of several lines.

    """
    if not isinstance(node, Scalar):
        raise refusal(node, path, expected)
    reading = misread(node.text) if node.plain else None
    if reading == "nothing":
        raise refusal(node, path, expected)
    if reading:
        quoted = f': "{node.text}"' if len(node.text) <= 24 else ""
        raise refusal(node, path, expected, f"YAML takes it for {reading}, so quote it{quoted}")
    if not node.text:
        raise node.place.error(f"{path}: expected {expected}, found an empty text")
    if not _ONE_LINE.search(node.text):
        raise refusal(node, path, expected, "it has to be one line without control characters")
    return node.text


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text, not empty.

    Attributes:
        what: the text's meaning, in words that fit after "expected".

    """

    what: str = "text"

    def read(self, node: Node, path: str) -> str:
        """Read the text as it is."""
        return read_text(node, path, self.words())

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema."""
        return {"type": "string", "pattern": ONE_LINE}

    def words(self) -> str:
        """Describe it in words."""
        return self.what


class Choice:
    """One of a few names."""

    def __init__(self, *options: str) -> None:
        self.options = options

    def read(self, node: Node, path: str) -> str:
        """Read the name."""
        if isinstance(node, Scalar) and node.text not in self.options:
            near = nearest(node.text, self.options)
            raise refusal(node, path, self.words(), f"did you mean {near}?" if near else "")
        return read_text(node, path, self.words())

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema."""
        return {"enum": list(self.options)}

    def words(self) -> str:
        """Describe it in words."""
        return any_of(self.options)


class Flag:
    """`true` or `false`, and none of YAML's other spellings."""

    def read(self, node: Node, path: str) -> bool:
        """Read the flag."""
        if isinstance(node, Scalar) and node.text in {"true", "false"}:
            if node.plain:
                return node.text == "true"
            raise refusal(node, path, self.words(), "write it without quotes")
        raise refusal(node, path, self.words())

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema."""
        return {"type": "boolean"}

    def words(self) -> str:
        """Describe it in words."""
        return "true or false"


class Digest:
    """A SHA-256 digest; the value is `sha256:` and 64 lower-case hexadecimal digits."""

    def read(self, node: Node, path: str) -> str:
        """Read a digest, with or without `sha256:`."""
        text = read_text(node, path, self.words())
        if not _DIGEST.search(text):
            digits = text.removeprefix("sha256:")
            if text.startswith("sha256-"):
                hint = "write sha256: in place of sha256-"
            elif re.fullmatch("[0-9A-Fa-f]+", digits):
                hint = f"it has {len(digits)} digits"
            else:
                hint = ""
            raise refusal(node, path, self.words(), hint)
        return "sha256:" + text[-64:].lower()

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema."""
        return {"type": "string", "pattern": _DIGEST.pattern}

    def words(self) -> str:
        """Describe it in words."""
        return "sha256: and 64 hexadecimal digits"


class FilePath:
    """A path on this machine with `/` between its parts; relative to the manifest's folder, or absolute."""

    def read(self, node: Node, path: str) -> str:
        """Read the path as it is written."""
        text = read_text(node, path, self.words())
        if not _FILE_PATH.search(text):
            hint = "write / for \\" if "\\" in text else "~ is not expanded, write the path out"
            raise refusal(node, path, self.words(), hint)
        return text

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema."""
        return {"type": "string", "pattern": _FILE_PATH.pattern}

    def words(self) -> str:
        """Describe it in words."""
        return "a path"


class RelativePath:
    """The name of a file inside a folder that is given elsewhere: it cannot lead out of it.

    Its parts are parted by `/`; none is empty, `.` or `..`, so that each file has one name.
    """

    def read(self, node: Node, path: str) -> str:
        """Read the name as it is written."""
        text = read_text(node, path, self.words())
        if not _RELATIVE_PATH.search(text):
            if "\\" in text:
                hint = "write / for \\"
            elif text.startswith("/") or re.match("[A-Za-z]:", text):
                hint = "it must not be absolute"
            else:
                hint = "none of its parts may be empty, . or .."
            raise refusal(node, path, self.words(), hint)
        return text

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema."""
        return {"type": "string", "pattern": _RELATIVE_PATH.pattern}

    def words(self) -> str:
        """Describe it in words."""
        return "a relative path"


def any_of(names: tuple[str, ...]) -> str:
    """List names as alternatives."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def nearest(name: str, known: tuple[str, ...]) -> str | None:
    """Find the known name that a mistyped one is likely to mean."""
    from difflib import get_close_matches

    lower = {text.lower(): text for text in known}
    near = get_close_matches(name[:64].lower(), lower, 1)
    return lower[near[0]] if near else None
