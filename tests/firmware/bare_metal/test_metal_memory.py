"""The memory functions that a compiler may call do what the C library's do."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_programs import SANITIZERS
from firmware_build import A53, STRICT
from metal_board import EXAMPLE
from required_tools import need, run

CHECK = Path(__file__).with_name("memory_check.c")
NAMES = [f"-D{name}=own_{name}" for name in ("memcpy", "memmove", "memset", "memcmp")]


@pytest.mark.parametrize(
    ("compiler", "flags"),
    [
        ("gcc", ["-O3"]),
        ("clang", ["-O1", *SANITIZERS]),
        ("aarch64-linux-gnu-gcc", ["-O2", "-static", *A53]),
    ],
)
def test_as_the_c_library(tmp_path, compiler, flags):
    program = tmp_path / "check"
    run(need(compiler), *STRICT, *flags, *NAMES, "-c", EXAMPLE / "memory.c", "-o", tmp_path / "memory.o")
    run(need(compiler), *flags, CHECK, tmp_path / "memory.o", "-o", program)
    emulator = [need("qemu-aarch64")] if "aarch64" in compiler else []
    assert int(run(*emulator, program)) > 41 * 41 * 41 * 2
