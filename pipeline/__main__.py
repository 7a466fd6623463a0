"""The command line: `pipeline COMMAND ...`, or `python -m pipeline`."""

from __future__ import annotations

import argparse
import os
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING

from formats.errors import FormatError
from pipeline.commands import COMMANDS
from pipeline.errors import CheckFailed, MachineError, PipelineError
from pipeline.manifest.place import ManifestError
from pipeline.sources.errors import path_words
from pipeline.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

DESCRIPTION = """\
Pack a Qwen-class model, as it lies in a local Ollama store, into what firmware reads in place."""
EPILOG = """\
exit codes: 0 done; 1 a check failed; 2 the manifest or the call is wrong; 3 the model is unusable;
4 the machine let us down (disk, permission, a folder locked by another run)"""

DEBUG = "PIPELINE_DEBUG"
INTERRUPTED = 130
INTERNAL_ERROR = 70


def build_parser() -> argparse.ArgumentParser:
    """Make the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="pipeline",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for command in COMMANDS:
        sub = commands.add_parser(
            command.name,
            help=command.summary,
            description=command.description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns:
        the process's exit code.

    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal of another encoding shows an escape instead of stopping the build.
            stream.reconfigure(errors="backslashreplace")
    arguments = build_parser().parse_args(argv)
    try:
        code = int(arguments.run(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has gone; Python must not complain again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return MachineError.exit_code
    except Exception as error:
        line, code = _words(error)
        if code == INTERNAL_ERROR and os.environ.get(DEBUG):
            raise
        sys.stdout.flush()
        print(line, file=sys.stderr)
    except KeyboardInterrupt:
        print("pipeline: interrupted", file=sys.stderr)
        return INTERRUPTED
    return code


def _words(error: Exception) -> tuple[str, int]:
    """Give an error's line for the user and its exit code."""
    if isinstance(error, ManifestError):
        return str(error), error.exit_code  # begins with file, line and column, as editors like it
    if isinstance(error, PipelineError):
        return f"pipeline: {error}", error.exit_code
    if isinstance(error, FormatError):
        return f"pipeline: {error}", CheckFailed.exit_code
    if isinstance(error, OSError):
        where = f"{path_words(str(error.filename))}: " if error.filename is not None else ""
        return f"pipeline: {where}{error.strerror or error}", MachineError.exit_code
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    return f"pipeline: internal error: {what}; a fault of this tool; {DEBUG}=1 shows where", INTERNAL_ERROR


if __name__ == "__main__":
    sys.exit(main())
