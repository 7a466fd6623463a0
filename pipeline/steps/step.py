"""What a step is, and what it sees while it works.

A step says what it reads and what it writes; the order of steps follows from that. This module and
the declarations of the steps import nothing heavy: what a step works with is imported in `run`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pipeline.manifest.parameters import Parameter
    from pipeline.model import Model

MODEL = "model"
"""The input that stands for the GGUF's bytes; its digest is the blob's."""
MODEL_KIND = "model.kind"
"""The input that stands for where the model came from: ollama, gguf or sample."""
MODEL_PRE = "model.pre"
"""The input that stands for the manifest's `model.pre`."""
MODEL_LAYERS = "model.layers"
"""The input that stands for the other layers of a model in the Ollama store."""
MODEL_INPUTS = (MODEL, MODEL_KIND, MODEL_PRE, MODEL_LAYERS)


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that a step writes, or a folder of files.

    Attributes:
        name: path inside the output folder; `folder/*` for files that depend on the model.
        layout: name of its layout.
        version: of the layout.
        summary: what it holds, in a line.
        optional: whether it depends on the model that there is such a file; so does a folder's.

    """

    name: str
    layout: str
    version: str
    summary: str
    optional: bool = False

    @property
    def is_folder(self) -> bool:
        """Tell whether this is a folder of files."""
        return self.name.endswith("/*")

    def covers(self, name: str) -> bool:
        """Tell whether a file is this artifact, or one of its folder."""
        if self.is_folder:
            return name.startswith(self.name[:-1]) and name != self.name[:-1]
        return name == self.name


class Sink(Protocol):
    """A file that is being written; it is hashed on the way."""

    def write(self, data: bytes | memoryview, /) -> object:
        """Append bytes; a buffer may be changed again when the next call has returned."""

    @property
    def sha256(self) -> str:
        """SHA-256 of what was written, 64 hex digits."""


class Job(Protocol):
    """One step's work: its parameters, its inputs, and where its artifacts and words go."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The step's parameters, every one of them."""

    @property
    def model(self) -> Model:
        """The model; opened when first asked for."""

    def read(self, name: str) -> bytes:
        """Return an artifact that the step declared as input."""

    def has(self, name: str) -> bool:
        """Tell whether the manifest makes an artifact that the step uses."""

    def path(self, parameter: str) -> Path | None:
        """Give the file or folder that a parameter names; None where it is not given."""

    def write(self, name: str, data: bytes) -> None:
        """Write an artifact; it gets its final name when the whole step has worked."""

    def create(self, name: str) -> AbstractContextManager[Sink]:
        """Write an artifact bit by bit."""

    def say(self, line: str) -> None:
        """Tell the user something about the result."""

    def warn(self, line: str) -> None:
        """Tell the user about something that may be wrong."""

    def progress(self, done: int, total: int) -> None:
        """Tell how far the work is, in bytes."""


class Step(ABC):
    """Base of the steps. A subclass sets the attributes and implements `run`.

    Attributes:
        name: in the manifest.
        summary: what it does, in a line.
        version: counts up when the same inputs give other bytes.
        parameters: the keys it takes in the manifest.
        reads: model inputs and artifacts of other steps; see also `inputs`.
        uses: artifacts of other steps that are read too where the manifest makes them.
        files: parameters whose value is the path of a file or folder that is read.
        writes: its artifacts.

    """

    name: ClassVar[str]
    summary: ClassVar[str]
    version: ClassVar[int] = 1
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    reads: ClassVar[tuple[str, ...]] = ()
    uses: ClassVar[tuple[str, ...]] = ()
    files: ClassVar[tuple[str, ...]] = ()
    writes: ClassVar[tuple[Artifact, ...]]

    def inputs(self, parameters: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG002
        """Name what it reads; a step whose parameters name artifacts reads these too."""
        return self.reads

    def problems(self, parameters: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:  # noqa: ARG002
        """Say which parameters cannot be right together.

        Yields:
            the keys that lead to the parameter, from the step's own on, and what is wrong with it.

        """
        yield from ()

    @abstractmethod
    def run(self, job: Job) -> None:
        """Make the artifacts.

        Raises:
            ModelError, FormatError: the model does not allow it.
            OSError: the machine does not.

        """

    def artifact(self, name: str) -> Artifact:
        """Find the declaration of a file that this step writes."""
        return next(artifact for artifact in self.writes if artifact.covers(name))
