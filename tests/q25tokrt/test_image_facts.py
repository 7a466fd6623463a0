"""Between tokenizer_facts.json and an image's header, and back to plain values."""

import hashlib
import json
from types import SimpleNamespace

import pytest
from small_vocabulary import CONTROL, grown

from formats.q25tokrt.image import open_image
from formats.q25tokrt.layout import SECTIONS, Kind, Profile
from formats.q25tokrt.packer import ImageFacts, pack_image
from pipeline.image_facts import describe_image, image_facts, version_words

FACTS = {
    "first_pad_id": 259,
    "pre_tokenizer": {"name": "qwen2", "nfc": True, "class_tables": 0x110000, "nfc_tables": 0x090102},
    "special_ids": {"bos": None, "eos": 258, "eot": None, "eom": None, "unk": None, "pad": 257},
    "end_ids": [{"id": 258, "token": "<s>", "named_by": ["x"]}, {"id": 0, "token": "!", "named_by": ["y"]}],
}


def source(kind="ollama"):
    return SimpleNamespace(sha256="ab" * 32, kind=kind)


def test_what_the_header_takes_from_the_facts():
    assert image_facts(FACTS, source()) == ImageFacts(
        source_sha256=b"\xab" * 32,
        first_pad_id=259,
        pre_name="qwen2",
        nfc=True,
        sample=False,
        class_tables=0x110000,
        nfc_tables=0x090102,
        bos_id=None,
        eos_id=258,
        pad_id=257,
        end_ids=(258, 0),
    )


@pytest.mark.parametrize(("kind", "sample"), [("sample", True), ("ollama", False), ("gguf", False)])
def test_only_the_sample_is_called_one(kind, sample):
    assert image_facts(FACTS, source(kind)).sample is sample


def test_an_image_as_plain_values():
    vocabulary = grown("a|b", "ab|c", added=[("<s>", CONTROL)], pads=2)
    facts = image_facts(FACTS, source("sample"))
    image = open_image(pack_image(*vocabulary.tables(), facts, 4096), "t.img")
    described = describe_image(image)
    assert json.loads(json.dumps(described)) == described
    sections = described.pop("sections")
    assert described == {
        "version": "1.0",
        "total_bytes": 7 * 4096,
        "section_align": 4096,
        "flags": ["rank_is_out_id", "nfc", "sample"],
        "profile": "standard",
        "n_tokens": 261,
        "n_base": 258,
        "n_added": 1,
        "n_merges": 2,
        "first_pad_id": 259,
        "max_token_bytes": 8,
        "max_probe": 1,
        "hash_seed": "0x9e3779b97f4a7c15",
        "pre_name": "qwen2",
        "class_tables": "17.0.0",
        "nfc_tables": "9.1.2",
        "bos_id": None,
        "eos_id": 258,
        "pad_id": 257,
        "end_ids": [258, 0],
        "source_sha256": "ab" * 32,
    }
    assert [section["name"] for section in sections] == [
        kind.name.lower() for kind in SECTIONS[Profile.STANDARD]
    ]
    for section in sections:
        payload = bytes(image.data[section["offset"] : section["offset"] + section["length"]])
        assert section["sha256"] == hashlib.sha256(payload).hexdigest()
        assert int(section["crc32"], 16) == image.sections[Kind(section["kind"])].crc32
        assert section["count"] == image.sections[Kind(section["kind"])].count


def test_an_image_of_another_pre_tokenizer():
    described = describe_image(
        open_image(grown("a|b").image(pre_name="", nfc=False, class_tables=0, nfc_tables=0))
    )
    assert (described["pre_name"], described["class_tables"], described["nfc_tables"]) == ("", None, None)
    assert described["flags"] == ["rank_is_out_id"]
    assert described["end_ids"] == []


@pytest.mark.parametrize(
    ("packed", "words"),
    [(0, None), (0x100000, "16.0.0"), (0x0F0102, "15.1.2"), (0xFFFFFFFF, "65535.255.255")],
)
def test_versions_of_unicode(packed, words):
    assert version_words(packed) == words
