"""`--engine c` on the command line: what it says where the machine has no compiler, and what it costs nobody."""

import pytest
from command_line import call, child, imported_by

from pipeline.native.compiler import INSTALL


@pytest.fixture
def image(built):
    return built.out / "q25_tokenizer.img"


@pytest.mark.parametrize("command", ["encode", "decode"])
def test_no_compiler(image, command, fresh, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    line = call(command, image, "1", "--engine", "c").refused(4)
    assert line == f"pipeline: no C compiler on this machine (looked for cc, gcc, clang); {INSTALL}"
    assert call(command, image, "1").done()
    assert not fresh.exists()


def test_a_compiler_that_fails(image, fresh, wrapper):
    wrapper("echo a.c:1: error: no >&2; exit 1")
    line = call("encode", image, "1", "--engine", "c").refused(4)
    assert line.startswith("pipeline: the C compiler ")
    assert " fails: 'a.c:1: error: no'; mend it, " in line


def test_a_bad_image_is_told_before_a_missing_compiler(image, fresh, monkeypatch):
    monkeypatch.setenv("CC", "nothing")
    image.write_bytes(image.read_bytes()[:-64])
    assert "header.total_bytes" in call("encode", image, "1", "--engine", "c").refused(3)


@pytest.mark.usefixtures("engine")
def test_json_of_both_engines(image):
    for arguments in (("--json",), ("--json", "--lines"), ("--lines",), ("--specials", "user", "--json")):
        text = "abcd hi<|im_start|><tool>\ne\u0301\0".encode()
        found = [
            child("encode", image, *arguments, "--engine", engine, input=text).done().stdout
            for engine in ("python", "c")
        ]
        assert found[0] == found[1] != b""


def test_an_engine_that_there_is_not(image):
    line = call("encode", image, "hi", "--engine", "rust").refused(2)
    assert "argument --engine: invalid choice: 'rust' (choose from 'python', 'c')" in line


@pytest.mark.parametrize("arguments", [["encode", "--help"], ["decode", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    assert imported_by(*arguments) == (0, [])
