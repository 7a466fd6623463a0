"""Step `vocab_bin`: the vocabulary of the RK3588 engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.steps.step import MODEL, Artifact, Step

if TYPE_CHECKING:
    from pipeline.steps.step import Job


class VocabBin(Step):
    """Write `vocab.bin`, and say how its tokens were stored and which texts it covers.

    The engine takes the longest entry at each position instead of merging by rank, so its ids
    differ from the model's own tokenizer on some texts: the file is not BPE-exact.
    """

    name = "vocab_bin"
    summary = "vocabulary of the RK3588 engine (longest match, not BPE-exact)"
    reads = (MODEL,)
    writes = (Artifact("vocab.bin", "vocab_bin", "1", "tokens for a longest-match engine; not BPE-exact"),)

    def run(self, job: Job) -> None:
        """Write vocab.bin."""
        import numpy as np

        from formats import vocab_bin
        from pipeline.vocab_coverage import coverage_lines

        vocabulary = job.model.vocabulary
        real = np.arange(vocabulary.first_pad_id)
        packed = vocab_bin.build(vocabulary.tokens.take(real), vocabulary.types[real])
        job.write(vocab_bin.FILE_NAME, packed.data)
        job.say(
            f"{len(packed.entries)} entries: {packed.converted} converted, {packed.kept} kept, "
            f"{packed.special} special; {len(packed.data)} bytes"
        )
        for line in coverage_lines(packed.entries):
            job.say(line)
