"""What a run tells, step by step; the command line decides how it looks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.runner.outputs import Committed
    from pipeline.sources.source import Source


class State(StrEnum):
    """What became of a step."""

    FRESH = "fresh"
    MADE = "made"
    WOULD_RUN = "would run"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class StepReport:
    """One step of a run.

    Attributes:
        step: its name.
        state: what became of it.
        reasons: why it ran, would run, failed or was skipped.
        files: what it wrote.
        notes, warnings: what it says.

    """

    step: str
    state: State
    reasons: Sequence[str] = ()
    files: Sequence[Committed] = ()
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()


class Reporter(Protocol):
    """Where a run's words go."""

    def note(self, line: str) -> None:
        """Tell something about the run as a whole."""

    def source(self, source: Source) -> None:
        """Tell which model is used."""

    def started(self, step: str, reasons: Sequence[str]) -> None:
        """Tell that a step begins, and why."""

    def progress(self, what: str, done: int, total: int) -> None:
        """Tell how far something long is, in bytes."""

    def step(self, report: StepReport) -> None:
        """Tell what became of a step."""
