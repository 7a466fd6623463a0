"""Step `inspect`: what the model is, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.steps.step import MODEL, Artifact, Step

if TYPE_CHECKING:
    from pipeline.steps.step import Job


class Inspect(Step):
    """Write the model's key/values, tensors and counts to `model.json`.

    Arrays of more than 64 elements are given by count and digest; the tokenizer's are exported by
    the step `tokenizer`.
    """

    name = "inspect"
    summary = "key/values, tensors and counts of the model"
    reads = (MODEL,)
    writes = (Artifact("model.json", "model", "1", "key/values, tensors and counts of the GGUF"),)

    def run(self, job: Job) -> None:
        """Write model.json."""
        from pipeline.inspection import count, describe_gguf
        from pipeline.text_output import json_document

        gguf = job.model.gguf
        for warning in gguf.warnings:
            job.warn(warning)
        job.write("model.json", json_document(describe_gguf(gguf)))
        counts = count(gguf)
        job.say(
            f"{counts['key_values']} key/values, {counts['tensors']} tensors, "
            f"{counts['parameters']:,} parameters in {counts['tensor_bytes']:,} bytes"
        )
