"""Programs and objects of the engines' C libraries that their tests run."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import c_programs
from c_programs import SANITIZERS, WARNINGS
from required_tools import need

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
PROGRAM = EXAMPLES / "text_program"


class Library(NamedTuple):
    """An engine's files in `examples/`."""

    name: str

    @property
    def folder(self) -> Path:
        return EXAMPLES / self.name

    @property
    def source(self) -> Path:
        return self.folder / f"{self.name}.c"

    @property
    def header(self) -> Path:
        return self.folder / f"{self.name}.h"

    @property
    def program(self) -> tuple[Path, ...]:
        """Sources of its command-line program."""
        return self.folder / "main.c", self.source, PROGRAM / "text_program.c"


GREEDY, TOKENIZER_BIN = LIBRARIES = Library("rk3588_greedy"), Library("tokenizer_bin")

STRICT = ("-std=c99", *WARNINGS)
HOST = (*STRICT, "-g")
COUNTING = ("-DGREEDY_COUNT_STEPS=steps", "-DTOKBIN_COUNT_STEPS=steps")
DRIVER = (HERE / "engines_driver.c", GREEDY.source, TOKENIZER_BIN.source)


class Workshop(c_programs.Workshop):
    """Builds programs and objects of the libraries."""

    def __init__(self, folder: Path) -> None:
        folders = [GREEDY.folder, TOKENIZER_BIN.folder, PROGRAM]
        super().__init__(folder, folders, sorted(path for place in folders for path in place.glob("*.[ch]")))

    def command(self, kind: str, sources: tuple[Path, ...] = DRIVER) -> list[str | Path]:
        """Return the command that runs a program, the driver if no other sources are named, as a build of some kind."""
        if kind == "gcc":
            return [self.program("gcc", "-O2", *HOST, sources=sources)]
        if kind == "counting":
            return [self.program("gcc", "-O2", *HOST, *COUNTING, sources=sources)]
        if kind == "sanitized":
            return [self.program("clang", "-O1", *HOST, *SANITIZERS, sources=sources)]
        if kind == "sanitized by gcc":
            return [self.program("gcc", "-O1", *HOST, *SANITIZERS, sources=sources)]
        assert kind == "aarch64"
        return [
            need("qemu-aarch64"),
            self.program("aarch64-linux-gnu-gcc", "-O2", "-static", *HOST, sources=sources),
        ]
