"""Compilers, emulators and other programs that tests run, and where Debian has them.

A tool that is missing skips the test, with what to install; with `PIPELINE_REQUIRE_TOOLS=1` it fails it.
`python3 tests/required_tools.py` prints the packages that are missing on this machine, one a line.
"""

from __future__ import annotations

import os
import shutil
import subprocess

PACKAGES = {
    "make": "make",
    "cmake": "cmake",
    "ninja": "ninja-build",
    "iverilog": "iverilog",
    "objcopy": "binutils",
    "node": "nodejs",
    "npm": "npm",
    "gcc": "gcc",
    "g++": "g++",
    "clang": "clang",
    "clang++": "clang",
    "nm": "binutils",
    "size": "binutils",
    "valgrind": "valgrind",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
    "aarch64-linux-gnu-nm": "binutils-aarch64-linux-gnu",
    "aarch64-linux-gnu-objcopy": "binutils-aarch64-linux-gnu",
    "aarch64-linux-gnu-objdump": "binutils-aarch64-linux-gnu",
    "aarch64-linux-gnu-readelf": "binutils-aarch64-linux-gnu",
    "aarch64-linux-gnu-size": "binutils-aarch64-linux-gnu",
    "qemu-aarch64": "qemu-user",
    "qemu-system-aarch64": "qemu-system-arm",
}
"""What Debian calls the package of a tool."""

LIBRARIES = ("libc6-dev", "libc6-dev-arm64-cross", "libclang-rt-14-dev", "u-boot-qemu")
"""Packages that are no programs: C libraries, sanitizers and libFuzzer, and a U-Boot for QEMU."""


def need(tool: str) -> str:
    """Return the path of a tool, or skip the test."""
    path = shutil.which(tool)
    if path is None:
        miss(f"no {tool} on this machine: install {PACKAGES[tool]}")
    return path


def miss(reason: str) -> None:
    """Skip the test, or fail it where tools are required."""
    import pytest  # not there yet where a fresh machine asks what it lacks

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


def missing_packages() -> list[str]:
    """List what this machine has to install for all tests to run."""
    missing = {package for tool, package in PACKAGES.items() if shutil.which(tool) is None}
    return sorted(missing | {package for package in LIBRARIES if not _is_installed(package)})


def _is_installed(package: str) -> bool:
    if shutil.which("dpkg-query") is None:
        return False
    command = ["dpkg-query", "--show", "--showformat=${Status}", package]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.endswith(" installed")


if __name__ == "__main__":
    for name in missing_packages():
        print(name)
