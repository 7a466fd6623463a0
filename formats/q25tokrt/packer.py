"""Packing a Q25TOKRT image from the PS bundle's tables."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from formats import ps_bundle
from formats.errors import FormatError, shown
from formats.layout import Place
from formats.layout.fields import located
from formats.q25tokrt.image import open_image
from formats.q25tokrt.layout import (
    ALIGNMENTS,
    DEFAULT_ALIGN,
    DIRECTORY_ENTRY,
    HEADER,
    MAJOR,
    MAX_END_IDS,
    MINOR,
    NONE,
    OPTIONAL,
    OPTIONAL_KINDS,
    PRE_NAME_BYTES,
    PROFILE_SHIFT,
    RECORD_BYTES,
    Flag,
    Kind,
    Profile,
)
from formats.q25tokrt.payloads import MAKERS, Tables
from formats.token_types import TokenType


@dataclass(frozen=True)
class ImageFacts:
    """What the image says of itself that the tables do not.

    Attributes:
        source_sha256: digest of the GGUF blob, 32 bytes.
        first_pad_id: ids from here on are padding.
        pre_name: the pre-tokenizer's name, printable ASCII of at most 31 bytes, or empty.
        nfc: text is normalised before it is split.
        sample: built on the sample, not on a model.
        class_tables, nfc_tables: Unicode versions, major << 16 | minor << 8 | patch; 0 where no table
            of this project applies.
        bos_id, eos_id, pad_id: token ids, or None.
        end_ids: every id that ends a turn or a text, at most 8.

    """

    source_sha256: bytes
    first_pad_id: int
    pre_name: str
    nfc: bool
    sample: bool
    class_tables: int
    nfc_tables: int
    bos_id: int | None
    eos_id: int | None
    pad_id: int | None
    end_ids: tuple[int, ...]


def pack_image(
    token_index: bytes,
    token_bytes: bytes,
    merge_table: bytes,
    facts: ImageFacts,
    align: int = DEFAULT_ALIGN,
    *,
    profile: Profile = Profile.STANDARD,
) -> bytes:
    """Pack the sections of a profile into one image.

    Args:
        token_index, token_bytes, merge_table: the files of the PS bundle; they are checked first.
        facts: the rest of the header.
        align: bytes, a power of two from 64 to 65,536.
        profile: what the image is made for.

    Raises:
        FormatError: tables that contradict each other, facts that the header cannot hold or
            that contradict the tables, or a vocabulary that the profile cannot serve.

    """
    if not ALIGNMENTS.passes(align):
        raise FormatError(ALIGNMENTS.words, shown(align), path="header.section_align")
    index = ps_bundle.read_token_index(token_index, len(token_bytes))
    tokens = ps_bundle.token_strings(index, token_bytes)
    types = index["token_type"]
    merges = ps_bundle.read_merge_table(merge_table, tokens, types)
    ps_bundle.require_padding(index, facts.first_pad_id)
    tables = Tables(token_index, token_bytes, merge_table, tokens, types, merges, facts.first_pad_id)
    made = MAKERS[profile](tables)
    directory, body, total = _lay_out(made.sections, align)
    counts = {
        "n_tokens": len(tokens),
        "n_base": int(np.count_nonzero(types == TokenType.NORMAL)),
        "n_added": made.sections[Kind.SPECIAL_TOKEN_INDEX][1],
        "n_merges": len(merges),
        "max_token_bytes": int(tokens.lengths.max(initial=0)),
        "max_probe": made.max_probe,
        "hash_seed": made.hash_seed,
    }
    rank_is_out_id = np.array_equal(merges["out_id"], merges["rank"].astype(np.int64) + 256)
    flags = (
        (Flag.RANK_IS_OUT_ID if rank_is_out_id else Flag(0))
        | (Flag.NFC if facts.nfc else Flag(0))
        | (Flag.SAMPLE if facts.sample else Flag(0))
    )
    fixed = {
        "major": MAJOR,
        "minor": MINOR,
        "total_bytes": total,
        "flags": int(flags) | profile << PROFILE_SHIFT,
        "section_count": len(made.sections),
        "section_align": align,
    }
    try:
        header = HEADER.build({**fixed, **counts, **_facts_fields(facts), "crc32": 0})
    except FormatError as error:
        raise located(error, "header") from None
    crc_at = HEADER.offset_of("crc32")
    crc = zlib.crc32(directory, zlib.crc32(header[:crc_at]))
    image = b"".join((header[:crc_at], crc.to_bytes(4, "little"), directory, body))
    open_image(image)  # refuses facts that contradict the tables, such as an id that is no token
    return image


def _lay_out(payloads: dict[Kind, tuple[bytes, int]], align: int) -> tuple[bytes, bytes, int]:
    """Place the sections one behind the other.

    Returns:
        directory; everything behind it, gaps included; the image's size in bytes.

    """
    end = HEADER.size + len(payloads) * DIRECTORY_ENTRY.size
    directory, body = bytearray(), bytearray()
    for kind, (payload, count) in payloads.items():
        gap = -end % align
        directory += DIRECTORY_ENTRY.build(
            {
                "kind": int(kind),
                "flags": OPTIONAL if kind in OPTIONAL_KINDS else 0,
                "record_bytes": RECORD_BYTES[kind],
                "offset": end + gap,
                "length": len(payload),
                "count": count,
                "crc32": zlib.crc32(payload),
            }
        )
        body += bytes(gap) + payload
        end += gap + len(payload)
    body += bytes(-end % align)
    return bytes(directory), bytes(body), end + -end % align


def _facts_fields(facts: ImageFacts) -> dict[str, Any]:
    name = facts.pre_name.encode("utf-8", "backslashreplace")
    if len(name) >= PRE_NAME_BYTES or not all(0x21 <= byte < 0x7F for byte in name):
        raise Place("", "pre_name", HEADER.offset_of("pre_name")).error(
            f"a pre-tokenizer's name of at most {PRE_NAME_BYTES - 1} printable ASCII characters",
            shown(facts.pre_name),
            "state model.pre in the manifest if the rule is a known one",
        )
    if len(facts.end_ids) > MAX_END_IDS:
        raise Place("", "end_ids", HEADER.offset_of("end_ids")).error(
            f"at most {MAX_END_IDS} end ids", str(len(facts.end_ids)), "an image has no room for more"
        )
    ids = {"bos_id": facts.bos_id, "eos_id": facts.eos_id, "pad_id": facts.pad_id}
    return {
        "pre_name": name.ljust(PRE_NAME_BYTES, b"\0"),
        "class_tables": facts.class_tables,
        "nfc_tables": facts.nfc_tables,
        **{field: NONE if value is None else value for field, value in ids.items()},
        "n_end_ids": len(facts.end_ids),
        "end_ids": [*facts.end_ids, *[NONE] * (MAX_END_IDS - len(facts.end_ids))],
        "source_sha256": facts.source_sha256,
        "first_pad_id": facts.first_pad_id,
    }
