"""The command line: `pipeline COMMAND ...`, or `python -m pipeline`."""

# Little is imported before `main` runs, so that an interrupt is one line however early it comes.
from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from pipeline.commands.parser import CommandParser
    from pipeline.errors import ConsoleError

DESCRIPTION = """\
Pack a Qwen-class model, as it lies in a local Ollama store, into what firmware reads in place."""
EPILOG = """\
exit codes: 0 done; 1 a check failed; 2 the manifest or the call is wrong; 3 the model is unusable;
4 the machine let us down (disk, permission, a folder locked by another run)"""

DEBUG = "PIPELINE_DEBUG"
INTERNAL_ERROR = 70
_INTERRUPTED = "pipeline: interrupted", 130


def build_parser() -> CommandParser:
    """Make the parser of the whole command line."""
    from argparse import RawDescriptionHelpFormatter

    from pipeline.commands import COMMANDS
    from pipeline.commands.parser import CommandParser
    from pipeline.version import VERSION

    parser = CommandParser(
        prog="pipeline",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for command in COMMANDS:
        sub = commands.add_parser(
            command.name,
            help=command.summary,
            description=command.description,
            epilog=command.epilog,
            formatter_class=RawDescriptionHelpFormatter,
        )
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns:
        the process's exit code.

    """
    _prepare_streams()
    line = ""
    try:
        arguments = build_parser().parse_args(argv)
        code = int(arguments.run(arguments))
    except SystemExit as leave:  # behind --help and --version
        code = int(leave.code or 0)
    except KeyboardInterrupt:
        line, code = _INTERRUPTED
    except Exception as error:
        line, code = _INTERRUPTED if _is_interrupt(error) else _words(error)
        if code == INTERNAL_ERROR and os.environ.get(DEBUG):
            raise
    failure = _finish(sys.stdout)
    if failure is not None:
        line, code = _words(failure)
    if line:
        with suppress(OSError):
            print(line, file=sys.stderr)
    _finish(sys.stderr)
    return code


def _prepare_streams() -> None:
    """Make the three streams usable whatever the caller has done to them."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Closed by the caller. The next file to be opened would take its place and get our words.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # A terminal of another encoding shows an escape instead of stopping the build.
            reconfigure(errors="backslashreplace")


def _finish(stream: TextIO) -> ConsoleError | None:
    """Write out what a stream holds back; Python would do so at its end, and complain in its own way.

    Returns:
        the failure, if there is one; what is written from then on is lost.

    """
    from pipeline.errors import ConsoleError

    try:
        stream.flush()
    except OSError as error:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return ConsoleError(error)
    return None


def _is_interrupt(error: BaseException | None) -> bool:
    """Tell whether an error is an interrupt that hit a clean-up, which then failed for want of the rest."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__context__
    return False


def _words(error: Exception) -> tuple[str, int]:
    """Give an error's line for the user and its exit code."""
    from formats.errors import FormatError
    from pipeline.errors import CheckFailed, ConsoleError, MachineError, PipelineError
    from pipeline.manifest.place import ManifestError
    from pipeline.sources.errors import path_words

    if isinstance(error, ManifestError):
        return str(error), error.exit_code  # begins with file, line and column, as editors like it
    if isinstance(error, ConsoleError) and error.is_closed:
        return "", error.exit_code
    if isinstance(error, PipelineError):
        return f"pipeline: {error}", error.exit_code
    if isinstance(error, FormatError):
        return f"pipeline: {error}", CheckFailed.exit_code
    if isinstance(error, OSError):
        where = f"{path_words(str(error.filename))}: " if error.filename is not None else ""
        return f"pipeline: {where}{error.strerror or error}", MachineError.exit_code
    if isinstance(error, UnicodeEncodeError) and error.encoding != "utf-8":
        # Our own files are UTF-8: what is written in another encoding is a name, in the system's.
        lacking = f"{error.encoding}, which lacks {error.object[error.start : error.end]!a}"
        hint = "set LC_ALL=C.UTF-8, or PYTHONUTF8=1"
        where = path_words(error.object)
        return (
            f"pipeline: {where}: this locale has names of files in {lacking}; {hint}",
            MachineError.exit_code,
        )
    if isinstance(error, MemoryError):
        return "pipeline: out of memory", MachineError.exit_code
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    return f"pipeline: internal error: {what}; a fault of this tool; {DEBUG}=1 shows where", INTERNAL_ERROR


if __name__ == "__main__":
    sys.exit(main())
