"""How a run looks: lines for people, or one JSON object a line for programs."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from pipeline.runner.record import source_document
from pipeline.runner.reporter import State
from pipeline.text_output import json_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from pipeline.runner.reporter import StepReport
    from pipeline.sources.source import Source

_NAME_WIDTH = 14
_STATE_WIDTH = 9
_BAR_WIDTH = 30
_QUIET_BYTES = 64 << 20
"""Work on fewer bytes is over before a line about it could be read."""
_LINE_PERCENT = 10


class Progress:
    """How far something long is: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._shown = ""
        self._last = -1

    def show(self, what: str, done: int, total: int) -> None:
        """Show progress, in bytes."""
        if total < _QUIET_BYTES:
            return
        percent = 100 * done // total
        if percent == self._last or (not self._is_terminal and percent % _LINE_PERCENT):
            return
        self._last = percent
        line = f"{what}: {percent}% of {total:,} bytes"
        if self._is_terminal:
            filled = _BAR_WIDTH * done // total
            self._shown = f"[{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {line}"
            print(f"\r{self._shown}", end="", file=self._stream, flush=True)
            if done == total:
                self.clear()
        else:
            print(line, file=self._stream, flush=True)

    def clear(self) -> None:
        """Take the bar off the line."""
        if self._shown:
            print("\r" + " " * len(self._shown), end="\r", file=self._stream, flush=True)
            self._shown = ""
        self._last = -1


class TextReporter:
    """Lines for people, on standard output."""

    def __init__(self) -> None:
        self._progress = Progress(sys.stderr)
        self._began = time.monotonic()

    def note(self, line: str) -> None:
        """Print a note."""
        self._progress.clear()
        print(line, flush=True)

    def source(self, source: Source) -> None:
        """Print which model is used, and plainly when it is a stand-in."""
        for note in source.notes:
            self.note(f"note: {note}")
        self.note(f"model: {source.words} (sha256:{source.sha256[:12]}, {source.stamp.size:,} bytes)")

    def started(self, step: str, reasons: Sequence[str]) -> None:  # noqa: ARG002
        """Take the time."""
        self._began = time.monotonic()

    def progress(self, what: str, done: int, total: int) -> None:
        """Show progress."""
        self._progress.show(what, done, total)

    def step(self, report: StepReport) -> None:
        """Print what became of a step."""
        self._progress.clear()
        words = "; ".join(report.reasons)
        if report.state is State.MADE:
            changed = [file for file in report.files if file.changed]
            files = f"{len(report.files)} file{'s' * (len(report.files) != 1)}"
            same = (
                "" if len(changed) == len(report.files) else f", {len(report.files) - len(changed)} as before"
            )
            words = f"{files}{same} in {time.monotonic() - self._began:.2f} s ({words})"
        print(
            f"{report.step:<{_NAME_WIDTH}} {report.state.value:<{_STATE_WIDTH}} {words}".rstrip(), flush=True
        )
        for line in report.notes:
            print(f"{'':<{_NAME_WIDTH}} {line}")
        for line in report.warnings:
            print(f"{'':<{_NAME_WIDTH}} warning: {line}")


class JsonReporter:
    """One JSON object a line, on standard output."""

    def note(self, line: str) -> None:
        """Print a note."""
        self._print({"event": "note", "text": line})

    def source(self, source: Source) -> None:
        """Print which model is used."""
        self._print({"event": "source", **source_document(source), "notes": list(source.notes)})

    def started(self, step: str, reasons: Sequence[str]) -> None:
        """Print that a step begins."""
        self._print({"event": "started", "step": step, "reasons": list(reasons)})

    def progress(self, what: str, done: int, total: int) -> None:
        """Programs wait for the result."""

    def step(self, report: StepReport) -> None:
        """Print what became of a step."""
        self._print(
            {
                "event": "step",
                "step": report.step,
                "state": report.state.value,
                "reasons": list(report.reasons),
                "artifacts": [
                    {"name": f.name, "size": f.size, "sha256": f.sha256, "changed": f.changed}
                    for f in report.files
                ],
                "notes": list(report.notes),
                "warnings": list(report.warnings),
            }
        )

    @staticmethod
    def _print(value: dict[str, object]) -> None:
        print(json_line(value), flush=True)
