"""Compilers and emulators for the tests of the C library, and what is built with them.

A tool that is missing skips the test, with what to install; with `PIPELINE_REQUIRE_TOOLS=1` it fails it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LIBRARY = HERE.parents[1] / "examples" / "q25_nl_tokenizer"
SOURCE = LIBRARY / "q25_nl_tokenizer.c"
HEADER = LIBRARY / "q25_nl_tokenizer.h"
DRIVER = HERE / "driver.c"

PACKAGES = {
    "gcc": "gcc",
    "g++": "g++",
    "clang": "clang",
    "clang++": "clang",
    "nm": "binutils",
    "size": "binutils",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
    "aarch64-linux-gnu-nm": "binutils-aarch64-linux-gnu",
    "aarch64-linux-gnu-size": "binutils-aarch64-linux-gnu",
    "qemu-aarch64": "qemu-user",
    "valgrind": "valgrind",
}
"""What Debian calls the package of a tool."""

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion")
STRICT = ("-std=c99", *WARNINGS, "-ffreestanding")
A53 = ("-mcpu=cortex-a53", "-mstrict-align")
SANITIZERS = ("-fsanitize=address,undefined,alignment", "-fno-sanitize-recover=all")


def need(tool: str, package: str = "") -> str:
    """Return the path of a tool, or skip the test."""
    path = shutil.which(tool)
    if path is None:
        miss(f"no {tool} on this machine: install {package or PACKAGES[tool]}")
    return path


def miss(reason: str) -> None:
    """Skip the test, or fail it where tools are required."""
    if os.environ.get("PIPELINE_REQUIRE_TOOLS") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def run(*command, **options) -> str:
    """Run a command that must succeed; return what it printed."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


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
