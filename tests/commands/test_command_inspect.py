"""`inspect`: a model's key/values and tensors; whatever the file is, never a traceback."""

import importlib
import json
from pathlib import Path

import pytest
from command_line import ROOT, call
from ollama_stores import make_model
from tiny_model import tensor, write_tiny

from formats.gguf.value_types import ValueType

HOSTILE = ROOT / "tests" / "gguf"


def test_text(built):
    lines = call("inspect", built.gguf).done().lines
    assert lines[0] == (
        "GGUF version 3, 12,192 bytes: 13 key/values, 8 tensors, 4,672 parameters; alignment 32, data at 0x13A0"
    )
    assert lines[1:3] == ["", "key/values"]
    assert "  general.architecture  string  'qwen2'" in lines
    assert "  qwen2.attention.layer_norm_rms_epsilon  f32  1e-06" in lines
    (line,) = [line for line in lines if line.startswith("  tokenizer.ggml.tokens ")]
    assert line.startswith("  tokenizer.ggml.tokens  array of string  272 elements, sha256:")
    assert "  tokenizer.ggml.merges  array of string  ['c d', 'a b', 'ab c', 'Ġ a', 'h i', 'Ġ hi']" in lines
    tensors = lines[lines.index("tensors") + 1 :]
    assert tensors[0] == "  token_embd.weight  F16     4 x 272, 2,176 bytes at 0x13A0"
    assert "  1 of type Q6_K, 420 bytes" in tensors


def test_json_is_what_the_step_writes(built):
    (found,) = call("inspect", "--json", built.gguf).done().objects
    assert found == json.loads((built.out / "model.json").read_bytes())


def test_no_tensors(built):
    write_tiny(built.gguf, body=[])
    assert (
        call("inspect", built.gguf).done().lines[-1]
        == f"  none ({str(built.gguf)!r} holds a vocabulary only)"
    )


def test_warnings_go_to_standard_error(built):
    with built.gguf.open("ab") as file:
        file.write(b"x")
    outcome = call("inspect", built.gguf)
    assert outcome.code == 0
    assert outcome.err == "warning: unused bytes at the end: 1, from offset 0x2FA0 on\n"


def test_hostile_names_drive_no_terminal(built):
    names = ["\x1b[2J", "a\nb", "", "n" * 300, "\u202e"]
    changes = {f"x.{name}": (ValueType.STRING, name * 3) for name in names}
    write_tiny(built.gguf, changes, [tensor(name) for name in names])
    outcome = call("inspect", built.gguf)
    assert outcome.code == 0
    assert all(line.isprintable() for line in outcome.lines)
    assert "  '\\x1b[2J'" in outcome.out


def test_a_model_in_the_store(built, alone, monkeypatch):
    monkeypatch.setenv("OLLAMA_MODELS", str(alone / "models"))
    make_model(alone / "models", built.gguf.read_bytes(), "registry.ollama.ai/library/tiny/1b")
    assert call("inspect", "tiny:1b").done().lines[0].startswith("GGUF version 3, 12,192 bytes")
    assert "tiny:2b" in call("inspect", "tiny:2b").refused(3)


def test_a_file_goes_before_a_name_in_the_store(built, monkeypatch):
    monkeypatch.chdir(built.root)
    built.gguf.rename("tiny")
    assert call("inspect", "tiny").done().lines[0].startswith("GGUF version 3")


@pytest.mark.parametrize(
    ("path", "code", "words"),
    [
        ("nothing.gguf", 3, "nothing.gguf: expected a file, found nothing there"),
        (".", 3, "expected a regular file, found a folder"),
        ("/dev/zero", 3, "expected a regular file, found a device"),
        ("m.yaml", 3, "this is no GGUF file"),
        ("out/vocab.bin", 3, "this is no GGUF file"),
        ("empty.gguf", 3, "an empty file"),
        ("no such:model:name", 2, "no such:model:name"),
        ("", 3, "expected a regular file, found a folder"),
        ("qwen2.5:7b", 3, "no Ollama store"),
    ],
)
def test_what_is_no_model(built, monkeypatch, path, code, words):
    monkeypatch.chdir(built.root)
    Path("empty.gguf").touch()
    for arguments in (("inspect", path), ("inspect", "--json", path)):
        outcome = call(*arguments)
        assert words in outcome.refused(code)
        assert outcome.out == ""


def hostile_files(monkeypatch):
    """Give (bytes, whether the file is refused) of the files that the reader's own tests build, by name."""
    monkeypatch.syspath_prepend(HOSTILE)
    cases = {}
    for name in ("GIVEN", "METADATA", "TENSORS"):
        cases |= getattr(importlib.import_module(f"hostile_{name.lower()}"), name)
    return {name: (data, isinstance(outcome, str)) for name, (data, outcome) in cases.items()}


def test_hostile_files(tmp_path, monkeypatch):
    """Each is listed, or refused in one line."""
    path = tmp_path / "x.gguf"
    cases = hostile_files(monkeypatch)
    assert len(cases) > 100
    for name, (data, is_refused) in cases.items():
        path.write_bytes(data)
        for arguments in ((), ("--json",)):
            outcome = call("inspect", path, *arguments)
            if is_refused:
                assert outcome.refused(3).startswith(f"pipeline: {path}: "), name
                assert outcome.out == "", name
            else:
                assert outcome.code == 0, name
                assert outcome.objects if arguments else outcome.lines[0].startswith("GGUF version"), name


def test_a_file_cut_anywhere(built, tmp_path):
    data = built.gguf.read_bytes()
    path = tmp_path / "cut.gguf"
    for end in range(0, len(data), 97):
        path.write_bytes(data[:end])
        assert str(path) in call("inspect", path).refused(3)
