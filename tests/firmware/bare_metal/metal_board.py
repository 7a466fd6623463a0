"""Builds of the bare-metal example, each in a copy of its own, and what they print on the emulated board."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from required_tools import need, run

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
EXAMPLE = EXAMPLES / "bare_metal_a53"
SECONDS = 120
"""More than any run takes; one that hangs is ended then."""

GOOD, LINE_FAILED, BAD_INPUT = 0, 1, 2


@dataclass
class Line:
    """A line of text, as the program reports on it: `nfc` are the bytes that it decodes to, if others."""

    ids: list[int]
    nfc: bytes | None = None
    failure: str | None = None


@dataclass
class Ended:
    """A run: the emulator's exit code and all that was printed."""

    code: int
    printed: list[str]
    lines: list[Line] = field(default_factory=list)


def command(*words: str | Path, folder: Path, seconds: int = SECONDS) -> subprocess.CompletedProcess[str]:
    """Run a command and what it starts, and end all of that where it takes too long."""
    process = subprocess.Popen(
        [str(word) for word in words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"hangs: {out.decode()[-2000:]}{err.decode()[-2000:]}") from None
    return subprocess.CompletedProcess(words, process.returncode, out.decode("ascii"), err.decode())


class Board:
    """The example and the reader, copied; `variables` are the Makefile's.

    Args:
        folder: where to copy to; not there yet.
        variables: of the Makefile, for every call of it.

    """

    def __init__(self, folder: Path, **variables: str) -> None:
        for tool in ("make", "aarch64-linux-gnu-gcc"):
            need(tool)
        ignored = shutil.ignore_patterns("build")
        shutil.copytree(EXAMPLES, folder, ignore=ignored)
        self.folder = folder / EXAMPLE.name
        self._variables = variables
        self.make()

    @property
    def elf(self) -> Path:
        return self.folder / "build" / "tokenizer.elf"

    def symbols(self) -> dict[str, int]:
        """Give the addresses of the program's symbols."""
        rows = run(need("aarch64-linux-gnu-nm"), self.elf).splitlines()
        return {row.split()[2]: int(row.split()[0], 16) for row in rows}

    def make(self, *targets: str, **variables: str | Path) -> str:
        """Run make, which must succeed; return what it printed."""
        done = self._make(targets, variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def run(
        self,
        image: bytes,
        text: bytes | None = None,
        target: str = "run",
        seconds: int = SECONDS,
        **variables: str,
    ) -> Ended:
        """Run the program on an image, and on a text or the one linked in."""
        need("qemu-system-aarch64")
        files = {"IMAGE": image} if text is None else {"IMAGE": image, "TEXT": text}
        given: dict[str, str | Path] = dict(variables)
        for name, data in files.items():
            given[name] = self.folder / name.lower()
            given[name].write_bytes(data)
        done = self._make(("--silent", target), given, seconds)
        failed = re.search(r"^make: \*\*\* \[.*\] Error (\d+)$", done.stderr, re.MULTILINE)
        assert bool(failed) == bool(done.returncode), done.stderr
        printed = done.stdout.replace("\r\n", "\n").splitlines()
        return Ended(int(failed[1]) if failed else GOOD, printed, list(_lines(printed)))

    def _make(self, targets, variables, seconds=SECONDS) -> subprocess.CompletedProcess[str]:
        given = [f"{name}={value}" for name, value in {**self._variables, **variables}.items()]
        return command("make", *targets, *given, folder=self.folder, seconds=seconds)


def _lines(printed):
    line = None
    for row in printed:
        if found := re.fullmatch(r"(\d+):((?: \d+)*)", row):
            if line:
                yield line
            line = Line([int(word) for word in found[2].split()])
        elif line and row.startswith("   NFC "):
            line.nfc = bytes.fromhex(row.removeprefix("   NFC "))
        elif line and row.startswith("   FAILED: "):
            line.failure = row.removeprefix("   FAILED: ")
    if line:
        yield line
