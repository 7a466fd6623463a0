"""Step `tensors`: every tensor's payload, byte for byte as quantised, with a manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.manifest.containers import ListOf
from pipeline.manifest.kinds import Choice, Text
from pipeline.manifest.parameters import Parameter
from pipeline.steps.step import MODEL, Artifact, Step
from pipeline.tensor_export import MANIFEST, export_tensors

if TYPE_CHECKING:
    from pipeline.steps.step import Job

TENSOR_GLOB = Text("a glob over tensor names, such as blk.*.attn_q.weight")


class Tensors(Step):
    """Copy tensors out of the GGUF, one file each, and write a manifest of them.

    A payload is exactly the blob's bytes; nothing is converted. Files are named after the tensors;
    names that a file system could trip over are respelled, and the manifest says which file is
    which. Memory stays constant however large the model is.
    """

    name = "tensors"
    summary = "every tensor's payload, byte for byte, with a manifest"
    parameters = (
        Parameter(
            "include", ListOf(TENSOR_GLOB), ("*",), "Tensors to export: globs over names; `*` spans dots."
        ),
        Parameter("exclude", ListOf(TENSOR_GLOB), (), "Tensors to leave out of those."),
        Parameter(
            "mode",
            Choice("copy", "index"),
            "copy",
            "`copy`: write the payloads; `index`: write only the manifest, with offsets into the blob.",
        ),
    )
    reads = (MODEL,)
    writes = (
        Artifact("tensors/*", "tensor payload", "1", "a tensor's bytes as in the GGUF"),
        Artifact(
            MANIFEST, "tensor payload manifest", "1", "name, type, shape, offset, digest of each tensor"
        ),
    )

    def run(self, job: Job) -> None:
        """Copy the payloads and write the manifest."""
        export_tensors(job)
