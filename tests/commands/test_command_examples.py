"""The worked examples of the help and of the docs: each is run, and prints what they say."""

import shlex

import pytest
from command_line import ROOT, call
from real_models import RealTables

from formats import token_types_bin
from pipeline.commands import COMMANDS

EXAMPLES = [
    pytest.param(command, example, id=example.call) for command in COMMANDS for example in command.examples
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder with `build/qwen25` as the manifest makes it on the sample: the tables of the vocabulary."""
    root = tmp_path_factory.mktemp("examples")
    out = root / "build" / "qwen25"
    out.mkdir(parents=True)
    real = RealTables.of("qwen2.5")
    index, data, merges = real.ps_bundle()
    files = {
        "token_index.bin": index,
        "token_bytes.bin": data,
        "merge_table_u32.bin": merges,
        "token_types.bin": token_types_bin.build(real.vocabulary.types),
        "vocab.bin": real.vocab_bin().data,
        "tokenizer.bin": real.tokenizer_bin("documented"),
        "q25_tokenizer.img": real.image(),
    }
    for name, content in files.items():
        (out / name).write_bytes(content)
    other = root / "build" / "other"
    other.mkdir()
    types = real.vocabulary.types.copy()
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
    assert {command.name for command in COMMANDS if command.examples} >= {"schema"}
