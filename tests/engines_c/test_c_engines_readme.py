"""The READMEs' commands print what stands there, and their C code compiles and gives the ids that are known."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from c_programs import WARNINGS
from engines_build import EXAMPLES, GREEDY, LIBRARIES, TOKENIZER_BIN
from real_models import RealTables
from required_tools import need, run

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
@EXAMPLE@
int main(int argc, char **argv)
{
    FILE *file = fopen(argv[1], "rb");
    const size_t size = (size_t)strtoul(argv[2], NULL, 10);
    void *bytes = malloc(size);
    uint32_t ids[64];
    size_t count, at;
    if (argc != 4 || file == NULL || bytes == NULL || fread(bytes, 1, size, file) != size) {
        return 2;
    }
    count = encode(bytes, size, argv[3], strlen(argv[3]), ids, 64);
    for (at = 0; at < count; at++) {
        printf("%u ", (unsigned)ids[at]);
    }
    fclose(file);
    free(bytes);
    return 0;
}
"""
IDS = {
    GREEDY: ("<think>\n\n</think>\n\nok", [151667, 271, 151668, 271, 562]),
    TOKENIZER_BIN: ("Hello world", [151644, 9707, 1879]),
}


@pytest.fixture(params=LIBRARIES, ids=lambda library: library.name)
def library(request):
    return request.param


@pytest.fixture
def readme(library):
    return (library.folder / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Copy the examples beside a build of the model that the READMEs use."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(EXAMPLES, folder / "examples")
    built = folder / "build" / "qwen25"
    built.mkdir(parents=True)
    tables = RealTables.of("qwen2.5")
    (built / "vocab.bin").write_bytes(tables.vocab_bin().data)
    (built / "tokenizer.bin").write_bytes(tables.tokenizer_bin("documented"))
    return folder


def test_the_commands(library, readme, checkout):
    need("make")
    need("gcc")
    (session,) = re.findall(r"```console\n(.*?)```", readme, re.DOTALL)
    commands = re.findall(r"^\$ (.*)\n((?:[^$\n].*\n)*)", session, re.MULTILINE)
    assert len(commands) == 6
    for command, printed in commands:
        done = subprocess.run(
            command, shell=True, cwd=checkout / "examples" / library.name, capture_output=True, check=False
        )
        assert (done.stdout + done.stderr).decode() == printed or command.startswith("make "), command
        assert (done.returncode == 0) == ("cut.bin" not in command or ">" in command), command


def test_the_code(library, readme, checkout, workshop, tmp_path):
    (example,) = re.findall(r"```c\n(.*?)```", readme, re.DOTALL)
    source = tmp_path / "example.c"
    source.write_text(MAIN.replace("@EXAMPLE@", example), encoding="ascii")
    program = workshop.program("gcc", "-std=c99", *WARNINGS, "-O2", sources=(source, library.source))
    file = tmp_path / "file"
    tables = RealTables.of("qwen3")
    file.write_bytes(tables.vocab_bin().data if library is GREEDY else tables.tokenizer_bin("documented"))
    text, ids = IDS[library]
    assert [int(word) for word in run(program, file, file.stat().st_size, text).split()] == ids


def test_the_files_that_are_named(library, readme):
    named = {
        name
        for row in re.findall(r"^\| (`.*?) \|", readme, re.MULTILINE)
        for name in re.findall(r"`(\S+)`", row)
    }
    files = {
        path.name
        for path in library.folder.iterdir()
        if path.suffix in {".c", ".h"} or path.name == "Makefile"
    }
    assert files <= named
