"""`status` and `dag`: what would run, and what flows where."""

import re

import pytest
from command_line import call
from tiny_model import STEPS, write_tiny

from pipeline.steps import DECLARATIONS

READS = {
    ("model", "inspect"): "model",
    ("model", "layers"): "model.layers",
    ("model", "tokenizer"): "model, model.pre",
    ("model", "tensors"): "model",
    ("model", "ps_bundle"): "model",
    ("model", "vocab_bin"): "model",
    ("model", "tokenizer_bin"): "model",
    ("model", "runtime_image"): "model, model.kind",
    ("ps_bundle", "runtime_image"): "token_index.bin, token_bytes.bin, merge_table_u32.bin",
    ("tokenizer", "runtime_image"): "tokenizer_facts.json",
}


def test_everything_is_fresh(built):
    before = built.stamps()
    outcome = built.status().done()
    assert outcome.lines[0].startswith("model: the file tiny.gguf (sha256:")
    assert outcome.lines[1:] == [f"{step:<14} fresh" for step in built.states()]
    assert built.stamps() == before


def test_something_is_stale(built):
    (built.out / "vocab.bin").unlink()
    outcome = built.status()
    assert (outcome.code, outcome.err) == (1, "")
    assert [line for line in outcome.lines if not line.endswith("fresh")][1:] == [
        "vocab_bin      would run vocab.bin is missing"
    ]
    assert not (built.out / "vocab.bin").exists()


def test_nothing_is_built(project):
    outcome = project.status()
    assert (outcome.code, outcome.err) == (1, "")
    assert len([line for line in outcome.lines if " would run " in line]) == 8
    assert not project.out.exists()


def test_every_reason_of_a_step(built):
    write_tiny(built.gguf, {"tokenizer.chat_template": None})
    (built.out / "q25_tokenizer.img").write_bytes(b"x")
    arguments = ("--set", "steps.runtime_image.align=128", "--set", "model.pre=deepseek-r1-qwen")
    outcome = built.status("--json", *arguments)
    assert outcome.code == 1
    reasons = {event["step"]: event["reasons"] for event in outcome.objects if event["event"] == "step"}
    (model,) = reasons["inspect"]
    assert model.startswith("the model changed (")
    assert reasons["tokenizer"] == [model, "model.pre changed"]
    assert reasons["runtime_image"] == ["after tokenizer, which would run"] or reasons["runtime_image"] == [
        "after ps_bundle, which would run"
    ]
    assert reasons["layers"] == []


def test_reasons_add_up(built):
    (built.out / "q25_tokenizer.img").write_bytes(b"x")
    outcome = built.status("--set", "steps.runtime_image.align=128")
    assert outcome.lines[-1] == (
        "runtime_image  would run align was 64, is 128; q25_tokenizer.img was edited"
    )


def test_json_is_complete(built):
    outcome = built.status("--json").done()
    events = [event["event"] for event in outcome.objects]
    assert events == ["source", *["step"] * 8]
    source = outcome.objects[0]
    assert source["kind"] == "gguf"
    assert source["notes"] == []
    assert len(source["gguf"]["sha256"]) == 64


def test_notes_of_the_manifest_are_told(built):
    """A --set that names another model makes what is said of the manifest's own void."""
    built.write_manifest(model={"gguf": "other.gguf", "digest": "sha256:" + "0" * 64})
    note = "--set model.gguf=tiny.gguf: another model; left out, as about the manifest's own: model.digest"
    outcome = built.status("--set", "model.gguf=tiny.gguf").done()
    assert outcome.lines[0] == note
    outcome = built.status("--json", "--set", "model.gguf=tiny.gguf").done()
    assert outcome.objects[0] == {"event": "note", "text": note}


def test_dag_as_text(built):
    lines = call("dag", built.manifest).done().lines
    assert lines[::3] == list(built.states())
    for name, reads, writes in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        step = DECLARATIONS[name]
        assert reads == f"  reads  {', '.join(step.reads)}"
        assert writes == f"  writes {', '.join(artifact.name for artifact in step.writes)}"


def test_dag_as_a_mermaid_chart(built):
    first, *lines = call("dag", "--mermaid", built.manifest).done().lines
    assert first == "flowchart LR"
    edges = [re.fullmatch(r'  (\w+) -->\|"([^"]*)"\| (\w+)', line).groups() for line in lines]
    assert {(source, target): what for source, what, target in edges} == READS
    assert len(edges) == len(READS)


def test_dag_as_a_graphviz_graph(built):
    first, *lines, last = call("dag", built.manifest, "--dot").done().lines
    assert (first, last) == ("digraph pipeline {", "}")
    found = [re.fullmatch(r'  "(\w+)" -> "(\w+)" \[label="([^"]*)"\];', line) for line in lines]
    edges = [match.groups() for match in found if match]
    assert {(source, target): what for source, target, what in edges} == READS
    assert len(edges) == len(READS)


def test_dag_of_a_part(built):
    built.write_manifest(steps=["vocab_bin", "inspect"])
    assert call("dag", built.manifest).done().lines[::3] == ["vocab_bin", "inspect"]
    assert len(call("dag", built.manifest, "--dot").done().lines) == 2 + 2 + 1


def test_dag_needs_no_model(built):
    built.gguf.unlink()
    assert len(call("dag", built.manifest).done().lines) == 3 * len(STEPS)


@pytest.mark.parametrize("command", ["status", "dag"])
def test_a_broken_manifest_has_a_line_for_each_mistake(built, command):
    built.manifest.write_text("version: 1\nmodel: {gguf: a}\nout: o\nsteps: [inspekt, {tensors: {mod: x}}]\n")
    outcome = call(command, built.manifest)
    assert outcome.code == 2
    assert outcome.err.splitlines() == [
        f"{built.manifest}:4:9: steps: unknown step 'inspekt'; did you mean 'inspect'?",
        f"{built.manifest}:4:29: steps.tensors: unknown key 'mod'; did you mean 'mode'?",
    ]
