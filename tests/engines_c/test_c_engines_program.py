"""The command-line programs: texts and ids in and out, and one line and an exit code for everything that is wrong."""

from __future__ import annotations

import resource
import subprocess
from functools import partial
from pathlib import Path

import pytest
from engine_files import SMALL_VOCAB, small_tokenizer
from engines_build import GREEDY, LIBRARIES, TOKENIZER_BIN
from required_tools import need

KINDS = ["gcc", "sanitized"]
DONE, USAGE, TABLE, MACHINE = 0, 2, 3, 4


class Program:
    """An engine's program on a small file of its own."""

    def __init__(self, command, library, table):
        self.command = [str(word) for word in command]
        self.library = library
        self.table = table

    def __call__(self, *arguments, text=b"", code=DONE, table=True, **options):
        """Run the program; give what it printed, or the one line that it refuses with."""
        words = [*self.command, *map(str, arguments)] + ([str(self.table)] if table else [])
        done = subprocess.run(words, input=text, capture_output=True, check=False, **options)
        error = done.stderr.decode()
        assert done.returncode == code, error
        if code == DONE:
            assert error == ""
            return done.stdout
        prefix = f"{self.library.name}: "
        assert error.startswith(prefix)
        assert error.endswith("\n")
        assert error[:-1].isprintable()
        return error[len(prefix) : -1]

    def ids(self, text, *arguments):
        return [int(word) for word in self(*arguments, text=text).split()]


@pytest.fixture(params=LIBRARIES, ids=lambda library: library.name)
def library(request):
    return request.param


@pytest.fixture(params=KINDS)
def program(request, workshop, library, tmp_path):
    table = tmp_path / "table.bin"
    table.write_bytes(SMALL_VOCAB if library is GREEDY else small_tokenizer("documented"))
    return Program(workshop.command(request.param, library.program), library, table)


@pytest.fixture(params=KINDS)
def greedy(request, workshop, tmp_path):
    table = tmp_path / "vocab.bin"
    table.write_bytes(SMALL_VOCAB)
    return Program(workshop.command(request.param, GREEDY.program), GREEDY, table)


@pytest.fixture(params=KINDS)
def tokenizer(request, workshop, tmp_path):
    table = tmp_path / "tokenizer.bin"
    table.write_bytes(small_tokenizer("documented"))
    return Program(workshop.command(request.param, TOKENIZER_BIN.program), TOKENIZER_BIN, table)


def test_variants(greedy):
    text = b" a b<think>\n\n\n"
    assert greedy.ids(text) == greedy.ids(text, "--variant", "base") == [1, 2, 10, 8, 8, 8]
    assert greedy.ids(text, "--variant", "A") == [6, 2, 10, 8, 8, 8]
    assert greedy.ids(text, "--variant", "AB") == [6, 5, 2, 10, 8, 8, 8]
    assert greedy.ids(text, "--variant", "specials-first") == [1, 2, 10, 9, 8]
    for wrong in ("ab", "specials_first", ""):
        assert greedy("--variant", wrong, code=USAGE).startswith(
            "--variant: expected base, A, AB or specials-first"
        )
    assert greedy(greedy.table, "--variant", table=False, code=USAGE).endswith("found nothing")


def test_layouts_and_bos(tokenizer, tmp_path):
    assert tokenizer.ids(b"abc-") == [14, 9]
    assert tokenizer.ids(b"abc-", "--bos", "20") == [20, 14, 9]
    assert tokenizer("--lines", "--bos", "0", text=b"ab\n\nc") == b"0 13\n0\n0 2\n"
    assert tokenizer("--bos", "27", text=b"a", code=USAGE) == "--bos: expected one below 27, found 27"
    for wrong in ("-1", "x", "", "4294967295", "99999999999", "1 "):
        assert tokenizer("--bos", wrong, code=USAGE) == f"--bos: expected an id, found {wrong}"
    loader = tmp_path / "loader.bin"
    loader.write_bytes(small_tokenizer("loader"))
    assert tokenizer("--layout", "loader", loader, table=False, text=b"abc") == tokenizer(text=b"abc")
    line = tokenizer(loader, table=False, code=TABLE)
    assert line.endswith("; it is in the other layout: --layout loader")
    assert tokenizer("--layout", "loader", code=TABLE).endswith("--layout documented")
    assert (
        tokenizer("--layout", "neither", code=USAGE)
        == "--layout: expected documented or loader, found neither"
    )


def test_texts_from_a_file_and_from_standard_input(program, tmp_path):
    text = tmp_path / "text"
    text.write_bytes(b"ab\nab")
    whole = program(text=b"ab\nab")
    assert program(program.table, text, table=False) == whole
    assert program(program.table, "-", table=False, text=b"ab\nab") == whole
    assert program("--", program.table, "--", table=False, code=MACHINE) == "--: No such file or directory"
    assert program(text=b"") == b"\n"
    assert program("--lines", text=b"") == b""


def test_lines(program):
    one = program(text=b"ab")
    assert program("--lines", text=b"ab\nab\n") == program("--lines", text=b"ab\nab") == one * 2
    assert program("--lines", text=b"\n\nab") == b"\n\n" + one


def test_decoding(program):
    ids = program("--lines", text=b"ab\n\nabab")
    assert program("--decode", "--lines", text=ids) == b"ab\n\nabab\n"
    assert program("--decode", text=ids) == b"ababab"
    assert program("--decode", text=b" \t1,1\r\n1 ,, ") == b"aaa" if program.library is GREEDY else b"bbb"
    assert program("--decode", text=b"") == b""
    refused = [
        (b"1 x", "id at index 1: expected a number, found 'x'"),
        (b"-1", "id at index 0: expected a number, found '-1'"),
        (b"1\n2 \x1b[31m", "id at index 2: expected a number, found '?[31m'"),
        (b"1" * 30, f"id at index 0: expected a number, found '{'1' * 20}'..."),
        (b"4294967296", "id at index 0: expected a number, found '4294967296'"),
    ]
    for text, line in refused:
        assert program("--decode", text=text, code=USAGE) == line
    size = 17 if program.library is GREEDY else 27
    line = f"id at index 2: expected one below {size}, found {size}"
    assert program("--decode", text=b"0 1 %d 2" % size, code=USAGE) == line
    assert program("--decode", "--lines", text=b"0\n1\n0 1 %d" % size, code=USAGE) == f"line 3: {line}"


def test_any_bytes(program):
    text = bytes(range(256)) * 3
    assert len(program.ids(text)) > 3
    assert program("--decode", text=program(text=b"ab\xc3\xa9ab")).endswith(b"ab\xc3\xa9ab")


def test_a_call_that_is_wrong(program):
    assert program(code=USAGE, table=False) == "expected VOCAB, found nothing: see --help"
    assert program("--wrong", code=USAGE) == "expected an option that --help names, found: --wrong"
    assert program("-x\n", code=USAGE) == "expected an option that --help names, found: -x?"
    assert program("-é\x1b[1m\x9b1m\x7f\xa3\x80", code=USAGE).endswith("found: -é?[1m??1m?\xa3??")
    assert program("a", "b", "c", code=USAGE) == "expected VOCAB and one FILE, found also: c"
    text = program("--wrong", "--help", code=USAGE)
    assert "--wrong" in text
    assert program("--help").decode().startswith(f"usage: {program.library.name} ")


def test_help_names_every_option(program):
    text = program("--help", table=False).decode()
    main = (program.library.folder / "main.c").read_text(encoding="ascii")
    options = {"--decode", "--lines", "--help"} | {
        part.split('"')[0] for part in main.split('strcmp(name, "')[1:]
    }
    assert options <= set(text.split())


def test_files_that_cannot_be_read(program, tmp_path):
    missing = tmp_path / "missing"
    assert program(missing, table=False, code=MACHINE) == f"{missing}: No such file or directory"
    assert (
        program(program.table, missing, table=False, code=MACHINE) == f"{missing}: No such file or directory"
    )
    assert program(tmp_path, table=False, code=MACHINE) == f"{tmp_path}: Is a directory"
    program.table.write_bytes(program.table.read_bytes()[:-1])
    line = program(code=TABLE)
    assert line.startswith(f"{program.table}: ")
    assert " at offset 0x" in line


def test_output_that_cannot_be_written(program):
    with Path("/dev/full").open("wb") as full:
        for arguments, text in (((), b"ab"), (("--decode",), b"1"), (("--help",), b"")):
            done = subprocess.run(
                [*program.command, *arguments, program.table],
                input=text,
                stdout=full,
                stderr=subprocess.PIPE,
                check=False,
            )
            assert done.returncode == MACHINE
            assert (
                done.stderr.decode() == f"{program.library.name}: standard output: No space left on device\n"
            )


def test_little_memory(workshop, library, tmp_path):
    """Where memory runs out there is a line about it, not a crash."""
    table = tmp_path / "table.bin"
    table.write_bytes(SMALL_VOCAB if library is GREEDY else small_tokenizer("documented"))
    program = Program(workshop.command("gcc", library.program), library, table)
    big = tmp_path / "big"
    big.write_bytes(b"a " * 6_000_000)
    for megabytes in (20, 40, 50):
        limit = partial(resource.setrlimit, resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        assert program(table, big, table=False, code=MACHINE, preexec_fn=limit) == "out of memory"
    assert len(program(table, big, table=False)) >= 12_000_000


@pytest.mark.parametrize(
    ("argument", "text", "end", "code"),
    [
        ("--lines", b"abc ab's <think> \n\xff.....\n" * 3, None, DONE),
        ("--lines", b"", -1, TABLE),
        ("--decode", b"1 2 3 999", None, USAGE),
        ("--wrong", b"", None, USAGE),
    ],
    ids=["encoding", "a file that is cut", "an unknown id", "a wrong call"],
)
def test_valgrind_finds_nothing(workshop, library, tmp_path, argument, text, end, code):
    table = tmp_path / "table.bin"
    table.write_bytes((SMALL_VOCAB if library is GREEDY else small_tokenizer("documented"))[:end])
    command = [
        need("valgrind"), "--quiet", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=all",
        *workshop.command("gcc", library.program), argument, table,
    ]  # fmt: skip
    done = subprocess.run([str(word) for word in command], input=text, capture_output=True, check=False)
    assert done.returncode == code, done.stderr.decode()
    assert done.stderr.count(b"\n") == (code != DONE)
