"""Each command of the README does what it says, and what it shows is what is printed."""

from __future__ import annotations

import re

import pytest
from bpe_texts import real_texts
from metal_board import EXAMPLE, GOOD, Board, command
from real_models import RealTables

INSTRUCTIONS_A_BYTE, STACK_BYTES = 240, 2048


@pytest.fixture(scope="module")
def readme():
    return (EXAMPLE / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def blocks(readme):
    return re.findall(r"```\n(.*?)```", readme, re.DOTALL)


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A tree in which the image lies where the README has it."""
    root = tmp_path_factory.mktemp("tree")
    image = root / "build" / "qwen25" / "q25_tokenizer.img"
    image.parent.mkdir(parents=True)
    image.write_bytes(RealTables.of("qwen2.5").image())
    return Board(root / "examples")


def test_the_commands(copied, readme, blocks):
    commands = re.findall(r"^    (make.*)", readme, re.MULTILINE)
    assert len(commands) == 5
    for line in commands:
        done = command("sh", "-c", line.replace("make", "make --silent", 1), folder=copied.folder)
        assert (done.returncode, done.stderr) == (0, ""), line
        printed = done.stdout.replace("\r\n", "\n")
        if "run" in line and "TEXT" not in line:
            assert printed == blocks[0]
        elif "run" in line:
            assert printed == blocks[0].replace(" bytes, linked in", " bytes at 0x18000000")
        elif "measure" in line:
            assert printed.startswith(blocks[0])
            assert [row.split(":")[0] for row in printed.removeprefix(blocks[0]).splitlines()] == [
                "verify", "open", "encode", "decode", "stack",
            ]  # fmt: skip


def test_the_refusal(copied, blocks):
    image = bytearray(RealTables.of("qwen2.5").image())
    image[0x10000] ^= 1
    assert copied.run(bytes(image)).printed == blocks[1].splitlines()


def test_the_costs(copied):
    """Counts of instructions, which are always the same: no matter of time."""
    text = " ".join(real_texts().values()).replace("\n", " ").encode()
    image = RealTables.of("qwen2.5").image()
    runs = [copied.run(image, text, target="measure") for _ in range(2)]
    assert runs[0] == runs[1]
    assert runs[0].code == GOOD
    report = "\n".join(runs[0].printed)
    (instructions,) = re.findall(r"^encode: \d+ instructions \((\d+\.\d) a byte\)$", report, re.MULTILINE)
    assert 10 < float(instructions) < INSTRUCTIONS_A_BYTE
    (stack,) = re.findall(r"^stack:  (\d+) of 16384 bytes; scratch: \d+ bytes needed$", report, re.MULTILINE)
    assert 256 < int(stack) < STACK_BYTES


def test_the_files_that_are_named(readme):
    named = set(re.findall(r"`([\w.]+)`", readme))
    rest = {path.name for path in EXAMPLE.iterdir() if path.is_file()} - named
    assert {name for name in rest if not name.endswith(".h")} == {"README.md"}


def test_nothing_is_printed_of_costs_where_none_are_counted(copied):
    run = copied.run(RealTables.of("qwen2.5").image(), b"one\n")
    assert run.printed[-1] == "1 lines, 1 ids, 0 failed"
