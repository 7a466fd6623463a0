"""What is linked needs nothing, is placed as the memory map says, and is built anew exactly when it has to be."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from metal_board import Board
from required_tools import need, run


@pytest.fixture(scope="module", params=[{}, {"OPT": "-O0"}, {"OPT": "-O3"}, {"OPT": "-Os"}], ids=str)
def built(request, boards):
    return boards(**request.param)


def read(option, elf):
    return run(need("aarch64-linux-gnu-readelf"), "--wide", option, elf)


def segments(elf):
    """(start, end, flags) of what is loaded."""
    rows = re.findall(
        r"^ +(\w+) +0x\w+ 0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) (...) 0x", read("-l", elf), re.MULTILINE
    )
    assert rows
    assert {kind for kind, *_ in rows} == {"LOAD"}, "neither dynamic nor interpreted"
    assert all(virtual == physical for _, virtual, physical, *_ in rows)
    return [
        (int(start, 16), int(start, 16) + int(size, 16), flags.strip()) for _, start, _, size, flags in rows
    ]


def test_it_needs_nothing(built):
    assert run(need("aarch64-linux-gnu-nm"), "-u", built.elf) == ""
    assert read("-r", built.elf).strip() == "There are no relocations in this file."
    assert read("-d", built.elf).strip() == "There is no dynamic section in this file."


def test_nothing_is_writable_and_executable(built):
    assert [flags for *_, flags in segments(built.elf)] == ["R E", "R", "RW"]


def test_it_is_where_the_map_says(built):
    loaded = segments(built.elf)
    known = built.symbols()
    assert loaded[0][0] == known["start"] == 0x00100000
    assert f"0x{known['start']:x}\n" in read("-h", built.elf)
    assert all(end <= start for (_, end, _), (start, _, _) in pairwise(loaded))
    assert loaded[-1][1] == known["fault_stack_top"] <= known["image_start"] == 0x10000000
    assert known["text_start"] - 8 == known["text_length"] == known["image_room_end"] == 0x17FFFFF8
    assert known["vectors"] % 2048 == 0
    assert known["stack_top"] % 16 == known["fault_stack_top"] % 16 == 0


def test_only_variables_are_not_in_the_file(built):
    """No initialized ones, which some loaders would have to copy."""
    rows = re.findall(r"^ +\[ *\d+\] (\.\w+) +(\w+) .* ([WAX]+) ", read("-S", built.elf), re.MULTILINE)
    kinds = {name: (kind, flags) for name, kind, flags in rows}
    assert kinds == {
        ".text": ("PROGBITS", "AX"),
        ".rodata": ("PROGBITS", "A"),
        ".work": ("NOBITS", "WA"),
        ".bss": ("NOBITS", "WA"),
        ".stack": ("NOBITS", "WA"),
    }


def test_memory_functions_do_not_call_themselves(built):
    """A compiler sees a memcpy in the loop of memcpy, unless it is kept from it."""
    listing = run(need("aarch64-linux-gnu-objdump"), "-dr", built.folder / "build" / "memory.o")
    functions = dict(re.findall(r"<(mem\w+)>:\n((?:.+\n)+)", listing))
    calls = {name: set(re.findall(r"R_AARCH64_\w+\s+(\w+)", body)) for name, body in functions.items()}
    assert calls.pop("memmove") <= {"memcpy"}
    assert calls == {"memcpy": set(), "memset": set(), "memcmp": set()}


def test_a_program_that_reaches_into_the_image(tmp_path):
    with pytest.raises(AssertionError, match="the program reaches into the image"):
        Board(tmp_path / "examples", IMAGE_ADDRESS="0x00200000")


def test_it_is_built_anew_when_it_has_to_be(tmp_path, board):
    before = board.elf.read_bytes()
    board = Board(tmp_path / "elsewhere" / "examples")
    assert board.elf.read_bytes() == before, "the same sources, other bytes"
    assert board.make() == ""
    for name in (
        "main.c",
        "uart.h",
        "start.S",
        "lines.txt",
        "link.ld",
        "../q25_nl_tokenizer/q25_nl_tokenizer_tables.inc",
    ):
        file = board.folder / name
        file.write_bytes(file.read_bytes() + b"\n")
        assert "tokenizer.elf" in board.make(), name
        assert board.make() == "", name
    assert "main.o" in board.make(OPT="-Os")
    assert board.elf.read_bytes() != before
    assert "main.o" in board.make()
    board.make("clean")
    assert not board.elf.parent.exists()


def test_size_names_the_sections(board):
    assert re.search(r"^\.text +\d+ +1048576$", board.make("size"), re.MULTILINE)


@pytest.mark.parametrize("name", ["IMAGE", "TEXT"])
def test_a_file_that_is_not_there(board, name, tmp_path):
    image = tmp_path / "image"
    image.write_bytes(b"\0")
    given = {"IMAGE": image, name: tmp_path / "nothing"}
    with pytest.raises(AssertionError, match=f'no {name.lower()} "{tmp_path}/nothing"'):
        board.make("run", **given)
