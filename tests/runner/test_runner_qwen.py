"""The main job: both manifests of ours, through the command line, on the sample store's real vocabularies."""

import json
import shutil

import pytest
import yaml
from command_line import ROOT, call, child, imported_by
from projects import contents, names, sha256

from pipeline.sources.sample.families import family_of

GOLDEN = json.loads((ROOT / "tests" / "golden" / "qwen.json").read_bytes())
BUILDS = [("qwen25", "qwen2.5", "qwen2.5:0.5b"), ("qwen3", "qwen3", "qwen3:0.6b")]
FILES = {
    "token_bytes": "token_bytes.bin",
    "token_index": "token_index.bin",
    "merge_table_u32": "merge_table_u32.bin",
    "vocab_bin": "vocab.bin",
    "tokenizer_bin_documented": "tokenizer.bin",
}


class Build:
    """A manifest of ours, built once, and what the run said."""

    def __init__(self, manifest, family, model, out):
        self.manifest = ROOT / "manifests" / f"{manifest}.yaml"
        self.family, self.model, self.out = family, model, out
        self.steps = len(yaml.safe_load(self.manifest.read_bytes())["steps"])
        self.outcome = self.run().done()

    def run(self, *arguments):
        return call("run", self.manifest, "--out", self.out, *arguments)


@pytest.fixture(scope="module", params=BUILDS, ids=lambda build: build[0])
def build(request, tmp_path_factory, sample_cache):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIPELINE_CACHE", str(sample_cache))
        patch.setenv("OLLAMA_MODELS", str(tmp_path_factory.mktemp("empty") / "no store"))
        yield Build(*request.param, tmp_path_factory.mktemp(request.param[0]) / "out")


@pytest.mark.parametrize("figure", FILES)
def test_the_tables_have_the_known_digests(build, figure):
    known = GOLDEN[build.family][figure]
    data = (build.out / FILES[figure]).read_bytes()
    assert (len(data), sha256(data)) == (known["size"], known["sha256"])


def test_the_engines_own_reading_of_tokenizer_bin_has_the_known_digest(build, tmp_path):
    changed = tmp_path / "out"
    shutil.copytree(build.out, changed)
    arguments = ("--out", changed, "--set", "steps.tokenizer_bin.layout=loader")
    lines = call("run", build.manifest, *arguments).done().lines
    assert lines[-1].startswith(f"{build.steps - 1} fresh, 1 made; ")
    known = GOLDEN[build.family]["tokenizer_bin_loader"]
    data = (changed / "tokenizer.bin").read_bytes()
    assert (len(data), sha256(data)) == (known["size"], known["sha256"])


def test_the_image_holds_the_same_tables_and_the_known_indexes(build):
    image = (build.out / "q25_tokenizer.img").read_bytes()
    described = json.loads((build.out / "q25_tokenizer.json").read_bytes())
    known, figures = GOLDEN[build.family]["q25tokrt_sections"], GOLDEN[build.family]
    sections = {section["name"]: section for section in described["sections"]}
    for section in sections.values():
        data = image[section["offset"] : section["offset"] + section["length"]]
        assert section["sha256"] == sha256(data)
        assert section["offset"] % 64 == 0
    tables = {"token_index": "token_index", "token_bytes": "token_bytes", "merge_table": "merge_table_u32"}
    for name, figure in tables.items():
        section = sections.pop(name)
        assert (section["length"], section["sha256"]) == (figures[figure]["size"], figures[figure]["sha256"])
    for name, section in sections.items():
        assert (section["length"], section["sha256"]) == (known[name]["size"], known[name]["sha256"])
    assert sorted(sections) == ["byte_token_map", "merge_pair_index", "special_token_index"]
    assert described["hash_seed"] == known["hash_seed"]
    assert described["max_probe"] == known["max_probe"]
    assert described["flags"] == ["rank_is_out_id", "nfc", "sample"]


def test_the_console_says_plainly_that_it_is_the_sample(build):
    assert build.outcome.lines[0].startswith("note: no Ollama store in ")
    assert build.outcome.lines[1].startswith(
        f"model: the sample of {build.family}, in place of {build.model}: real vocabulary, synthetic weights (sha256:"
    )


def test_vocab_bin_is_printed_as_people_check_it(build):
    known = GOLDEN[build.family]
    lines = [line.strip() for line in build.outcome.lines]
    assert (
        f"{known['vocab_bin']['entries']} entries: 57286 converted, 94357 kept, {known['added']} special; "
        f"{known['vocab_bin']['size']} bytes"
    ) in lines
    assert "space Ġ: yes, newline Ċ: yes, common Chinese characters: 57 of 57" in lines
    assert "entries that contain 回答 2, 你好 1, Ġgood 6, Ċ 2179" in lines


def test_the_record_says_what_it_was_built_on(build):
    record = json.loads((build.out / "build.json").read_bytes())
    family = family_of(build.family)
    source = record["source"]
    assert source["kind"] == "sample"
    assert source["name"] == build.family
    assert source["in_place_of"] == build.model
    assert source["gguf"]["sha256"] == family.gguf_sha256
    assert source["ollama_manifest"] == f"sha256:{family.manifest_sha256}"
    assert [layer["kind"] for layer in source["layers"]] == [
        "model",
        "system",
        "template",
        "license",
        "params",
    ]
    listed = [artifact["name"] for step in record["steps"] for artifact in step["artifacts"]]
    assert sorted([*listed, "build.json"]) == names(build.out)


def test_the_facts_of_the_vocabulary(build):
    facts = json.loads((build.out / "tokenizer_facts.json").read_bytes())
    known = GOLDEN[build.family]
    counts = {name: facts["counts"][name] for name in ("tokens", "base", "added", "padded", "merges")}
    assert counts == {
        "tokens": known["tokens"],
        "base": known["base"],
        "added": known["added"],
        "padded": known["tokens"] - known["base"] - known["added"],
        "merges": known["merges"],
    }
    added = [(entry["id"], entry["token"], entry["type"] == "control") for entry in facts["added_tokens"]]
    assert added == [(entry["id"], entry["content"], entry["special"]) for entry in known["special"]]
    assert facts["max_token_bytes"] == known["max_token_bytes"]


def test_it_verifies(build):
    count = len(names(build.out)) - 1
    assert call("verify", build.out).done().lines == [f"{count} of {count} files verified in {build.out}"]


def test_again_everything_is_fresh_and_no_file_is_touched(build):
    before = {name: (build.out / name).stat().st_mtime_ns for name in names(build.out)}
    assert build.run().done().lines[-1].startswith(f"{build.steps} fresh; ")
    assert {name: (build.out / name).stat().st_mtime_ns for name in names(build.out)} == before
    assert call("status", build.manifest, "--out", build.out).code == 0


def test_a_run_with_nothing_to_do_imports_nothing_heavy(build):
    assert imported_by("run", build.manifest, "--out", build.out) == (0, [])


def test_a_firmware_build_refuses_it(build):
    before = contents(build.out)
    line = build.run("--no-fallback").refused(3)
    assert line.startswith("pipeline: no Ollama store in ")
    assert line.endswith("(the manifest's fallback is refused by --no-fallback)")
    assert call("status", build.manifest, "--out", build.out, "--no-fallback").refused(3) == line
    assert contents(build.out) == before


def test_it_encodes_and_decodes(build):
    text = "Hello  world’s 2024\n<|im_start|>就是\u2028 ｘ"
    (line,) = call("encode", build.out, text).done().lines
    decoded = call("decode", build.out, *line.split()).done()
    assert decoded.out == text
    assert "151644" in line.split()


def test_named_for_what_it_is_there_is_nothing_to_fall_back_from(build, tmp_path):
    manifest = tmp_path / "m.yaml"
    manifest.write_text(f"version: 1\nmodel: {{sample: {build.family}}}\nout: out\nsteps: [layers]\n")
    lines = call("run", manifest, "--no-fallback").done().lines
    assert lines[0].startswith(
        f"model: the sample of {build.family}: real vocabulary, synthetic weights (sha256:"
    )
    assert "in_place_of" not in json.loads((tmp_path / "out" / "build.json").read_bytes())["source"]


@pytest.mark.long
def test_the_same_bytes_in_another_environment(build, tmp_path):
    env = {"PYTHONHASHSEED": "4711", "TZ": "Pacific/Chatham", "LC_ALL": "C", "PYTHONUTF8": "0"}
    outcome = child("run", build.manifest, "--out", tmp_path / "out", env=env, umask=0o077, cwd=tmp_path)
    assert outcome.code == 0
    assert contents(tmp_path / "out") == contents(build.out)
