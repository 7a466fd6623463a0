"""Copies of the example that links assets in, built with CMake and Make by a copy of the tool."""

from __future__ import annotations

import os
import re
import shutil
import sys
from typing import TYPE_CHECKING

from command_line import ROOT
from metal_board import command
from required_tools import need
from tiny_model import write_tiny

if TYPE_CHECKING:
    from pathlib import Path

TOOLS = ("ninja", "cmake-make", "make")
GENERATORS = {"ninja": "Ninja", "cmake-make": "Unix Makefiles"}
ASSETS, LINK = "assets", "link"
SECONDS = 300


class Tree:
    """A folder with the examples, the tool's sources, a tiny model, and a build of one kind.

    Args:
        root: where to copy to; not there yet.
        tool: which build tool.
        cache: the tool's cache, where the sample may lie.

    """

    def __init__(self, root: Path, tool: str, cache: Path, *, sample: str | None = None) -> None:
        for needed in ("aarch64-linux-gnu-gcc", "make" if tool == "make" else "cmake"):
            need(needed)
        if tool == "ninja":
            need("ninja")
        self.root = root
        self.tool = tool
        self._environment = {**os.environ, "PYTHONPATH": str(root), "PIPELINE_CACHE": str(cache)}
        ignored = shutil.ignore_patterns("build", "__pycache__")
        for name in ("pipeline", "formats", "examples"):
            shutil.copytree(ROOT / name, root / name, ignore=ignored)
        self.example = root / "examples" / "linked_assets"
        self.manifest = self.example / "manifest.yaml"
        self.gguf = root / "tiny.gguf"
        write_tiny(self.gguf)
        model = f"sample: {sample}" if sample else f"gguf: {self.gguf}"
        text = re.sub(r"model:\n.*\n.*\n", f"model: {{{model}}}\n", self.manifest.read_text())
        self.manifest.write_text(text)
        self._compile_a_source_of_the_assets()
        self.folder = self.example / "make" if tool == "make" else root / "cmake build"
        self.assets = self.folder / ("build/assets" if tool == "make" else "assets")
        if tool != "make":
            self._run(
                *("cmake", "-S", self.example / "cmake", "-B", self.folder, "-G", GENERATORS[tool]),
                *("--toolchain", self.example / "cmake" / "a53.cmake"),
                f"-DPIPELINE_COMMAND={sys.executable};-m;pipeline",
            )

    def _compile_a_source_of_the_assets(self) -> None:
        """Add model_table.c, which the example has no use for."""
        for file, old, new in (
            ("cmake/CMakeLists.txt", "assets ARGS", "assets SOURCES model_table.c ARGS"),
            ("make/Makefile", "Q25_ARGS ?=\n", "Q25_ARGS ?=\nQ25_SOURCES := model_table.c\n"),
            ("make/Makefile", " q25_assets.o)", " q25_assets.o model_table.o)"),
            (
                "make/Makefile",
                "$(BUILD)/linked_text.o: CFLAGS",
                "$(BUILD)/model_table.o: $(Q25_C)\n\t$(CC) $(CFLAGS) -c $< -o $@\n$(BUILD)/linked_text.o: CFLAGS",
            ),
        ):
            path = self.example / file
            text = path.read_text()
            assert text.count(old) == 1, (file, old)
            path.write_text(text.replace(old, new))

    @property
    def elf(self) -> Path:
        return self.folder / ("build/tokenizer.elf" if self.tool == "make" else "tokenizer.elf")

    def build(self) -> set[str]:
        """Build; tell what was made, by the build tool's own log."""
        code, log = self.attempt()
        assert code == 0, log
        return actions(log)

    def attempt(self, target: str = "") -> tuple[int, str]:
        """Build what may fail; give the exit code and all that was printed."""
        if self.tool == "make":
            words = ("make", "-j2", f"PIPELINE={sys.executable} -m pipeline", *([target] if target else []))
            done = self._command(*words, folder=self.folder)
        else:
            done = self._command("cmake", "--build", self.folder, *(["--target", target] if target else []))
        return done.returncode, done.stdout + done.stderr

    def _run(self, *words: object) -> None:
        done = self._command(*words)
        assert done.returncode == 0, done.stdout + done.stderr

    def _command(self, *words: object, folder: Path | None = None):
        return command(
            "env",
            *(f"{name}={self._environment[name]}" for name in ("PYTHONPATH", "PIPELINE_CACHE")),
            *(str(word) for word in words),
            folder=folder or self.root,
            seconds=SECONDS,
        )


def actions(log: str) -> set[str]:
    """Read from a log what was made: the assets, objects by their source, the program."""
    made = set()
    for line in log.splitlines():
        if re.search(r"Assets of |pipeline run ", line):
            made.add(ASSETS)
        elif found := re.search(r"Building \w+ object .*/([\w.]+)\.obj", line) or re.search(
            r"-gcc .* -c (?:\S*/)?([\w.]+) -o ", line
        ):
            made.add(found[1])
        elif re.search(r"Linking C executable|-gcc .*-o build/tokenizer\.elf", line):
            made.add(LINK)
    return made
