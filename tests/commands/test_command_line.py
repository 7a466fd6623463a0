"""The command line as a whole: help, options anywhere, mistakes in one line, exit codes."""

import argparse
import signal
import subprocess
import sys

import pytest
from command_line import Outcome, call, child

from pipeline import __main__
from pipeline.__main__ import build_parser, main
from pipeline.commands import COMMANDS
from pipeline.commands.parser import CommandParser
from pipeline.version import VERSION

NAMES = [command.name for command in COMMANDS]
FAULT = "; a fault of this tool; PIPELINE_DEBUG=1 shows where"


def test_version():
    assert call("--version").done().out == f"pipeline {VERSION}\n"


def test_help_lists_every_command_with_its_summary():
    text = call("--help").done().out
    for command in COMMANDS:
        assert f"    {command.name:<20}{command.summary}" in text or command.summary in " ".join(text.split())
    assert "exit codes: 0 done; 1 a check failed; 2 the manifest or the call is wrong" in text


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command(name):
    text = call(name, "--help").done().out
    assert text.startswith(f"usage: pipeline {name} ")
    (command,) = [command for command in COMMANDS if command.name == name]
    assert command.description.strip().splitlines()[0] in text


def test_the_console_script_is_this_main():
    from importlib.metadata import entry_points

    scripts = [point.value for point in entry_points(group="console_scripts") if point.name == "pipeline"]
    assert set(scripts) == {"pipeline.__main__:main"}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "the following arguments are required: COMMAND; see `pipeline --help`"),
        (["run"], "the following arguments are required: MANIFEST; see `pipeline run --help`"),
        (["verify"], "the following arguments are required: FILE|DIR; see `pipeline verify --help`"),
        (["encode"], "the following arguments are required: IMAGE; see `pipeline encode --help`"),
        (["run", "m", "--frob"], "unrecognized arguments: --frob; see `pipeline run --help`"),
        (["run", "m", "n"], "unrecognized arguments: n; see `pipeline run --help`"),
        (["models", "x"], "unrecognized arguments: x; see `pipeline models --help`"),
        (["run", "m", "--js"], "unrecognized arguments: --js; see `pipeline run --help`"),
        (["run", "m", "--only"], "argument --only: expected one argument; see `pipeline run --help`"),
        (["run", "m", "a\nb\x1b[2J"], "unrecognized arguments: a\\nb\\x1b[2J; see `pipeline run --help`"),
        (
            ["dag", "m", "--dot", "--mermaid"],
            "argument --mermaid: not allowed with argument --dot; see `pipeline dag --help`",
        ),
        (["encode", "i", "--file"], "argument --file: expected one argument; see `pipeline encode --help`"),
    ],
    ids=str,
)
def test_a_wrong_call_is_one_line_with_where_to_read_more(arguments, line):
    assert call(*arguments).refused(2) == f"pipeline: {line}"


@pytest.mark.parametrize(("option", "value"), [("--specials", "some"), ("--invalid", "ignore")])
def test_a_choice_that_is_none(option, value):
    line = call("encode", "i", option, value).refused(2)
    assert line.startswith(f"pipeline: argument {option}: invalid choice: '{value}' (choose from ")


def test_a_command_that_is_none():
    line = call("encodes").refused(2)
    assert line.startswith("pipeline: argument COMMAND: invalid choice: 'encodes' (choose from ")
    assert all(name in line for name in NAMES)


def test_a_child_exits_with_the_code():
    assert child("run").refused(2) == call("run").refused(2)
    assert child("--version").done().out == f"pipeline {VERSION}\n"


ALONE = {
    "run": [["MANIFEST"], ["--json"], ["--out", "o"], ["--set", "a=b"], ["--force"], ["--only", "x"]],
    "status": [["MANIFEST"], ["--json"], ["--no-fallback"], ["--set", "a=b"]],
    "dag": [["MANIFEST"], ["--dot"], ["--out", "o"]],
    "inspect": [["MODEL"], ["--json"]],
    "models": [["--json"]],
    "schema": [["FORMAT"], ["--ksy"]],
    "diff": [["A"], ["--json"], ["B"], ["--limit", "3"]],
    "dump": [["FILE"], ["--format", "gguf"], ["PATH"], ["--json"], ["--all"]],
    "size": [["PATH"], ["--json"], ["--budget", "6MiB"]],
    "report": [["DIR"], ["--output", "x.html"]],
    "verify": [["PATH"], ["--json"]],
    "clean": [["MANIFEST"], ["--force"], ["--dry-run"]],
    "encode": [["IMAGE"], ["--json"], ["TEXT"], ["--specials", "none"], ["--lines"]],
    "parity": [["MANIFEST"], ["--json"], ["--corpus", "c"], ["--samples", "lines"], ["--differences", "1"]],
    "decode": [["IMAGE"], ["--lines"], ["1"], ["2"], ["--stop-at-end"], ["3"]],
    "build-files": [],
}


@pytest.mark.parametrize("name", NAMES)
def test_options_may_stand_anywhere(name):
    """Every turn of the parts gives the same values, as long as positional ones keep their order."""
    parts = ALONE[name]
    parser = build_parser()

    def parsed(order):
        found = vars(parser.parse_args([name, *(word for part in order for word in part)]))
        assert found.pop("run").__module__ == f"pipeline.commands.{name.replace('-', '_')}"
        return found

    positional = [part for part in parts if not part[0].startswith("--")]
    options = [part for part in parts if part[0].startswith("--")]
    expected = parsed(positional + options)
    assert parsed(options + positional) == expected
    assert parsed(parts) == expected
    for at in range(len(positional) + 1):
        assert parsed([*positional[:at], *options, *positional[at:]]) == expected


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["I", "--", "-5"], "-5"),
        (["I", "--json", "--", "--lines"], "--lines"),
        (["--json", "I", "-- x"], "-- x"),
        (["I", "-5"], "-5"),
        (["I", ""], ""),
        (["I", "--json", ""], ""),
        (["I"], None),
        (["I", "--json"], None),
    ],
    ids=str,
)
def test_texts_that_look_like_options(arguments, text):
    assert build_parser().parse_args(["encode", *arguments]).text == text


def test_ids_that_look_like_options():
    parsed = build_parser().parse_args(["decode", "I", "-5", "--lines", "1", "--", "-6"])
    assert parsed.ids == ["-5", "1", "-6"]
    assert parsed.lines


def test_lists_do_not_leak_from_one_parse_to_the_next():
    parser = build_parser()
    assert parser.parse_args(["run", "m", "--set", "a=1", "--set", "b=2"]).overrides == ["a=1", "b=2"]
    assert parser.parse_args(["run", "m"]).overrides == []
    assert parser.parse_args(["run", "--only", "x", "m", "--only", "y"]).only == ["x", "y"]


def test_a_parser_can_be_used_again_after_a_mistake():
    parser = CommandParser(prog="p")
    parser.add_argument("a")
    with pytest.raises(Exception, match="required: a; see `p --help`"):
        parser.parse_args([])
    assert parser.parse_args(["x"]) == argparse.Namespace(a="x")


def test_a_fault_of_the_tool_is_one_line_too(monkeypatch):
    def broken(arguments):
        raise ZeroDivisionError("first line\nsecond line")

    monkeypatch.setattr(__main__, "build_parser", lambda: Parser(broken))
    outcome = call("x")
    assert outcome.refused(70) == (f"pipeline: internal error: ZeroDivisionError: first line{FAULT}")
    monkeypatch.setenv("PIPELINE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        call("x")


class Parser:
    def __init__(self, run):
        self.run = run

    def parse_args(self, arguments):
        return argparse.Namespace(run=self.run)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "pipeline: interrupted"),
        (PermissionError(13, "Permission denied", "a\nb"), 4, "pipeline: 'a\\nb': Permission denied"),
        (OSError(5, "Input/output error"), 4, "pipeline: Input/output error"),
        (OSError("odd"), 4, "pipeline: odd"),
        (MemoryError(), 4, "pipeline: out of memory"),
        (RecursionError("deep"), 70, f"pipeline: internal error: RecursionError: deep{FAULT}"),
    ],
    ids=repr,
)
def test_errors_and_their_codes(monkeypatch, error, code, line):
    def broken(arguments):
        raise error

    monkeypatch.setattr(__main__, "build_parser", lambda: Parser(broken))
    assert call("x").refused(code) == line


def test_an_interrupt_that_broke_a_clean_up(monkeypatch):
    def broken(arguments):
        try:
            raise KeyboardInterrupt
        finally:
            arguments.never_set.restore()

    monkeypatch.setattr(__main__, "build_parser", lambda: Parser(broken))
    assert call("x").refused(130) == "pipeline: interrupted"


def test_the_codes_of_our_own_errors(monkeypatch):
    from formats.errors import FormatError
    from pipeline.errors import CheckFailed, ConsoleError, MachineError, ModelError, UsageError

    found = {}
    for error in (
        CheckFailed("x"),
        UsageError("x"),
        ModelError("x"),
        MachineError("x"),
        FormatError("a", "b"),
        ConsoleError(OSError(28, "full")),
    ):

        def broken(arguments, error=error):
            raise error

        monkeypatch.setattr(__main__, "build_parser", lambda broken=broken: Parser(broken))
        outcome = call("x")
        found[type(error).__name__] = (outcome.code, outcome.refused(outcome.code))
    assert found == {
        "CheckFailed": (1, "pipeline: x"),
        "UsageError": (2, "pipeline: x"),
        "ModelError": (3, "pipeline: x"),
        "MachineError": (4, "pipeline: x"),
        "FormatError": (1, "pipeline: expected a, found b"),
        "ConsoleError": (4, "pipeline: standard output: full"),
    }


def test_an_interrupt_while_modules_are_imported():
    """An import that hangs stands for any moment before the command runs."""
    script = (
        "import os, signal, sys, builtins\n"
        "from pipeline.__main__ import main\n"
        "real = builtins.__import__\n"
        "def late(name, *rest):\n"
        "    if name == 'argparse': os.kill(os.getpid(), signal.SIGINT)\n"
        "    return real(name, *rest)\n"
        "builtins.__import__ = late\n"
        "sys.exit(main(['--version']))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert Outcome(ended.returncode, ended.stdout, ended.stderr).refused(130) == "pipeline: interrupted"


def test_main_takes_the_processs_own_arguments(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["pipeline", "--version"])
    assert main() == 0
    assert capsys.readouterr().out == f"pipeline {VERSION}\n"
