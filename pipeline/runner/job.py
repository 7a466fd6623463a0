"""What a step sees while it runs, and what it leaves behind until its work is committed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pipeline.model import Model
    from pipeline.runner.graph import Node
    from pipeline.runner.outputs import OutputFolder
    from pipeline.runner.staging import Staged, StagedFile


class StepJob:
    """The work of one step; implements `pipeline.steps.step.Job`.

    Attributes:
        staged: the files written so far.
        notes: what the step says about its result.
        warnings: what may be wrong.

    """

    def __init__(
        self,
        node: Node,
        folder: OutputFolder,
        paths: Mapping[str, Path],
        open_model: Callable[[], Model],
        on_progress: Callable[[int, int], None],
    ) -> None:
        self._node = node
        self._folder = folder
        self._paths = paths
        self._open_model = open_model
        self._on_progress = on_progress
        self.staged: list[Staged] = []
        self.notes: list[str] = []
        self.warnings: list[str] = []

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The step's parameters."""
        return self._node.request.parameters

    @property
    def model(self) -> Model:
        """The model, opened."""
        return self._open_model()

    def read(self, name: str) -> bytes:
        """Return an artifact that the step declared as input."""
        if name not in self._node.providers:
            raise LookupError(f"step {self._node.name} reads {name} without declaring it")
        return self._folder.read(name)

    def has(self, name: str) -> bool:
        """Tell whether the manifest makes an artifact that the step uses."""
        return name in self._node.providers

    def path(self, parameter: str) -> Path | None:
        """Give the file or folder that a parameter names; None where it is not given."""
        if parameter not in self._node.step.files:
            raise LookupError(f"step {self._node.name} asks for the path {parameter} without declaring it")
        return self._paths.get(parameter)

    def write(self, name: str, data: bytes) -> None:
        """Write an artifact."""
        with self.create(name) as file:
            file.write(data)

    @contextmanager
    def create(self, name: str) -> Iterator[StagedFile]:
        """Write an artifact bit by bit."""
        self._node.step.artifact(name)
        with self._folder.stage(name, self.staged) as file:
            yield file

    def say(self, line: str) -> None:
        """Tell the user something about the result."""
        self.notes.append(line)

    def warn(self, line: str) -> None:
        """Tell the user about something that may be wrong."""
        self.warnings.append(line)

    def progress(self, done: int, total: int) -> None:
        """Tell how far the work is, in bytes."""
        self._on_progress(done, total)
