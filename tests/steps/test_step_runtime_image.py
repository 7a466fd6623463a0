"""Step `runtime_image`: the image and its manifest."""

import json
import zlib

import pytest
from command_line import call
from projects import sha256
from tiny_model import END_OF_TEXT, FIRST_PAD, IM_END, N_TOKENS, write_tiny

from formats.gguf.value_types import ValueType

STEPS = ["tokenizer", "ps_bundle"]
TABLES = {
    "token_index": "token_index.bin",
    "token_bytes": "token_bytes.bin",
    "merge_table": "merge_table_u32.bin",
}


@pytest.fixture
def image(project):
    """Give a function that builds the image of a model."""

    def run(changes=None, *, align=64, model=None, **options):
        write_tiny(project.gguf, changes, **options)
        project.write_manifest(steps=[*STEPS, {"runtime_image": {"align": align}}], model=model)
        return project.run()

    run.project = project
    run.bytes = (project.out / "q25_tokenizer.img").read_bytes
    run.manifest = lambda: json.loads((project.out / "q25_tokenizer.json").read_bytes())
    return run


@pytest.mark.parametrize("align", [64, 128, 4096, 65536])
def test_sections_lie_as_the_manifest_says(image, align):
    image(align=align).done()
    data, manifest = image.bytes(), image.manifest()
    assert manifest["section_align"] == align
    assert manifest["total_bytes"] == len(data)
    assert len(data) % align == 0
    for section in manifest["sections"]:
        payload = data[section["offset"] : section["offset"] + section["length"]]
        assert section["offset"] % align == 0
        assert section["sha256"] == sha256(payload)
        assert section["crc32"] == f"0x{zlib.crc32(payload):08x}"
    named = {section["name"]: section for section in manifest["sections"]}
    for name, file in TABLES.items():
        section = named[name]
        payload = data[section["offset"] : section["offset"] + section["length"]]
        assert payload == (image.project.out / file).read_bytes()


def test_the_manifest(image):
    outcome = image().done()
    manifest = image.manifest()
    sections = manifest.pop("sections")
    assert [section["kind"] for section in sections] == [1, 2, 3, 4, 5, 6]
    assert manifest == {
        "version": "1.0",
        "total_bytes": len(image.bytes()),
        "section_align": 64,
        "flags": ["rank_is_out_id", "nfc"],
        "profile": "standard",
        "n_tokens": N_TOKENS,
        "n_base": 262,
        "n_added": 4,
        "n_merges": 6,
        "first_pad_id": FIRST_PAD,
        "max_token_bytes": 13,
        "max_probe": manifest["max_probe"],
        "hash_seed": manifest["hash_seed"],
        "pre_name": "qwen2",
        "class_tables": manifest["class_tables"],
        "nfc_tables": manifest["nfc_tables"],
        "bos_id": None,
        "eos_id": IM_END,
        "pad_id": END_OF_TEXT,
        "end_ids": [IM_END],
        "source_sha256": sha256(image.project.gguf.read_bytes()),
    }
    assert manifest["class_tables"].count(".") == 2
    slots = {1: "1 slot"}.get(manifest["max_probe"], f"{manifest['max_probe']} slots")
    assert outcome.lines[-2].strip() == (
        f"standard, {len(image.bytes()):,} bytes, 6 sections aligned to 64, "
        f"look-ups of at most {slots}, pre-tokenizer qwen2"
    )


@pytest.mark.parametrize("align", ["48", "0", "32", "131072", "1MiB", "-64", "64.0", "sixty-four", "1e3"])
def test_alignments_that_are_refused_never_rounded(image, align):
    image().done()
    before = image.project.contents()
    outcome = image.project.run("--set", f"steps.runtime_image.align={align}")
    line = outcome.refused(2)
    assert line.startswith(f"--set steps.runtime_image.align={align}: steps.runtime_image.align: expected ")
    assert "64" in line
    assert image.project.contents() == before


@pytest.mark.parametrize(
    ("align", "number"), [("64KiB", 65536), ("0x1000", 4096), ("4KiB", 4096), ("128", 128)]
)
def test_alignments_written_otherwise(image, align, number):
    image().done()
    image.project.run("--set", f"steps.runtime_image.align={align}").done()
    assert image.manifest()["section_align"] == number


def test_a_rule_that_is_not_served(image):
    """The image is made, with a warning; whoever encodes is refused by the rule's name."""
    outcome = image({"tokenizer.ggml.pre": (ValueType.STRING, "gpt-2")}).done()
    (warning,) = [line.strip() for line in outcome.lines if "warning" in line]
    assert warning == (
        "warning: pre-tokenizer 'gpt-2': its rule is not served, so no encoder here will use this image; state "
        "model.pre in the manifest if the rule is qwen2's"
    )
    manifest = image.manifest()
    assert manifest["pre_name"] == "gpt-2"
    assert "nfc" not in manifest["flags"]
    assert manifest["class_tables"] is None
    line = call("encode", image.project.out, "hi").refused(3)
    assert "gpt-2" in line
    assert call("decode", image.project.out, "260").done().out == "hi"


def test_no_rule_at_all(image):
    outcome = image({"tokenizer.ggml.pre": None}).done()
    assert "warning: the model names no pre-tokenizer, so no encoder here will use this image" in outcome.out
    assert outcome.lines[-3].endswith(", pre-tokenizer none")
    assert image.manifest()["pre_name"] == ""
    call("encode", image.project.out, "hi").refused(3)


def test_a_rule_that_the_manifest_states(image):
    model = {"gguf": "tiny.gguf", "pre": "qwen2"}
    outcome = image({"tokenizer.ggml.pre": None}, model=model).done()
    assert "warning" not in outcome.out
    assert image.manifest()["pre_name"] == "qwen2"
    assert call("encode", image.project.out, "hi").done().out == "260\n"


def test_a_name_of_a_rule_too_long_for_the_header(image):
    line = image({"tokenizer.ggml.pre": (ValueType.STRING, "x" * 32)}).refused(3)
    assert "pre" in line
    assert "q25_tokenizer.img" not in image.project.names()


def test_the_source_is_in_the_image(image):
    """Another model with the same tables gives another header, and equal sections."""
    image().done()
    first = image.manifest()
    image({"general.name": (ValueType.STRING, "Other")}).done()
    second = image.manifest()
    assert first["source_sha256"] != second["source_sha256"]
    assert first["sections"] == second["sections"]


def test_it_verifies(image):
    image().done()
    assert (
        call("verify", image.project.out / "q25_tokenizer.img").done().out.startswith("1 of 1 file verified")
    )


@pytest.mark.parametrize("profile", ["fast", "compact"])
def test_other_profiles_give_the_same_ids(image, profile):
    image().done()
    plain = image.bytes()
    texts = ["hi<|im_end|> there", "e\u0301\u4e2d"]
    ids = [call("encode", image.project.out, text).done().out.split() for text in texts]
    outcome = image.project.run("--set", f"steps.runtime_image.profile={profile}").done()
    assert outcome.lines[-2].strip().startswith(f"{profile}, {len(image.bytes()):,} bytes, ")
    assert image.manifest()["profile"] == profile
    assert image.bytes() != plain
    assert call("verify", image.project.out / "q25_tokenizer.img").done()
    for text, known in zip(texts, ids, strict=True):
        assert call("encode", image.project.out, text).done().out.split() == known
        decoded = call("decode", image.project.out, *known).done().out
        assert decoded == text.replace("e\u0301", "\xe9")
