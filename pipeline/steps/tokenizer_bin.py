"""Step `tokenizer_bin`: the tokenizer of a small C engine, in either of its layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.manifest.kinds import Choice
from pipeline.manifest.parameters import Parameter
from pipeline.steps.step import MODEL, Artifact, Step

if TYPE_CHECKING:
    from pipeline.steps.step import Job


class TokenizerBin(Step):
    """Write `tokenizer.bin`.

    Two layouts go by that name and nothing in the file tells them apart, so the manifest says which
    the engine reads.
    """

    name = "tokenizer_bin"
    summary = "tokenizer of a small C engine"
    parameters = (
        Parameter(
            "layout",
            Choice("documented", "loader"),
            "documented",
            "`documented`: as the engine's description has it; `loader`: as its published loader reads it.",
        ),
    )
    reads = (MODEL,)
    writes = (Artifact("tokenizer.bin", "tokenizer_bin", "1", "tokens, merges, added tokens, byte alphabet"),)

    def run(self, job: Job) -> None:
        """Write tokenizer.bin."""
        from formats import tokenizer_bin

        vocabulary = job.model.vocabulary
        layout = job.parameters["layout"]
        merges = vocabulary.merges
        data = tokenizer_bin.build(layout, vocabulary.texts, merges.left, merges.right, vocabulary.added_ids)
        job.write(tokenizer_bin.FILE_NAME, data)
        job.say(
            f"layout {layout}: {len(vocabulary)} strings, {len(merges)} merges, "
            f"{len(vocabulary.added_ids)} added tokens; {len(data)} bytes"
        )
