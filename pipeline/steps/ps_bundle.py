"""Step `ps_bundle`: the three tables for the A53 processing system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.steps.step import MODEL, Artifact, Step

if TYPE_CHECKING:
    from pipeline.steps.step import Job


class PsBundle(Step):
    """Write the token index, the token bytes and the merge table.

    Any byte-level BPE vocabulary will do, whatever its pre-tokenizer. Padded tokens keep their text.
    """

    name = "ps_bundle"
    summary = "token index, token bytes and merge table for the processing system"
    reads = (MODEL,)
    writes = (
        Artifact("token_index.bin", "token_index", "1", "offset, length and type of every token"),
        Artifact("token_bytes.bin", "token_bytes", "1", "the bytes of all tokens, back to back"),
        Artifact("merge_table_u32.bin", "merge_table_u32", "1", "left, right, out and rank of every merge"),
    )

    def run(self, job: Job) -> None:
        """Write the three tables."""
        from formats import ps_bundle

        vocabulary = job.model.vocabulary
        merges = vocabulary.merges
        index = ps_bundle.build_token_index(vocabulary.tokens, vocabulary.types)
        table = ps_bundle.build_merge_table(merges.left, merges.right, merges.out)
        job.write(ps_bundle.INDEX_FILE, index)
        job.write(ps_bundle.BYTES_FILE, vocabulary.tokens.joined())
        job.write(ps_bundle.MERGE_FILE, table)
        job.say(
            f"{len(vocabulary):,} tokens of {int(vocabulary.tokens.lengths.sum()):,} bytes, "
            f"{len(merges):,} merges"
        )
