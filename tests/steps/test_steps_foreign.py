"""Real vocabularies of other models: what can be made is made, what cannot is refused by name."""

import json

import pytest
from command_line import call
from projects import sha256
from tiny_model import manifest_text

TABLES = ["inspect", "tokenizer", "tensors", "ps_bundle", "vocab_bin", "tokenizer_bin", "runtime_image"]


@pytest.fixture(scope="module")
def builds(shared, tmp_path_factory):
    """Give a function that builds everything from one of the shared files, once each."""
    root = tmp_path_factory.mktemp("foreign")
    done = {}

    def build(name):
        if name not in done:
            manifest = root / f"{name}.yaml"
            manifest.write_text(manifest_text(str(shared / "gguf" / f"{name}.gguf"), name, TABLES))
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("PIPELINE_CACHE", str(root / "cache"))
                done[name] = call("run", manifest), root / name, manifest
        return done[name]

    return build


def test_qwen2_gives_every_table(builds):
    outcome, out, _ = builds("ggml-vocab-qwen2")
    outcome.done()
    facts = json.loads((out / "tokenizer_facts.json").read_bytes())
    assert facts["counts"]["tokens"] == 151936
    assert facts["counts"]["base"] == 151643
    assert facts["counts"]["merges"] == 151387
    assert facts["pre_tokenizer"]["served"] is True
    assert "warning" not in outcome.out or "<|im_end|>" in outcome.out
    document = json.loads((out / "model.json").read_bytes())
    assert document["counts"]["tensors"] == 0
    assert json.loads((out / "tensor_payload_export_manifest.json").read_bytes())["tensors"] == []
    assert call("verify", out).done().lines[-1].startswith("14 of 14 files verified")


def test_qwen2_has_the_known_base_tables(builds):
    """Its merges are Qwen's; its pads are of another type, so other tables differ from those of the sample."""
    _, out, _ = builds("ggml-vocab-qwen2")
    assert sha256((out / "merge_table_u32.bin").read_bytes()) == (
        "0a7f9b5c69fe89909361a3d4e6df8c4ade514ff00ab0fefd603324e0b0692300"
    )


def test_qwen2_encodes_some_of_llama_cpps_own_test_texts(builds, shared):
    _, out, _ = builds("ggml-vocab-qwen2")
    base = shared / "gguf" / "ggml-vocab-qwen2.gguf"
    *texts, rest = base.with_suffix(".gguf.inp").read_bytes().split(b"\n__ggml_vocab_test__\n")
    assert rest == b""
    expected = base.with_suffix(".gguf.out").read_text().splitlines()
    for text, ids in list(zip(texts, expected, strict=True))[::8]:
        line = call("encode", out, "--specials", "none", stdin=text).done().out
        assert line.split() == ids.split()


def test_gpt_2_gives_tables_and_refuses_to_encode_by_name(builds):
    outcome, out, manifest = builds("ggml-vocab-gpt-2")
    outcome.done()
    assert "warning: pre-tokenizer 'gpt-2': its rule is not served" in outcome.out
    facts = json.loads((out / "tokenizer_facts.json").read_bytes())
    assert (facts["counts"]["tokens"], facts["pre_tokenizer"]["served"]) == (50257, False)
    assert json.loads((out / "q25_tokenizer.json").read_bytes())["pre_name"] == "gpt-2"
    line = call("encode", out, "hello").refused(3)
    assert "gpt-2" in line
    assert call("decode", out, "31373").done().out == "hello"
    assert call("verify", out).code == 0
    assert call("status", manifest).code == 0


@pytest.mark.parametrize(
    ("name", "model"), [("ggml-vocab-llama-spm", "llama"), ("ggml-vocab-bert-bge", "bert")]
)
def test_what_is_no_byte_level_bpe_is_refused_by_name(builds, name, model):
    outcome, out, manifest = builds(name)
    line = outcome.refused(3)
    assert f"tokenizer model '{model}' is not byte-level BPE" in line
    assert "key 'tokenizer.ggml.model'" in line
    assert (out / "model.json").exists()
    again = call("run", manifest, "--keep-going", "--json")
    states = {event["step"]: event["state"] for event in again.objects if event["event"] == "step"}
    assert states == {
        "inspect": "fresh",
        "tokenizer": "failed",
        "tensors": "made",
        "ps_bundle": "failed",
        "vocab_bin": "failed",
        "tokenizer_bin": "failed",
        "runtime_image": "skipped",
    }
