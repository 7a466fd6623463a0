"""This machine's C compiler, and the shared library that it makes of the C reader."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from formats.errors import shown
from pipeline.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KNOWN = ("cc", "gcc", "clang")
"""Looked for in this order where `CC` names none."""

READER = "q25_nl_tokenizer"
"""The C reader: the name of its folder and of its source files."""

FLAGS = ("-std=c99", "-O2", "-shared", *(() if sys.platform == "win32" else ("-fPIC",)))
TIMEOUT_S = 120
_SUMMARIES = ("collect2: error: ld returned", "clang: error: linker command failed")
"""What compilers say behind the linker's own words."""
INSTEAD = "use --engine python"
INSTALL = (
    "install one (Debian: apt install gcc libc6-dev; macOS: xcode-select --install; Windows: MinGW-w64), "
    f"name one in CC, or {INSTEAD}"
)


@dataclass(frozen=True)
class Compiler:
    """A C compiler that takes the options of gcc.

    Attributes:
        command: the program's path, and arguments that `CC` has behind it.
        version: what it says of itself.

    """

    command: tuple[str, ...]
    version: str

    def build(self, folder: Path) -> Path:
        """Build the library in a folder.

        Raises:
            MachineError: the compiler fails; with its first complaint.

        """
        made = folder / f"{READER}{suffix()}"
        # Started among the sources, so that its complaints name files and not folders.
        sources = reader_folder()
        command = [*self.command, *FLAGS, "-I.", f"{READER}.c", str(_HOST), "-o", str(made)]
        code, text = _run(command, sources)
        if code or not made.is_file():
            raise MachineError(
                f"the C compiler {shown(self.command[0])} fails: {_complaint(code, text)}; "
                f"mend it, name another in CC, or {INSTEAD}"
            )
        return made

    def key(self) -> str:
        """Return a digest (SHA-256, hex) of everything that decides what is built."""
        parts = [*self.command, self.version, *FLAGS, sys.platform, platform.machine(), str(sys.maxsize)]
        sources = [_HOST, *sorted(reader_folder().glob(f"{READER}*.[chi]*"))]
        digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape"))
        for path in sources:
            data = path.read_bytes()
            digest.update(f"\0{path.name}\0{len(data)}\0".encode() + data)
        return digest.hexdigest()


_HOST = Path(__file__).resolve().with_name("host.c")


def reader_folder() -> Path:
    """Return where the C reader's sources lie: `examples/` of a checkout, or a folder beside this package.

    Raises:
        MachineError: they are in neither.

    """
    root = Path(__file__).resolve().parents[2]
    for folder in (root / "examples" / READER, root / READER):
        if (folder / f"{READER}.c").is_file():
            return folder
    raise MachineError(f"the sources of the C reader, {READER}.c, are not there; install this tool again")


def suffix(system: str = sys.platform) -> str:
    """Return how the name of a shared library ends."""
    return {"win32": ".dll", "darwin": ".dylib"}.get(system, ".so")


def find_compiler(environ: Mapping[str, str] | None = None) -> Compiler:
    """Find the compiler: the one that `CC` names, else one of those known.

    Raises:
        MachineError: there is none, or it cannot be started.

    """
    environ = os.environ if environ is None else environ
    named = environ.get("CC", "").strip()
    path = environ.get("PATH")
    names, arguments = (KNOWN, []) if not named else _words(named)
    program = next((found for name in names if (found := shutil.which(name, path=path))), None)
    if program is None and named:
        raise MachineError(f"CC: there is no program {shown(names[0])}; {INSTALL}")
    if program is None:
        raise MachineError(f"no C compiler on this machine (looked for {', '.join(KNOWN)}); {INSTALL}")
    command = (str(Path(program).absolute()), *arguments)  # it is started in another folder
    _, version = _run([*command, "--version"])
    return Compiler(command, version)


def _words(named: str) -> tuple[tuple[str], list[str]]:
    """Cut `CC` into program and arguments, as a shell does."""
    try:
        words = shlex.split(named, posix=os.name == "posix")
    except ValueError:  # an open quotation
        raise MachineError(f"CC: expected a command, found {shown(named)}") from None
    return (words[0],), words[1:]


def _run(command: Sequence[str], folder: Path | None = None) -> tuple[int, str]:
    """Run the compiler; return its exit code and what it wrote."""
    try:
        # Into a file: a pipe would also be waited for where a child of the compiler hangs.
        with tempfile.TemporaryFile() as file:
            code = subprocess.run(  # noqa: S603  (the compiler that the user has or names)
                command,
                cwd=folder,
                env={**os.environ, "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                timeout=TIMEOUT_S,
                check=False,
            ).returncode
            file.seek(0)
            return code, file.read().decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        raise MachineError(
            f"the C compiler {shown(command[0])} does not end within {TIMEOUT_S} s; name another in CC, or {INSTEAD}"
        ) from None
    except OSError as error:
        raise MachineError(
            f"the C compiler {shown(command[0])} cannot be started: {error.strerror or error}; "
            f"name another in CC, or {INSTEAD}"
        ) from error


def _complaint(code: int, text: str) -> str:
    """Return a compiler's first error, else the first line that it wrote, else its exit code."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line and not line.startswith(_SUMMARIES)]
    line = next(iter(errors or lines), None)
    return f"exit code {code}, without a word" if line is None else shown(line)
