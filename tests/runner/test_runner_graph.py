"""The order of steps follows from what they read and write; what cannot be ordered is refused with its place."""

import itertools

import pytest
from tiny_model import STEPS, manifest_text

from pipeline.manifest import parse_manifest
from pipeline.manifest.place import ManifestError
from pipeline.runner.graph import Graph, writer_of
from pipeline.steps import DECLARATIONS


def graph(steps, **parts):
    text = manifest_text(steps=steps, **parts)
    return Graph(parse_manifest(text.encode(), "m.yaml", DECLARATIONS), DECLARATIONS)


def refusal(steps, **parts):
    with pytest.raises(ManifestError) as caught:
        graph(steps, **parts)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    "steps", list(itertools.permutations(["tokenizer", "ps_bundle", "runtime_image"])), ids="-".join
)
def test_a_step_comes_after_those_it_reads_from_wherever_it_stands(steps):
    order = list(graph(steps).nodes)
    assert order[-1] == "runtime_image"
    assert sorted(order) == sorted(steps)


def test_steps_that_do_not_depend_on_each_other_keep_the_manifests_order():
    assert list(graph(STEPS[::-1]).nodes) == [
        "tokenizer_bin",
        "vocab_bin",
        "ps_bundle",
        "tensors",
        "tokenizer",
        "layers",
        "inspect",
        "runtime_image",
    ]


def test_who_provides_what():
    nodes = graph(STEPS).nodes
    assert nodes["runtime_image"].providers == {
        "token_index.bin": "ps_bundle",
        "token_bytes.bin": "ps_bundle",
        "merge_table_u32.bin": "ps_bundle",
        "tokenizer_facts.json": "tokenizer",
    }
    assert not nodes["inspect"].providers


def test_upstream_and_downstream():
    ordered = graph(STEPS)
    assert ordered.downstream("ps_bundle") == {"ps_bundle", "runtime_image"}
    assert ordered.downstream("inspect") == {"inspect"}
    assert ordered.upstream({"runtime_image"}) == {"runtime_image", "ps_bundle", "tokenizer"}
    assert ordered.upstream({"inspect", "layers"}) == {"inspect", "layers"}


def test_a_missing_provider_is_named_with_the_readers_place():
    """One line for each artifact that nobody writes, at the step that reads it."""
    lines = refusal(["inspect", "runtime_image"])
    assert lines == [
        f"m.yaml:9:3: step runtime_image reads {artifact}, which step {maker} writes; add {maker} to the steps"
        for artifact, maker in (
            ("token_index.bin", "ps_bundle"),
            ("token_bytes.bin", "ps_bundle"),
            ("merge_table_u32.bin", "ps_bundle"),
            ("tokenizer_facts.json", "tokenizer"),
        )
    ]


def test_a_pin_of_what_no_step_writes_is_refused():
    pins = {"vocab.bin": "sha256:" + "0" * 64, "tensors/a.bin": "sha256:" + "1" * 64}
    lines = refusal(["inspect", "tensors"], expect=pins)
    assert lines == ["m.yaml:12:3: expect: no step of this manifest writes 'vocab.bin'"]


@pytest.mark.parametrize(
    ("artifact", "maker"),
    [
        ("vocab.bin", "vocab_bin"),
        ("tensors/x.bin", "tensors"),
        ("tensors/", None),
        ("tensors", None),
        ("tensors/*", "tensors"),
        ("tensor_payload_export_manifest.json", "tensors"),
        ("chat_templates/rag.txt", "tokenizer"),
        ("build.json", None),
        ("x/vocab.bin", None),
    ],
)
def test_who_writes_a_file(artifact, maker):
    assert writer_of(artifact, DECLARATIONS) == maker
