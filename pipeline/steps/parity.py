"""Step `parity`: the tokenizers of the artifacts held against the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.manifest.integers import Integer
from pipeline.manifest.kinds import Choice, FilePath
from pipeline.manifest.parameters import Parameter
from pipeline.steps.runtime_image import IMAGE
from pipeline.steps.step import MODEL, MODEL_PRE, Artifact, Step

if TYPE_CHECKING:
    from pipeline.steps.step import Job

PARITY = "parity.json"
VOCAB_BIN, TOKENIZER_BIN = "vocab.bin", "tokenizer.bin"
LISTED = 200


class Parity(Step):
    """Encode a corpus with the reference, with the exact encoder on the image, and as other engines do.

    The reference is HuggingFace `tokenizers`, set up from the model's own vocabulary; it comes with the
    extra `parity`. The exact encoder must agree with it, or the build stops: `fail_under` says in how
    many samples. The RK3588 engine's variants on `vocab.bin`, the engine of `tokenizer.bin`, and BPE by
    rank without a pre-tokenizer are counted, and each of their differences has its cause, found by
    experiment; [parity](parity.md) shows what comes of it.
    """

    name = "parity"
    summary = "the tokenizers of the artifacts against the reference, with the cause of each difference"
    parameters = (
        Parameter(
            "corpus",
            FilePath(),
            None,
            "A text file in UTF-8, or a folder of them; left out, texts that come with this tool.",
        ),
        Parameter(
            "samples",
            Choice("lines", "blocks"),
            "lines",
            "What is compared at a time: `lines` without their ends, or `blocks` of lines up to blank ones, with them.",
        ),
        Parameter(
            "fail_under",
            Integer(0, 100),
            100,
            "Percent of samples in which the exact encoder must equal the reference; fewer stop the run.",
        ),
        Parameter(
            "differences",
            Integer(0, 1_000_000),
            LISTED,
            "Differences that `parity.json` lists of each tokenizer and class at the most; all are counted.",
        ),
    )
    reads = (MODEL, MODEL_PRE, IMAGE)
    uses = (VOCAB_BIN, TOKENIZER_BIN)
    files = ("corpus",)
    writes = (Artifact(PARITY, "parity", "1", "how each tokenizer differs from the reference, and why"),)

    def run(self, job: Job) -> None:
        """Compare, and write the outcome."""
        from formats.q25tokrt.verify import verify_image
        from pipeline.errors import CheckFailed
        from pipeline.parity.assembly import Assembly
        from pipeline.parity.corpus import open_corpus
        from pipeline.parity.judging import compare
        from pipeline.parity.table import aligned, corpus_line, summary_rows
        from pipeline.text_output import json_document

        corpus = open_corpus(job.path("corpus"), job.parameters["samples"])
        assembly = Assembly(job.model.vocabulary, job.model.pre)
        parties = assembly.of_image(verify_image(job.read(IMAGE), IMAGE))
        if job.has(VOCAB_BIN):
            parties += assembly.of_vocab_bin(job.read(VOCAB_BIN))
        if job.has(TOKENIZER_BIN):
            parties += assembly.of_tokenizer_bin(job.read(TOKENIZER_BIN))
        size = corpus.size
        verdict = compare(
            assembly,
            parties,
            job.model.source.sha256,
            corpus,
            listed=job.parameters["differences"],
            progress=lambda done: job.progress(done, size),
        )
        failure = verdict.failure(job.parameters["fail_under"])
        if failure is not None:
            raise CheckFailed(f"step parity: {failure}")
        job.write(PARITY, json_document(verdict.document))
        job.say(corpus_line(verdict.document))
        for line in aligned(*summary_rows(verdict.document)):
            job.say(line)
