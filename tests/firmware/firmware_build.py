"""Programs and objects of the C library that its tests run."""

from __future__ import annotations

from pathlib import Path

import c_programs
from c_programs import SANITIZERS, WARNINGS
from required_tools import need

HERE = Path(__file__).parent
LIBRARY = HERE.parents[1] / "examples" / "q25_nl_tokenizer"
SOURCE = LIBRARY / "q25_nl_tokenizer.c"
HEADER = LIBRARY / "q25_nl_tokenizer.h"
DRIVER = HERE / "driver.c"

STRICT = ("-std=c99", *WARNINGS, "-ffreestanding")
A53 = ("-mcpu=cortex-a53", "-mstrict-align")


class Workshop(c_programs.Workshop):
    """Builds programs and objects of the library."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, [LIBRARY], [*sorted(LIBRARY.glob("q25_*")), DRIVER])

    def program(self, compiler: str, *flags: str, sources: tuple[Path, ...] = (DRIVER, SOURCE)) -> Path:
        """Build a program, of the driver if no other sources are named."""
        return super().program(compiler, *flags, sources=sources)

    def object(self, compiler: str, *flags: str, source: Path = SOURCE) -> Path:
        """Build an object of the library."""
        return super().object(compiler, *flags, source=source)


def driver_commands(workshop: Workshop, kind: str) -> list[str | Path]:
    """Return the command that runs the driver, as a build of some kind."""
    host = ("-std=c99", "-D_POSIX_C_SOURCE=200112L", "-g", "-Wall", "-Wextra")
    if kind == "gcc":
        return [workshop.program("gcc", "-O2", *host)]
    if kind == "counting":
        return [workshop.program("gcc", "-O2", *host, "-DQ25_NL_COUNT_STEPS=steps")]
    if kind.startswith("without "):
        return [workshop.program("gcc", "-O2", *host, f"-DQ25_NL_NO_{kind.split()[1].upper()}")]
    if kind == "sanitized":
        return [workshop.program("clang", "-O1", *host, *SANITIZERS)]
    flags = {"aarch64": (), "aarch64 without crc": ("-DQ25_NL_NO_CRC_INSTRUCTIONS",)}[kind]
    program = workshop.program("aarch64-linux-gnu-gcc", "-O2", "-static", *A53, *host, *flags)
    return [need("qemu-aarch64"), program]
