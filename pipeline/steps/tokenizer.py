"""Step `tokenizer`: the tokenizer's metadata as text assets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.steps.step import MODEL, MODEL_PRE, Artifact, Step

if TYPE_CHECKING:
    from pipeline.steps.step import Job


class Tokenizer(Step):
    """Write tokens, merges, token types, chat templates and the facts about them.

    - `tokens.jsonl`: a JSON object a line, in id order: id, token (the GGUF's text), type, bytes (hex);
    - `merges.txt`: a merge a line, as in the GGUF; the rank is the line's number from 0;
    - `token_types.bin`: i32 per token;
    - `chat_template.txt`: the template's bytes; named ones as `chat_templates/NAME.txt`;
    - `tokenizer_facts.json`: special ids, end ids with their origin, pre-tokenizer, counts.
    """

    name = "tokenizer"
    summary = "tokens, merges, token types, chat templates and facts"
    reads = (MODEL, MODEL_PRE)
    writes = (
        Artifact("tokens.jsonl", "tokens", "1", "id, text, type and bytes of a token on each line"),
        Artifact("merges.txt", "merges", "1", "the merges in rank order, one on each line"),
        Artifact("token_types.bin", "token_types", "1", "the tokens' types, i32 each"),
        Artifact("chat_template.txt", "chat_template", "1", "the model's chat template", optional=True),
        Artifact("chat_templates/*", "chat_template", "1", "a named chat template"),
        Artifact(
            "tokenizer_facts.json", "tokenizer_facts", "1", "special and end ids, pre-tokenizer, counts"
        ),
    )

    def run(self, job: Job) -> None:
        """Write the assets."""
        from formats import token_types_bin
        from pipeline.text_output import json_document
        from pipeline.vocabulary import export, facts, templates

        model, vocabulary = job.model, job.model.vocabulary
        found = templates.read_templates(model.gguf)
        collected = facts.collect_facts(model, found)
        with job.create("tokens.jsonl") as sink:
            for lines in export.tokens_jsonl(vocabulary):
                sink.write(lines)
        job.write("merges.txt", vocabulary.merges.lines)
        job.write(token_types_bin.FILE_NAME, token_types_bin.build(vocabulary.types))
        for template in found:
            job.write(template.file, template.text)
        job.write("tokenizer_facts.json", json_document(collected.document))
        for warning in collected.warnings:
            job.warn(warning)
        counts = collected.document["counts"]
        job.say(
            f"{counts['base']:,} base + {counts['added']} added + {counts['padded']} padded tokens"
            + (f", {counts['embedding_rows']:,} embedding rows" if counts["embedding_rows"] else "")
            + f"; {counts['merges']:,} merges; end ids "
            + (", ".join(str(entry["id"]) for entry in collected.document["end_ids"]) or "none")
        )
