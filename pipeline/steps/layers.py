"""Step `layers`: the text layers that come with a model in the Ollama store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.steps.step import MODEL_LAYERS, Artifact, Step

if TYPE_CHECKING:
    from pipeline.steps.step import Job

_SUFFIX = {"params": "json", "messages": "json"}


class Layers(Step):
    """Write licence, system text, parameters and Ollama's own template, byte for byte.

    Several licences are `license.txt`, `license-2.txt` and so on. A GGUF file has no such layers;
    nothing is written for it.
    """

    name = "layers"
    summary = "licence, system text, parameters and template of the model in the Ollama store"
    reads = (MODEL_LAYERS,)
    writes = (Artifact("layers/*", "ollama layer", "1", "a text layer of the Ollama model"),)

    def run(self, job: Job) -> None:
        """Write one file for each text layer."""
        texts = job.model.text_layers
        for key, data in texts.items():
            kind = key.partition("-")[0]
            job.write(f"layers/{key}.{_SUFFIX.get(kind, 'txt')}", data)
        job.say(", ".join(texts) if texts else "the model has no text layers")
