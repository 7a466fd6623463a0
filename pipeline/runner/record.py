"""The build record, `build.json`: every artifact, and what it was made from.

The record is deterministic and complete: no times, no absolute paths. A run also reads it to know
what is there already, so it is the only memory that a build needs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pipeline.runner.fingerprint import DISTRIBUTION
from pipeline.text_output import json_document
from pipeline.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pipeline.sources.source import Source

FILE_NAME = "build.json"
RECORD_VERSION = 1
_DEEPEST = 4
"""Lists and mappings inside each other that a parameter may be."""


@dataclass(frozen=True, slots=True)
class ArtifactRecord:
    """An artifact: its name inside the output folder, size in bytes, SHA-256 (hex), layout and purpose."""

    name: str
    size: int
    sha256: str
    layout: str
    layout_version: str
    summary: str


@dataclass(frozen=True, slots=True)
class StepRecord:
    """What a step made, and from what.

    Attributes:
        step: its name.
        version: the step's own version.
        tool: the tool's version and source digest.
        parameters: all of them, as plain values.
        inputs: a digest for each thing it read.
        artifacts: in the order of their names.

    """

    step: str
    version: int
    tool: str
    parameters: Mapping[str, Any]
    inputs: Mapping[str, str]
    artifacts: tuple[ArtifactRecord, ...]


@dataclass(frozen=True)
class BuildRecord:
    """A build: its source and its steps, by name."""

    source: Mapping[str, Any] = field(default_factory=dict)
    steps: Mapping[str, StepRecord] = field(default_factory=dict)

    def artifacts(self) -> Iterable[ArtifactRecord]:
        """Give every artifact of every step."""
        for step in self.steps.values():
            yield from step.artifacts

    def document(self) -> bytes:
        """Write the record as JSON."""
        return json_document(
            {
                "record_version": RECORD_VERSION,
                "tool": {"name": DISTRIBUTION, "version": VERSION},
                "source": self.source,
                "steps": [
                    {
                        "step": step.step,
                        "version": step.version,
                        "tool": step.tool,
                        "parameters": step.parameters,
                        "inputs": step.inputs,
                        "artifacts": [
                            {
                                "name": artifact.name,
                                "size": artifact.size,
                                "sha256": artifact.sha256,
                                "layout": artifact.layout,
                                "layout_version": artifact.layout_version,
                                "summary": artifact.summary,
                            }
                            for artifact in step.artifacts
                        ],
                    }
                    for step in self.steps.values()
                ],
            }
        )


def read_record(data: bytes) -> BuildRecord | None:
    """Read a record; None where it is damaged or of another version, which means "nothing is known"."""
    try:
        document = json.loads(data)
        if document["record_version"] != RECORD_VERSION:
            return None
        steps = [_step(fields) for fields in document["steps"]]
        return BuildRecord(dict(document["source"]), {step.step: step for step in steps})
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _step(fields: Mapping[str, Any]) -> StepRecord:
    parameters = dict(fields["parameters"])
    if not _is_plain(parameters, _DEEPEST):
        raise ValueError("no parameters of a manifest")
    return StepRecord(
        _words(fields["step"]),
        int(fields["version"]),
        _words(fields["tool"]),
        parameters,
        {_words(name): _words(digest) for name, digest in fields["inputs"].items()},
        tuple(_artifact(artifact) for artifact in fields["artifacts"]),
    )


def _artifact(fields: Mapping[str, Any]) -> ArtifactRecord:
    words = (_words(fields[name]) for name in ("sha256", "layout", "layout_version", "summary"))
    return ArtifactRecord(str(fields["name"]), int(fields["size"]), *words)


def _words(value: object) -> str:
    """Take a text that can stand in a message."""
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError("no text of one line")
    return value


def _is_plain(value: object, depth: int) -> bool:
    """Tell whether a value is of the kinds that parameters have, so that it can be written again."""
    if isinstance(value, dict):
        return depth > 0 and all(_is_plain(item, depth - 1) for item in value.values())
    if isinstance(value, list):
        return depth > 0 and all(_is_plain(item, depth - 1) for item in value)
    return value is None or isinstance(value, (str, int))


def source_document(source: Source) -> dict[str, Any]:
    """Describe where the model came from, down to the digests of its layers."""
    document: dict[str, Any] = {"kind": source.kind, "name": source.name}
    if source.requested is not None:
        document["in_place_of"] = source.requested
    document["gguf"] = {"sha256": source.sha256, "size": source.stamp.size}
    if source.ollama is not None:
        document["ollama_manifest"] = source.ollama.manifest_digest
        document["layers"] = [
            {"kind": layer.kind, "digest": layer.digest, "size": layer.size} for layer in source.ollama.layers
        ]
    return document
