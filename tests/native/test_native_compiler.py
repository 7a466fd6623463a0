"""Finding the compiler, and what it is told and says."""

import os
import re
import shutil
import sys

import pytest
from command_line import ROOT
from firmware_build import HEADER, SOURCE
from refusals import refusal

from pipeline.errors import MachineError
from pipeline.native import compiler as module
from pipeline.native import library
from pipeline.native.compiler import find_compiler, reader_folder, suffix


def refused(call, *arguments):
    return refusal(call, *arguments, error=MachineError)


def program(folder, name, body="exit 0"):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def test_the_order_of_the_search(tmp_path):
    for name in ("clang", "gcc", "cc"):
        made = program(tmp_path, name, f"echo {name} 1.0")
        found = find_compiler({"PATH": str(tmp_path)})
        assert (found.command, found.version) == ((str(made),), f"{name} 1.0\n")
        found = find_compiler({"PATH": str(tmp_path), "CC": "  "})
        assert found.command == (str(made),)


def test_the_one_that_cc_names(tmp_path, monkeypatch):
    program(tmp_path, "cc")
    made = program(tmp_path, "my cc", 'echo "$@"')
    for named in (f"'{made}' -m64 -DX='a b'", "'my cc' -m64 '-DX=a b'"):
        found = find_compiler({"PATH": str(tmp_path), "CC": named})
        assert found.command == (str(made), "-m64", "-DX=a b")
        assert found.version == "-m64 -DX=a b --version\n"
    monkeypatch.chdir(tmp_path)  # it is started in another folder than this one
    assert find_compiler({"PATH": "/bin", "CC": "./my\\ cc"}).command == (str(made),)


def test_no_compiler(tmp_path):
    line = refused(find_compiler, {"PATH": str(tmp_path)})
    assert line.startswith(
        "no C compiler on this machine (looked for cc, gcc, clang); install one (Debian: apt "
    )
    assert line.endswith(", name one in CC, or use --engine python")
    line = refused(find_compiler, {"PATH": str(tmp_path), "CC": "icc -fast"})
    assert line.startswith("CC: there is no program 'icc'; install one (Debian: ")


@pytest.mark.parametrize("named", ["'open", "''"])
def test_cc_that_is_no_command(named):
    assert refused(find_compiler, {"CC": named, "PATH": "/bin"}).startswith("CC: ")


def test_one_that_cannot_be_started(tmp_path):
    made = program(tmp_path, "cc")
    made.write_bytes(b"\x7fELF, but not really")
    line = refused(find_compiler, {"PATH": str(tmp_path)})
    assert line == (
        f"the C compiler {str(made)!r} cannot be started: Exec format error; name another in CC, or use --engine python"
    )


@pytest.mark.parametrize("body", ["exec /bin/sleep 60", "/bin/sleep 60; exit 0"])
def test_one_that_hangs(tmp_path, monkeypatch, no_hang, body):
    """Itself, or a program that it starts."""
    monkeypatch.setattr(module, "TIMEOUT_S", 0.3)
    program(tmp_path, "cc", body)
    assert "does not end within 0.3 s; name another in CC" in refused(find_compiler, {"PATH": str(tmp_path)})


@pytest.mark.parametrize(
    ("says", "shown"),
    [
        ("a.c: In function 'f':\na.c:3:5: error: no x\na.c:4:5: error: no y", "'a.c:3:5: error: no x'"),
        ("ld: no space left\ncollect2: error: ld returned 1 exit status", "'ld: no space left'"),
        ("clang: error: linker command failed", "'clang: error: linker command failed'"),
        ("first\nsecond", "'first'"),
        ("\n \n", "exit code 3, without a word"),
        ("\x1b[2Jerror: \x07", "'\\x1b[2Jerror: \\x07'"),
    ],
)
@pytest.mark.parametrize("stream", ["", ">&2"])
def test_one_that_fails(tmp_path, says, shown, stream):
    (tmp_path / "says").write_text(says)
    made = program(
        tmp_path, "cc", f'case "$*" in *-shared*) /bin/cat "{tmp_path}/says" {stream}; exit 3; esac; exit 0'
    )
    found = find_compiler({"PATH": str(tmp_path)})
    line = refused(found.build, tmp_path)
    assert line == (
        f"the C compiler {str(made)!r} fails: {shown}; mend it, name another in CC, or use --engine python"
    )


def test_one_that_makes_nothing(tmp_path):
    program(tmp_path, "cc")
    assert "exit code 0, without a word" in refused(find_compiler({"PATH": str(tmp_path)}).build, tmp_path)


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_what_is_built(tmp_path, name):
    from required_tools import need

    made = find_compiler({"CC": need(name), "PATH": os.environ["PATH"]}).build(tmp_path)
    assert made.name == f"q25_nl_tokenizer{suffix()}"
    assert [path.name for path in tmp_path.iterdir()] == [made.name]


def test_the_key_is_of_all_that_decides_what_is_built(tmp_path, monkeypatch):
    """A source or header changed, added or renamed, the compiler, its version, its arguments."""
    copy = tmp_path / "sources"
    shutil.copytree(reader_folder(), copy)
    monkeypatch.setattr(module, "reader_folder", lambda: copy)
    compiler = module.Compiler(("/usr/bin/gcc",), "gcc 12")
    keys = [compiler.key()]
    assert keys == [compiler.key()]
    keys.append(module.Compiler(("/usr/bin/clang",), "gcc 12").key())
    keys.append(module.Compiler(("/usr/bin/gcc", "-m32"), "gcc 12").key())
    keys.append(module.Compiler(("/usr/bin/gcc",), "gcc 13").key())
    monkeypatch.setattr(module, "FLAGS", (*module.FLAGS, "-g"))
    keys.append(compiler.key())
    for name in (SOURCE.name, HEADER.name, "q25_nl_tokenizer_tables.inc", "q25_nl_tokenizer_more.h"):
        with (copy / name).open("ab") as file:
            file.write(b"\n")
        keys.append(compiler.key())
    (copy / "README.md").write_text("changed")
    assert compiler.key() == keys[-1]
    assert len(set(keys)) == len(keys)


def test_sources_that_are_not_there(tmp_path, monkeypatch):
    moved = tmp_path / "pipeline" / "native" / "compiler.py"
    monkeypatch.setattr(module, "__file__", str(moved))
    assert refused(reader_folder) == (
        "the sources of the C reader, q25_nl_tokenizer.c, are not there; install this tool again"
    )
    beside = tmp_path / "q25_nl_tokenizer"
    beside.mkdir()
    (beside / SOURCE.name).touch()
    assert reader_folder() == beside


def test_the_reader_is_the_one_that_firmware_copies():
    assert reader_folder() == ROOT / "examples" / "q25_nl_tokenizer"


def test_the_suffix_of_each_system():
    assert [suffix(system) for system in ("linux", "darwin", "win32", "freebsd14")] == [
        ".so", ".dylib", ".dll", ".so",
    ]  # fmt: skip
    assert suffix() == suffix(sys.platform)


def test_flags_and_figures_are_those_of_the_header():
    header = HEADER.read_text(encoding="ascii")
    flags = {name: int(value) for name, value in re.findall(r"#define Q25_NL_(\w+) (\d+)u? ", header)}
    for name, value in library.SPECIALS.items():
        assert flags[f"SPECIALS_{name.upper()}"] == value
    assert flags["REPLACE_INVALID"] == library.REPLACE_INVALID
    assert (flags["SKIP_CONTROL"], flags["STOP_AT_END"]) == (library.SKIP_CONTROL, library.STOP_AT_END)
    for structure, name in (
        (library.EncodeStatistics, "q25_nl_encode_statistics"),
        (library.DetokenizeStatistics, "q25_nl_detokenize_statistics"),
    ):
        body = re.search(rf"typedef struct {name} \{{(.*?)\}} {name};", header, re.DOTALL)[1]
        fields = re.findall(r"^    (\w+) (\w+);", body, re.MULTILINE)
        assert [("size_t", field) for field, *_ in structure._fields_] == fields


def test_declared_functions_are_those_of_the_header():
    """By the number of their arguments: C itself checks no call from outside."""
    header = re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="ascii"), flags=re.DOTALL)
    for name, (_, arguments) in library.FUNCTIONS.items():
        declared = re.search(rf"\b{name}\((.*?)\);", header, re.DOTALL)[1]
        assert len(declared.split(",")) == len(arguments), name
