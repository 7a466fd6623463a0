"""Between the tokenizer's facts and the header of a Q25TOKRT image."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from formats.q25tokrt.layout import NONE, Flag
from formats.q25tokrt.packer import ImageFacts
from pipeline.bpe.unicode_tables import version_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.q25tokrt.image import Image
    from pipeline.sources.source import Source


def image_facts(facts: Mapping[str, Any], source: Source) -> ImageFacts:
    """Choose what the header says from `tokenizer_facts.json` and the model's source."""
    pre, special = facts["pre_tokenizer"], facts["special_ids"]
    return ImageFacts(
        source_sha256=bytes.fromhex(source.sha256),
        first_pad_id=facts["first_pad_id"],
        pre_name=pre["name"],
        nfc=pre["nfc"],
        sample=source.kind == "sample",
        class_tables=pre["class_tables"],
        nfc_tables=pre["nfc_tables"],
        bos_id=special["bos"],
        eos_id=special["eos"],
        pad_id=special["pad"],
        end_ids=tuple(entry["id"] for entry in facts["end_ids"]),
    )


def describe_image(image: Image) -> dict[str, Any]:
    """List an image's header and sections as plain values."""
    header = image.header
    ids = {name: None if header[name] == NONE else header[name] for name in ("bos_id", "eos_id", "pad_id")}
    counts = ("n_tokens", "n_base", "n_added", "n_merges", "first_pad_id", "max_token_bytes", "max_probe")
    return {
        "version": f"{header.major}.{header.minor}",
        "total_bytes": header.total_bytes,
        "section_align": header.section_align,
        "flags": [flag.name.lower() for flag in Flag if flag in image.flags and flag.name],
        "profile": image.profile.name.lower(),
        **{name: header[name] for name in counts},
        "hash_seed": f"0x{header.hash_seed:016x}",
        "pre_name": image.pre_name,
        "class_tables": version_words(header.class_tables),
        "nfc_tables": version_words(header.nfc_tables),
        **ids,
        "end_ids": list(image.end_ids),
        "source_sha256": image.source_sha256,
        "sections": [
            {
                "kind": int(kind),
                "name": kind.name.lower(),
                "offset": section.place.offset,
                "length": len(section.data),
                "count": section.count,
                "crc32": f"0x{section.crc32:08x}",
                "sha256": hashlib.sha256(section.data).hexdigest(),
            }
            for kind, section in image.sections.items()
        ],
    }


def version_words(version: int) -> str | None:
    """Write a packed Unicode version as `16.0.0`, or None for 0."""
    return version_text(version) if version else None
