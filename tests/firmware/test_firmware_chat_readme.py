"""The commands of the chat example's README print what stands there, and its C code compiles."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from c_programs import WARNINGS
from command_line import call
from firmware_build import LIBRARY
from required_tools import need, run

EXAMPLE = LIBRARY.with_name("chat_frames")


@pytest.fixture(scope="module")
def readme():
    return (EXAMPLE / "README.md").read_text(encoding="ascii")


@pytest.fixture(scope="module")
def copy(readme, tmp_path_factory, sample_cache):
    """Copy the example and the tokenizer, and run the README's manifest there."""
    root = tmp_path_factory.mktemp("examples")
    for folder in (EXAMPLE, LIBRARY):
        shutil.copytree(folder, root / folder.name, ignore=shutil.ignore_patterns("chat", "build"))
    (manifest,) = re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL)
    (root / EXAMPLE.name / "chat.yaml").write_text(manifest, encoding="ascii")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIPELINE_CACHE", str(sample_cache))
        call("run", root / EXAMPLE.name / "chat.yaml").done()
    return root / EXAMPLE.name


def test_the_commands(readme, copy):
    need("make")
    (console,) = re.findall(r"```console\n(.*?)```", readme, re.DOTALL)
    shown = re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", console, re.MULTILINE)
    assert shown[0][0].startswith("pipeline run chat.yaml")
    assert len(shown) == 4
    for command, printed in shown[1:]:
        ended = subprocess.run(command, shell=True, cwd=copy, capture_output=True, text=True, check=True)
        assert ended.stdout == printed


def test_the_code_compiles(readme, copy, tmp_path):
    (example,) = re.findall(r"```c\n(.*?)```", readme, re.DOTALL)
    source = tmp_path / "example.c"
    source.write_text(
        example + "size_t (*used)(q25_chat *, const uint8_t *, size_t) = ask;\n", encoding="ascii"
    )
    includes = (f"-I{copy}", f"-I{copy / 'build' / 'qwen3'}", f"-I{LIBRARY}")
    run(need("gcc"), "-std=c99", *WARNINGS, "-fsyntax-only", *includes, source)


def test_the_files_that_are_named(readme):
    named = set(re.findall(r"`(\w+\.[ch]|Makefile)`", readme.split("## What to copy")[1].split("```")[0]))
    assert named == {
        "chat_frames.c",
        "chat_frames.h",
        *(path.name for path in EXAMPLE.iterdir() if path.suffix in (".c", ".h")),
        "Makefile",
    }
