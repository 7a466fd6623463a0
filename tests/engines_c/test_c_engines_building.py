"""The libraries and their programs build without a warning wherever they should."""

from __future__ import annotations

import re
import shutil

import pytest
from c_programs import SANITIZERS, WARNINGS
from engine_files import SMALL_VOCAB, small_tokenizer
from engines_build import EXAMPLES, HERE, LIBRARIES, PROGRAM, STRICT
from real_models import RealTables
from required_tools import need, run

LEVELS = ["-O0", "-O3", *(pytest.param(level, marks=pytest.mark.long) for level in ("-O2", "-Os"))]


@pytest.fixture(params=LIBRARIES, ids=lambda library: library.name)
def library(request):
    return request.param


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("compiler", ["gcc", "clang", "aarch64-linux-gnu-gcc"])
def test_c99(workshop, library, compiler, level):
    workshop.program(compiler, *STRICT, level, sources=library.program)


@pytest.mark.parametrize("standard", ["c11", "c17", "gnu99"])
def test_newer_c(workshop, library, standard):
    workshop.program("gcc", f"-std={standard}", *WARNINGS, "-O2", sources=library.program)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_cplusplus(workshop, library, compiler):
    workshop.object(compiler, "-x", "c++", "-std=c++11", *WARNINGS, "-O2", source=library.source)


def test_32_bits(library, tmp_path):
    """Sizes are not taken for 64 bits anywhere; the headers of the host's C library serve to check that."""
    (tmp_path / "gnu").mkdir()
    (tmp_path / "gnu" / "stubs-32.h").touch()  # what those headers lack for other machines
    host = run(need("gcc"), "-print-multiarch").strip()
    headers = [f"-isystem{tmp_path}", f"-isystem/usr/include/{host}"]
    command = [need("clang"), "--target=i686-linux-gnu", *STRICT, "-fsyntax-only", f"-I{PROGRAM}", *headers]
    run(*command, *library.program)


def test_every_warning_of_clang(workshop, library):
    quiet = [
        "unsafe-buffer-usage", "declaration-after-statement", "padded", "cast-align", "cast-qual", "switch-enum",
        "c++98-compat-pedantic", "unknown-warning-option", "reserved-identifier", "covered-switch-default",
    ]  # fmt: skip
    flags = ["-Weverything", *(f"-Wno-{name}" for name in quiet)]
    workshop.object("clang", "-std=c99", *flags, "-Werror", "-O2", source=library.source)


def test_only_the_c_library_is_needed(library):
    found = set()
    for path in (library.header, library.source):
        found |= set(re.findall(r"#include [<\"](.*)[>\"]", path.read_text(encoding="ascii")))
    standard = {"inttypes.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h"}
    assert found == {library.header.name, *standard}


def test_no_variables(workshop, library):
    """Nothing is kept outside what the caller holds: any number of threads may use a library."""
    obj = workshop.object("gcc", *STRICT, "-O2", source=library.source)
    kinds = {line.split()[-2] for line in run(need("nm"), obj).splitlines()}
    assert kinds <= {"T", "t", "r", "R", "U", "d"}
    writable = [
        line for line in run(need("size"), "-A", obj).splitlines() if line.startswith((".data ", ".bss"))
    ]
    assert all(int(line.split()[1]) == 0 for line in writable)


def test_make(library, tmp_path):
    """The Makefile builds the program, and takes flags."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    folder = tmp_path / "examples" / library.name
    run(need("make"), "CC=gcc", "CFLAGS=-O1 -Werror -Wconversion", cwd=folder)
    assert "usage: " in run(folder / library.name, "--help")
    run(need("make"), "clean", cwd=folder)
    assert not (folder / library.name).exists()


@pytest.mark.parametrize("kind", ["gcc", "sanitized"])
def test_null_pointers_and_useless_arguments(workshop, kind):
    sources = (HERE / "engines_arguments.c", *(library.source for library in LIBRARIES))
    assert run(*workshop.command(kind, sources)) == ""


@pytest.mark.parametrize("build", [("gcc", "-O2"), ("clang", "-O1", *SANITIZERS)], ids=["gcc", "sanitized"])
def test_memory(workshop, tmp_path, vocab_file, build):
    """Whichever allocation fails, there is a status for it, and nothing is left behind; all take what is promised."""
    compiler, *flags = build
    wrap = ("-Wl,--wrap=malloc", "-Wl,--wrap=calloc")
    sources = (HERE / "engines_memory.c", *(library.source for library in LIBRARIES))
    program = workshop.program(compiler, *STRICT, "-g", *flags, *wrap, sources=sources)
    small = SMALL_VOCAB, small_tokenizer("documented")
    real = vocab_file, RealTables.of("qwen3").tokenizer_bin("documented")
    for files in (small, real):
        for name, file in zip(("vocab.bin", "tokenizer.bin"), files, strict=True):
            (tmp_path / name).write_bytes(file)
        lines = run(program, tmp_path / "vocab.bin", tmp_path / "tokenizer.bin").splitlines()
        counts, taken = zip(*(map(int, line.split()) for line in lines), strict=True)
        assert counts == (3, 9)
        for file, size in zip(files, taken, strict=True):
            assert size <= 5 * len(file) + 4_096
    megabytes = [round(size / 1e6, 1) for size in taken]
    assert megabytes == [3.6, 5.1], "what the READMEs state"


def test_lines_are_short():
    for folder in (*(library.folder for library in LIBRARIES), PROGRAM):
        for path in sorted(folder.glob("*.[ch]")):
            for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
                assert len(line) <= 110, f"{path.name}:{number}"
                assert line == line.rstrip(), f"{path.name}:{number}"
                assert "\t" not in line, f"{path.name}:{number}"
