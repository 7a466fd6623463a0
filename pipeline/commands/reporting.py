"""How a run looks: lines for people, or one JSON object a line for programs."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from pipeline.commands.console import say
from pipeline.runner.record import source_document
from pipeline.runner.reporter import State
from pipeline.sources.errors import path_words
from pipeline.text_output import json_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import TextIO

    from pipeline.runner.reporter import StepReport
    from pipeline.runner.run import RunResult
    from pipeline.sources.source import Source

_NAME_WIDTH = 14
_STATE_WIDTH = 9
_BAR_WIDTH = 30
_QUIET_BYTES = 64 << 20
"""Work on fewer bytes is over before a line about it could be read."""
_LINE_PERCENT = 10
_REASONS = 3
"""Reasons of a step that a line names; the others are counted. JSON has them all."""


class Progress:
    """How far something long is: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._shown = ""
        self._last = 0

    def show(self, what: str, done: int, total: int) -> None:
        """Show progress, in bytes."""
        if total < _QUIET_BYTES:
            return
        percent = 100 * done // total
        step = percent if self._is_terminal else percent // _LINE_PERCENT
        if step == self._last:
            return
        self._last = step
        line = f"{what}: {percent}% of {total:,} bytes"
        if self._is_terminal:
            filled = _BAR_WIDTH * done // total
            self._shown = f"[{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {line}"
            self._write(f"\r{self._shown}")
        else:
            self._write(f"{line}\n")
        if done >= total:
            self.clear()

    def clear(self) -> None:
        """Take the bar off the line, and begin anew."""
        if self._shown:
            self._write("\r" + " " * len(self._shown) + "\r")
            self._shown = ""
        self._last = 0

    def _write(self, text: str) -> None:
        with suppress(OSError):  # a build does not stop because nobody watches it
            self._stream.write(text)
            self._stream.flush()


class TextReporter:
    """Lines for people, on standard output."""

    def __init__(self) -> None:
        self._progress = Progress(sys.stderr)
        self._began = time.monotonic()

    def note(self, line: str) -> None:
        """Print a note."""
        self._progress.clear()
        say(line, flush=True)

    def done(self, result: RunResult, out: Path) -> None:
        """Sum a run up."""
        if result.orphans:
            count = len(result.orphans)
            files = "1 file is" if count == 1 else f"{count} files are"
            say(f"{files} made by no step any more; `pipeline clean` removes what was not edited")
        states = [report.state.value for report in result.reports]
        counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
        artifacts = list(result.record.artifacts())
        total = sum(artifact.size for artifact in artifacts)
        say(f"{counts}; {len(artifacts)} artifacts, {total:,} bytes in {path_words(out)}", flush=True)

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
        words = "; ".join(report.reasons[:_REASONS])
        if len(report.reasons) > _REASONS:
            words += f"; and {len(report.reasons) - _REASONS} more"
        if report.state is State.MADE:
            changed = [file for file in report.files if file.changed]
            files = f"{len(report.files)} file{'s' * (len(report.files) != 1)}"
            same = (
                "" if len(changed) == len(report.files) else f", {len(report.files) - len(changed)} as before"
            )
            words = f"{files}{same} in {time.monotonic() - self._began:.2f} s ({words})"
        say(f"{report.step:<{_NAME_WIDTH}} {report.state.value:<{_STATE_WIDTH}} {words}".rstrip(), flush=True)
        for line in report.notes:
            say(f"{'':<{_NAME_WIDTH}} {line}")
        for line in report.warnings:
            say(f"{'':<{_NAME_WIDTH}} warning: {line}")


class JsonReporter:
    """One JSON object a line, on standard output."""

    def note(self, line: str) -> None:
        """Print a note."""
        self._print({"event": "note", "text": line})

    def done(self, result: RunResult, out: Path) -> None:  # noqa: ARG002
        """Print what the run came to."""
        artifacts = list(result.record.artifacts())
        self._print(
            {
                "event": "done",
                "steps": {report.step: report.state.value for report in result.reports},
                "artifacts": len(artifacts),
                "bytes": sum(artifact.size for artifact in artifacts),
                "orphans": list(result.orphans),
            }
        )

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
        say(json_line(value), flush=True)
