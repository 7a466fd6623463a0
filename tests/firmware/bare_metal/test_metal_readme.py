"""Each command of the README does what it says, and what it shows is what is printed."""

from __future__ import annotations

import re

import pytest
from bpe_texts import real_texts
from metal_board import EXAMPLE, GOOD, command
from real_models import RealTables

INSTRUCTIONS_A_BYTE, STACK_BYTES = 300, 2048
"""Of short texts in many scripts, where little comes twice; what longer ones take is measured in benchmarks/."""


@pytest.fixture(scope="module")
def readme():
    return (EXAMPLE / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def blocks(readme):
    return re.findall(r"```\n(.*?)```", readme, re.DOTALL)


@pytest.fixture(scope="module")
def qwen25_image():
    return RealTables.of("qwen2.5").image()


def test_the_commands(board, readme, blocks, qwen25_image):
    image = board.folder / "../../build/qwen25/q25_tokenizer.img"
    image.parent.mkdir(parents=True)
    image.write_bytes(qwen25_image)
    commands = re.findall(r"^    (make.*)", readme, re.MULTILINE)
    assert len(commands) == 5
    for line in commands:
        done = command("sh", "-c", line.replace("make", "make --silent", 1), folder=board.folder)
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


def test_the_refusal(board, blocks, qwen25_image):
    image = bytearray(qwen25_image)
    image[0x10000] ^= 1
    assert board.run(bytes(image)).printed == blocks[1].splitlines()


def test_the_costs(board, qwen25_image):
    """Counts of instructions, which are always the same: no matter of time."""
    text = " ".join(real_texts().values()).replace("\n", " ").encode()
    runs = [board.run(qwen25_image, text, target="measure") for _ in range(2)]
    assert runs[0] == runs[1]
    assert runs[0].code == GOOD
    report = "\n".join(runs[0].printed)
    (instructions,) = re.findall(r"^encode: \d+ instructions \((\d+\.\d) a byte\)$", report, re.MULTILINE)
    assert 10 < float(instructions) < INSTRUCTIONS_A_BYTE
    (stack,) = re.findall(r"^stack: (\d+) of 16384 bytes; scratch: \d+ bytes needed$", report, re.MULTILINE)
    assert 256 < int(stack) < STACK_BYTES


def test_the_memory_map(board, readme):
    """The addresses in the text are the ones of the program."""
    known = board.symbols()
    names = ("start", "image_start", "text_length", "text_start", "ram_end")
    assert re.findall(r"^\| 0x(\w{8}) \|", readme, re.MULTILINE) == [f"{known[name]:08X}" for name in names]
    assert f"load mmc 0 0x{known['image_start']:08x} " in readme
    assert f"load mmc 0 0x{known['text_start']:08x} " in readme
    length, word = re.findall(r"mw.l 0x(\w+) (\S+)$", readme, re.MULTILINE)
    assert (int(length[0], 16), int(word[0], 16)) == (known["text_length"], known["text_length"] + 4)
    assert f"TEXT_IS_LOADED {word[1]}u" in (EXAMPLE / "lines.h").read_text(encoding="ascii")


def test_the_files_that_are_named(readme):
    named = set(re.findall(r"`([\w.]+)`", readme))
    rest = {path.name for path in EXAMPLE.iterdir() if path.is_file()} - named
    assert {name for name in rest if not name.endswith(".h")} == {"README.md"}


def test_nothing_is_printed_of_costs_where_none_are_counted(board, qwen25_image):
    run = board.run(qwen25_image, b"one\n")
    assert run.printed[-1] == "1 lines, 1 ids, 0 failed"
