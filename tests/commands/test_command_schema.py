"""`pipeline schema`: the names, each form, and calls that are wrong."""

import json

import pytest
import yaml
from command_line import ROOT, call

from formats.catalog import FORMATS
from pipeline.documentation.pages import NOTICE

NAMES = [known.name for known in FORMATS]


def test_the_names():
    assert call("schema").done().lines == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_form_of_every_format(name):
    assert call("schema", name).done().lines[0].startswith(f"{name}: ")
    assert call("schema", name, "--json").done().objects[0]["format"] == name
    assert f"### {name}" in call("schema", name, "--markdown").done().lines
    assert "#endif" in call("schema", "--c", name).done().lines[-1]
    assert yaml.safe_load(call("schema", name, "--ksy").done().out)["meta"]["id"] == name
    assert call("schema", name, "--hexpat").done().lines[-1] == f"{name}_file {name} @ 0x00;"


def test_all_formats_at_once():
    assert [known["format"] for known in call("schema", "--json").done().objects] == NAMES
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert f"{NOTICE}\n\n{call('schema', '--markdown').done().out}" == page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["vocab.bin"], "there is no format 'vocab.bin'; did you mean vocab_bin?"),
        (["\x1b[31m"], "there is no format '\\x1b[31m'; known are token_index, token_bytes"),
        (["--c"], "schema --c: expected the name of one format: token_index, "),
        (["--ksy"], "schema --ksy: expected the name of one format"),
        (["gguf", "--c", "--json"], "not allowed with argument --c"),
        (["gguf", "gguf"], "unrecognized arguments: gguf"),
    ],
)
def test_calls_that_are_wrong(arguments, words):
    outcome = call("schema", *arguments)
    assert words in outcome.refused(2)
    assert outcome.out == ""


def test_json_is_one_object_a_line():
    for line in call("schema", "--json").done().lines:
        assert json.loads(line)["byte_order"] == "little"
