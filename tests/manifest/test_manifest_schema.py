"""The JSON Schema and the loader accept and refuse the same manifests."""

import json
import sys
from types import SimpleNamespace

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from manifest_samples import DIGEST, FULL, HEAD, STEPS, parse

from pipeline.manifest import ManifestError, Size
from pipeline.manifest.schema import main, manifest_schema, schema_text

SCHEMA = manifest_schema(STEPS)
VALIDATOR = Draft202012Validator(SCHEMA)


def loads(text):
    try:
        parse(text)
    except ManifestError:
        return False
    return True


def test_it_is_a_schema():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["required"] == ["version", "model", "out", "steps"]
    image = SCHEMA["properties"]["steps"]["items"]["anyOf"][1]["properties"]["runtime_image"]
    assert image["description"] == "Pack the image."
    assert image["properties"]["align"]["default"] == 64
    assert image["properties"]["align"]["description"] == "Alignment of sections."
    assert image["properties"]["align"]["enum"][:2] == [16, 32]
    assert {"1KiB", "1024KiB", "1MiB"} < set(image["properties"]["align"]["enum"])
    assert "default" not in image["properties"]["budget"]


def test_every_default_is_a_value_that_its_key_may_have():
    for step in STEPS.values():
        for parameter in step.parameters:
            schema = parameter.kind.schema()
            if not parameter.is_required and parameter.default is not None:
                default = (
                    list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
                )
                Draft202012Validator(schema).validate(default)


def test_sizes_that_are_no_powers_of_two_are_bounded_where_they_are_numbers():
    for multiple, more in ((1, {}), (4, {"multipleOf": 4})):
        number, text = Size(8, 99, multiple_of=multiple).schema()["anyOf"]
        assert number == {"type": "integer", "minimum": 8, "maximum": 99, **more}
        assert text["type"] == "string"
    assert Size(8, 99).words() == "a size in bytes from 8 to 99 (0x63)"


GOOD = [
    FULL,
    HEAD + "  - inspect",
    HEAD + "  - tensors:\n  - parity: {corpus: a}",
    HEAD + "  - runtime_image: {align: 0x40, budget: 128KiB}",
    HEAD + "  - runtime_image: {align: 1024KiB, budget: '1MiB', pad: false}",
    HEAD + "  - inspect\nexpect:\n",
    f"version: 1\nmodel: {{gguf: ../a.gguf, digest: {'Ab' * 32}}}\nout: /b\nsteps: [inspect]",
    "version: 1\nmodel: {sample: qwen3}\nout: b\nsteps: [inspect, tensors: {include: [a]}]",
    "version: 1\nmodel: {ollama: qwen2.5:7b, fallback: sample}\nout: b\nsteps: [inspect]",
]
BAD = [
    "a: 1",
    "[]",
    HEAD + "  - inspect\nzzz: 1",
    HEAD.replace("version: 1", "version: 2") + "  - inspect",
    HEAD.replace("version: 1", "version: '1'") + "  - inspect",
    HEAD.replace("../build", "'~/x'") + "  - inspect",
    HEAD.replace("../build", "''") + "  - inspect",
    HEAD.replace("../build", "12:30") + "  - inspect",
    HEAD.replace("../build", "[a]") + "  - inspect",
    HEAD.replace("ollama: qwen2.5:0.5b", "") + "  - inspect",
    HEAD.replace("ollama: qwen2.5:0.5b", "ollama: a, gguf: b") + "  - inspect",
    HEAD.replace("ollama: qwen2.5:0.5b", "ollama: no") + "  - inspect",
    HEAD.replace("ollama: qwen2.5:0.5b", "ollama: ") + "  - inspect",
    HEAD.replace("ollama: qwen2.5:0.5b", "sample: qwen4") + "  - inspect",
    HEAD.replace("ollama: qwen2.5:0.5b", "sample: qwen3, fallback: sample") + "  - inspect",
    HEAD.replace("ollama: qwen2.5:0.5b", "ollama: a, fallback: {}") + "  - inspect",
    HEAD.replace("ollama: qwen2.5:0.5b", "ollama: a, digest: " + "1" * 64) + "  - inspect",
    HEAD.replace("ollama: qwen2.5:0.5b", "ollama: a, digest: " + "a" * 63) + "  - inspect",
    HEAD + "  []",
    HEAD + "  - inspct",
    HEAD + "  - inspect\n  - inspect",
    HEAD + "  - inspect\n  - inspect:",
    HEAD + "  - parity",
    HEAD + "  - parity:",
    HEAD + "  - {}",
    HEAD + "  - runtime_image:\n    align: 64",
    HEAD + "  - runtime_image: 64",
    HEAD + "  - runtime_image: {align: 48}",
    HEAD + "  - runtime_image: {align: 48KiB}",
    HEAD + "  - runtime_image: {align: 2MiB}",
    HEAD + "  - runtime_image: {align: '64'}",
    HEAD + "  - runtime_image: {align: 010KiB}",
    HEAD + "  - runtime_image: {budget: 65}",
    HEAD + "  - runtime_image: {budget: 64K}",
    HEAD + "  - runtime_image: {pad: 1}",
    HEAD + "  - tensors: {include: '*'}",
    HEAD + "  - tensors: {include: []}",
    HEAD + "  - tensors: {include: [1.10]}",
    HEAD + "  - tensors: {mode: no}",
    HEAD + "  - parity: {corpus: x, weights: {a: 10}}",
    HEAD + f"  - inspect\nexpect: {{../x: {DIGEST}}}",
    HEAD + f"  - inspect\nexpect: {{/x: {DIGEST}}}",
    HEAD + f"  - inspect\nexpect: {{'a//b': {DIGEST}}}",
    HEAD + f"  - inspect\nexpect: {{'C:/x': {DIGEST}}}",
]
ONLY_THE_LOADER_SEES = {
    "a key twice": HEAD + "  - inspect\nout: x",
    "an alias": "version: 1\nmodel: {ollama: &a x}\nout: *a\nsteps: [inspect]",
    "a merge key": "version: 1\nmodel: {<<: {ollama: x}}\nout: b\nsteps: [inspect]",
    "a tag": HEAD + "  - !!str inspect",
    "a directive": "%YAML 1.1\n---\n" + HEAD + "  - inspect",
    "text over two lines": HEAD.replace("../build", "a\n  b") + "  - inspect",
    "text that readers of YAML 1.2 take for a number": HEAD.replace("../build", "1e3") + "  - inspect",
    "text that the YAML 1.1 standard takes for a boolean": HEAD.replace("../build", "y") + "  - inspect",
    "true by another name": HEAD + "  - runtime_image: {pad: yes}",
    "a leading 0": HEAD + "  - runtime_image: {align: 0100}",
    "an underscore": HEAD + "  - runtime_image: {align: 6_4}",
    "base 2": HEAD + "  - runtime_image: {align: 0b1000000}",
    "base 60": HEAD + "  - runtime_image: {align: 1:4}",
    "a fraction of nothing": HEAD + "  - runtime_image: {align: 64.0}",
    "a sign": HEAD + "  - runtime_image: {align: +64}",
    "the bounds of a size with a unit": HEAD + "  - runtime_image: {budget: 2GiB}",
}


@pytest.mark.parametrize("text", GOOD)
def test_good_manifests(text):
    VALIDATOR.validate(yaml.safe_load(text))
    parse(text)


@pytest.mark.parametrize("text", BAD)
def test_bad_manifests(text):
    assert not VALIDATOR.is_valid(yaml.safe_load(text))
    assert not loads(text)


@pytest.mark.parametrize("text", ONLY_THE_LOADER_SEES.values(), ids=ONLY_THE_LOADER_SEES)
def test_what_only_the_loader_sees(text):
    assert VALIDATOR.is_valid(yaml.safe_load(text))
    assert not loads(text)


# JSON is YAML in which all text is quoted and numbers have one form: on it the two must agree
# always. Sizes with a unit, which JSON Schema cannot bound, are taken inside their bounds.
TEXTS = [
    "", "a", "no", "010", "../x", "/a", "a/b", "a//b", "a/", ".", "..", "a\\b", "~/x", "~", "C:/x",
    "a\nb", "a\n", "a\u2028", "\u0085", "sample", "qwen2.5", "qwen3", "copy", "index", "64", "64KiB",
    "63KiB", "128KiB", "1MiB", "064KiB", "64 KiB", "true", "inspect", "parity",
    DIGEST, DIGEST[7:], DIGEST[7:].upper(), DIGEST[:-1], "1" * 64,
]  # fmt: skip
KEYS = ["version", "model", "ollama", "gguf", "sample", "digest", "pre", "fallback", "out", "expect", "steps"]
KEYS += [*STEPS, *(parameter.name for step in STEPS.values() for parameter in step.parameters)]
scalars = st.one_of(
    st.sampled_from(TEXTS),
    st.sampled_from([-1, 0, 1, 2, 9, 10, 15, 16, 48, 64, 65, 128, 1 << 20, 1 << 21, 1 << 30, 1 << 31]),
    st.booleans(),
    st.none(),
    st.sampled_from([0.5, 1.5]),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS + TEXTS), inner, max_size=3)
    ),
    max_leaves=5,
)


def containers(node):
    if isinstance(node, (dict, list)):
        yield node
        for inner in node.values() if isinstance(node, dict) else node:
            yield from containers(inner)


@st.composite
def mutated_manifests(draw):
    tree = yaml.safe_load(draw(st.sampled_from(GOOD)))
    for _ in range(draw(st.integers(0, 3))):
        node = draw(st.sampled_from(list(containers(tree))))
        places = list(node) if isinstance(node, dict) else list(range(len(node)))
        action = draw(st.sampled_from(["set", "remove", "add"]))
        if action == "add" and isinstance(node, dict):
            node[draw(st.sampled_from(KEYS + TEXTS))] = draw(values)
        elif action == "add":
            node.append(draw(values | st.sampled_from(node or [None])))
        elif places and action == "set":
            node[draw(st.sampled_from(places))] = draw(values)
        elif places:
            del node[draw(st.sampled_from(places))]
    return json.loads(json.dumps(tree))


@settings(max_examples=300, deadline=None)
@given(tree=mutated_manifests())
def test_the_schema_and_the_loader_agree(tree):
    text = json.dumps(tree, ensure_ascii=False, indent=1)
    text = text.replace("\u2028", "\\u2028").replace("\u0085", "\\u0085")
    assert loads(text) == VALIDATOR.is_valid(tree)


@pytest.fixture
def sample_steps(monkeypatch):
    monkeypatch.setitem(sys.modules, "pipeline.steps", SimpleNamespace(DECLARATIONS=STEPS))


@pytest.mark.usefixtures("sample_steps")
def test_the_command_prints_it(capsys):
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert printed == schema_text(STEPS)
    assert json.loads(printed) == SCHEMA


@pytest.mark.usefixtures("sample_steps")
def test_the_command_compares_a_file_with_it(tmp_path, capsys):
    path = tmp_path / "s.json"
    assert main(["--check", str(path)]) == 1
    path.write_text(schema_text(STEPS), "utf-8")
    capsys.readouterr()
    assert main(["--check", str(path)]) == 0
    assert capsys.readouterr().err == ""
    path.write_text(schema_text(STEPS) + " ", "utf-8")
    assert main(["--check", str(path)]) == 1
    assert (
        capsys.readouterr().err
        == f"{path}: not the schema of the present steps; write there what this prints without --check\n"
    )
