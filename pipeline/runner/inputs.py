"""What a step's artifacts are made from, with a digest for each: the model, artifacts, files of the user's."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.cache import cache_folder
from pipeline.errors import ModelError, UsageError
from pipeline.runner.known_files import WORK_FOLDER
from pipeline.runner.record import FILE_NAME as RECORD
from pipeline.sources.digests import DigestCache
from pipeline.sources.errors import InputChanged, path_words
from pipeline.sources.trees import tree_sha256
from pipeline.steps.step import MODEL, MODEL_INPUTS, MODEL_KIND, MODEL_LAYERS, MODEL_PRE
from pipeline.text_output import json_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipeline.manifest.load import Manifest
    from pipeline.runner.graph import Node
    from pipeline.runner.record import StepRecord
    from pipeline.sources.source import Source


class Inputs:
    """The inputs of one run's steps."""

    def __init__(self, manifest: Manifest, source: Source) -> None:
        self._manifest = manifest
        self._model = model_inputs(source)
        self._digests = DigestCache(cache_folder())

    def digests(self, node: Node, steps: Mapping[str, StepRecord]) -> dict[str, str]:
        """Give a digest for each thing a step reads; the steps it reads from are settled.

        Args:
            node: the step.
            steps: the record of every step that was made, by name.

        Raises:
            ModelError: an artifact that the step before did not write for this model.
            PipelineError: a file of the user's that is not there, cannot be read, or is one that runs write.

        """
        inputs = {}
        for name in node.reads:
            if name in MODEL_INPUTS:
                inputs[name] = self._model[name]
                continue
            made = steps.get(node.providers[name])
            artifacts = () if made is None else made.artifacts
            sha256 = next((artifact.sha256 for artifact in artifacts if artifact.name == name), None)
            if sha256 is None:
                raise ModelError(
                    f"step {node.name} reads {name}, which step {node.providers[name]} did not write for this model"
                )
            inputs[name] = f"sha256:{sha256}"
        inputs |= self._file_digests(node)
        self._refuse_what_runs_write(node, steps)
        return inputs

    def paths(self, node: Node) -> dict[str, Path]:
        """Resolve the paths among a step's parameters that name what it reads."""
        given = {name: node.request.parameters[name] for name in node.step.files}
        return {name: self._manifest.beside(str(path)) for name, path in given.items() if path is not None}

    def check_files_unchanged(self, node: Node, digests: Mapping[str, str]) -> None:
        """Refuse files that are not those that were hashed before the step ran (InputChanged)."""
        for name, digest in self._file_digests(node).items():
            if digest != digests[name]:
                raise InputChanged(
                    f"{path_words(self.paths(node)[name])}: changed while it was being read; run again when nothing "
                    "writes it"
                )

    def _refuse_what_runs_write(self, node: Node, steps: Mapping[str, StepRecord]) -> None:
        """Refuse files that are written by a run: such a step would never be fresh, or read what is not made yet."""
        made = {artifact.name for step in steps.values() for artifact in step.artifacts}
        written = [Path(name) for name in (WORK_FOLDER, RECORD, *made)]
        for name, path in self.paths(node).items():
            found, out = path.resolve(), self._manifest.out.resolve()
            if any(found.is_relative_to(out / one) or (out / one).is_relative_to(found) for one in written):
                place = self._manifest.place("steps", node.name, name)
                raise place.error(
                    f"steps.{node.name}.{name}: {path_words(path)}: expected files that no run of this manifest "
                    "writes, found some that it does; copy what is wanted elsewhere"
                )

    def _file_digests(self, node: Node) -> dict[str, str]:
        found = {}
        for name, path in self.paths(node).items():
            try:
                found[name] = f"sha256:{tree_sha256(path, self._digests)}"
            except UsageError as error:
                place = self._manifest.place("steps", node.name, name)
                raise place.error(f"steps.{node.name}.{name}: {error}") from error
        return found


def model_inputs(source: Source) -> dict[str, str]:
    """Give what stands for the model in a step's inputs: a digest or a word for each."""
    layers = () if source.ollama is None else source.ollama.layers
    listed = json_line([[layer.kind, layer.digest] for layer in layers])
    return {
        MODEL: f"sha256:{source.sha256}",
        MODEL_KIND: source.kind,
        MODEL_PRE: source.pre or "",
        MODEL_LAYERS: f"sha256:{hashlib.sha256(listed.encode()).hexdigest()}",
    }
