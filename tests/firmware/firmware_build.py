"""Programs and objects of the C library that its tests run."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from required_tools import need, run

HERE = Path(__file__).parent
LIBRARY = HERE.parents[1] / "examples" / "q25_nl_tokenizer"
SOURCE = LIBRARY / "q25_nl_tokenizer.c"
HEADER = LIBRARY / "q25_nl_tokenizer.h"
DRIVER = HERE / "driver.c"

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion")
STRICT = ("-std=c99", *WARNINGS, "-ffreestanding")
A53 = ("-mcpu=cortex-a53", "-mstrict-align")
SANITIZERS = ("-fsanitize=address,undefined,alignment", "-fno-sanitize-recover=all")


class Workshop:
    """Builds programs and objects of the library once each, into one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        sources = b"".join(path.read_bytes() for path in sorted(LIBRARY.glob("q25_*")))
        self._version = hashlib.sha256(sources + DRIVER.read_bytes()).hexdigest()

    def program(self, compiler: str, *flags: str, sources: tuple[Path, ...] = (DRIVER, SOURCE)) -> Path:
        """Build a program, of the driver if no other sources are named."""
        return self._made(compiler, flags, sources, ".exe")

    def object(self, compiler: str, *flags: str, source: Path = SOURCE) -> Path:
        """Build an object of the library."""
        return self._made(compiler, (*flags, "-c"), (source,), ".o")

    def _made(self, compiler: str, flags: tuple[str, ...], sources: tuple[Path, ...], suffix: str) -> Path:
        command = [need(compiler), *flags, f"-I{LIBRARY}", *map(str, sources)]
        digest = hashlib.sha256("\0".join([self._version, *command]).encode()).hexdigest()
        made = self.folder / (digest[:24] + suffix)
        if not made.exists():
            part = made.with_suffix(f".{os.getpid()}{suffix}")
            run(*command, "-o", part)
            part.replace(made)
        return made


def driver_commands(workshop: Workshop, kind: str) -> list[str | Path]:
    """Return the command that runs the driver, as a build of some kind."""
    host = ("-std=c99", "-D_POSIX_C_SOURCE=200112L", "-g", "-Wall", "-Wextra")
    if kind == "gcc":
        return [workshop.program("gcc", "-O2", *host)]
    if kind == "counting":
        return [workshop.program("gcc", "-O2", *host, "-DQ25_NL_COUNT_STEPS=steps")]
    if kind == "sanitized":
        return [workshop.program("clang", "-O1", *host, *SANITIZERS)]
    flags = {"aarch64": (), "aarch64 without crc": ("-DQ25_NL_NO_CRC_INSTRUCTIONS",)}[kind]
    program = workshop.program("aarch64-linux-gnu-gcc", "-O2", "-static", *A53, *host, *flags)
    return [need("qemu-aarch64"), program]
