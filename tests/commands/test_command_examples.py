"""The worked examples of the help and of the docs: each is run, and prints what they say."""

import shlex

import pytest
from command_line import ROOT, call

from formats import token_types_bin
from pipeline.commands import COMMANDS

EXAMPLES = [
    pytest.param(command, example, id=example.call) for command in COMMANDS for example in command.examples
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, sample_cache):
    """Give a folder with `build/qwen25` as the manifest makes it on the sample."""
    root = tmp_path_factory.mktemp("examples")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setenv("HOME", str(root))
        patch.setenv("OLLAMA_MODELS", str(root / "no store"))
        patch.setenv("PIPELINE_CACHE", str(sample_cache))
        assert call("run", ROOT / "manifests" / "qwen25.yaml", "--out", "build/qwen25").code == 0
    other = root / "build" / "other"
    other.mkdir()
    types = token_types_bin.read((root / "build/qwen25/token_types.bin").read_bytes())["token_type"].copy()
    types[151_657] = 3
    (other / "token_types.bin").write_bytes(token_types_bin.build(types))
    return root


@pytest.mark.parametrize(("command", "example"), EXAMPLES)
def test_an_example_prints_what_it_says(command, example, folder, monkeypatch):
    monkeypatch.chdir(folder)
    name, *arguments = shlex.split(example.call)
    assert name == command.name
    outcome = call(name, *arguments)
    assert outcome.out == example.output, outcome.err
    assert outcome.code in (0, 1)


@pytest.mark.parametrize(("command", "example"), EXAMPLES)
def test_an_example_is_in_the_help_and_in_the_docs(command, example):
    assert str(example) in call(command.name, "--help").done().out
    assert f"```\n{example}\n```" in (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")


def test_some_commands_have_examples():
    assert {command.name for command in COMMANDS if command.examples} >= {"schema", "report"}
