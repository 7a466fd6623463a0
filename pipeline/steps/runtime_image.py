"""Step `runtime_image`: the Q25TOKRT image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.errors import shown
from pipeline.manifest.integers import Size
from pipeline.manifest.kinds import Choice
from pipeline.manifest.parameters import Parameter
from pipeline.steps.step import MODEL, MODEL_KIND, Artifact, Step

if TYPE_CHECKING:
    from pipeline.steps.step import Job

TABLES = ("token_index.bin", "token_bytes.bin", "merge_table_u32.bin")
FACTS = "tokenizer_facts.json"
IMAGE = "q25_tokenizer.img"
IMAGE_MANIFEST = "q25_tokenizer.json"


class RuntimeImage(Step):
    """Pack the tables of `ps_bundle` and three indexes into one image that firmware opens in place.

    Vocabularies of any byte-level BPE model are packed; the image records the pre-tokenizer's name,
    and an encoder that does not know that rule refuses to encode.
    """

    name = "runtime_image"
    summary = "Q25TOKRT: the tokenizer as one memory image"
    parameters = (
        Parameter(
            "align",
            Size(64, 65536, power_of_two=True),
            64,
            "Every section starts on a multiple of it: 64 is a cache line, 4096 keeps bursts inside a page.",
        ),
        Parameter(
            "profile",
            Choice("standard", "fast", "compact"),
            "standard",
            "fast: a token trie and a bitmap of merged pairs besides (2.4 MB for Qwen), with which text takes fewer "
            "instructions and less scratch. compact: a quarter of the bytes (1.2 MB for Qwen); tokens are put together "
            "from their merges.",
        ),
    )
    reads = (MODEL, MODEL_KIND, *TABLES, FACTS)
    writes = (
        Artifact(IMAGE, "q25tokrt", "1.0", "the image"),
        Artifact(IMAGE_MANIFEST, "q25tokrt manifest", "1", "header fields and sections of the image"),
    )

    def run(self, job: Job) -> None:
        """Write the image and its manifest."""
        import json

        from formats.q25tokrt.image import open_image
        from formats.q25tokrt.layout import Profile
        from formats.q25tokrt.packer import pack_image
        from pipeline.image_facts import describe_image, image_facts
        from pipeline.text_output import json_document

        facts = json.loads(job.read(FACTS))
        index, token_bytes, merges = (job.read(table) for table in TABLES)
        image = pack_image(
            index,
            token_bytes,
            merges,
            image_facts(facts, job.model.source),
            job.parameters["align"],
            profile=Profile[job.parameters["profile"].upper()],
        )
        job.write(IMAGE, image)
        opened = open_image(image, IMAGE)
        job.write(IMAGE_MANIFEST, json_document(describe_image(opened)))
        pre = facts["pre_tokenizer"]
        if not pre["served"]:
            job.warn(
                (
                    f"pre-tokenizer {shown(pre['name'])}: its rule is not served"
                    if pre["name"]
                    else "the model names no pre-tokenizer"
                )
                + ", so no encoder here will use this image; state model.pre in the manifest if the rule is qwen2's"
            )
        header = opened.header
        job.say(
            f"{job.parameters['profile']}, {len(image):,} bytes, {header.section_count} sections aligned to "
            f"{header.section_align}, look-ups of at most {header.max_probe} slot{'s' * (header.max_probe != 1)}, "
            f"pre-tokenizer {opened.pre_name or 'none'}"
        )
