"""The parser of the command line: options anywhere, a mistake in one line."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any, NoReturn

from pipeline.errors import UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence


class CommandParser(ArgumentParser):
    """An ArgumentParser whose options may stand between positional arguments too.

    As argparse parses by itself, `encode IMAGE --json TEXT` fails: an optional TEXT counts as absent
    once IMAGE was followed by an option.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False)
        self._is_top = False
        self._parses = False

    def add_subparsers(self, **options: Any) -> Any:
        """Add commands; what stands behind a command is for its own parser."""
        self._is_top = True
        return super().add_subparsers(**options)

    # argparse types this method by overloads that differ in the kind of namespace only.
    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        """Parse; argparse's intermixed parsing calls this method again for each of its two passes."""
        if self._is_top or self._parses:
            return super().parse_known_args(args, namespace)
        self._parses = True
        try:
            found, rest = self.parse_known_intermixed_args(args, namespace)
        finally:
            self._parses = False
        if rest:  # refused here: the parser above would name its own help
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return found, rest

    def error(self, message: str) -> NoReturn:
        """Refuse a call in one line, not with the whole usage."""
        line = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in message)
        raise UsageError(f"{line}; see `{self.prog} --help`")
