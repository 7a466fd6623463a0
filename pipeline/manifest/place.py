"""Where something stands in a manifest or on the command line, and the refusal that names it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.errors import shown
from pipeline.errors import UsageError

if TYPE_CHECKING:
    from types import TracebackType

MOST_PROBLEMS = 20
"""Problems that one refusal lists; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a manifest file, or a `--set` of the command line.

    `str()` is `FILE:LINE:COLUMN`, or `--set KEY=VALUE`.

    Attributes:
        source: the file's name as the user gave it, or the whole `--set KEY=VALUE`.
        line: from 1, as editors count; None for a `--set`.
        column: in characters from 1; None for a `--set`.

    """

    source: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        source = self.source if self.source.isprintable() else shown(self.source)
        return source if self.line is None else f"{source}:{self.line}:{self.column}"

    @property
    def is_override(self) -> bool:
        """Tell whether this is a `--set` rather than a position in a file."""
        return self.line is None

    def error(self, message: str) -> ManifestError:
        """Make the refusal of what stands here; the caller raises it."""
        return ManifestError(Problem(self, message))


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake. `str()` is its line for the user.

    Attributes:
        place: where it stands.
        message: what is wrong, what was expected and, where known, what to do.

    """

    place: Place
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


def _order(problem: Problem) -> tuple[bool, int, int]:
    place = problem.place
    return place.is_override, place.line or 0, place.column or 0


class ManifestError(UsageError):
    """A manifest, or a `--set`, that cannot be followed: exit 2.

    `str()` has one line for each problem, those in the file first, in the order of their places.

    Attributes:
        problems: all of them, in that order.

    """

    def __init__(self, *problems: Problem) -> None:
        self.problems = tuple(sorted(problems, key=_order))
        super().__init__(*self.problems)

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems[:MOST_PROBLEMS]]
        more = len(self.problems) - len(lines)
        if more:
            lines.append(f"and {more} more such problem{'s' if more > 1 else ''}")
        return "\n".join(lines)


class Gather:
    """Collects refusals, so that one run tells a user of every mistake.

    Used as a context manager around each reading; what such a block raises is kept, and
    `finish()` raises all of it at once.
    """

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, ManifestError):
            self._problems.extend(error.problems)
            return True
        return False

    def add(self, error: ManifestError) -> None:
        """Keep a refusal that was made but not raised."""
        self._problems.extend(error.problems)

    def finish(self) -> None:
        """Raise what was collected.

        Raises:
            ManifestError: there was at least one problem.

        """
        if self._problems:
            raise ManifestError(*self._problems)
