"""A fault ends the program with what it was and where: it never hangs."""

from __future__ import annotations

import re

import pytest
from metal_board import BAD_INPUT, Board
from required_tools import need, run

MAIN = """
#include <stdint.h>
#include "fault.h"
#include "print.h"
#include "uart.h"
int main(void);
int main(void)
{
    volatile uint64_t words[4] = {1, 2, 3, 4};
    uart_open();
    print("before");
    FAULT;
    return words[3] == 4 ? 0 : 1;
}
"""
NOWHERE = "0x1000000000000ull"
"""An address of more bits than a Cortex-A53 has. (This board of QEMU's lets any other be read.)"""
UNALIGNED = '__asm__ volatile("ldr x0, [%0]" : : "r"((uintptr_t)words + 1) : "x0", "memory")'
FAULTS = {
    "unaligned access": UNALIGNED,
    "unknown instruction": '__asm__ volatile("udf #0")',
    "data access": f"*(volatile uint32_t *){NOWHERE} = 1",
    "instruction fetch": f"((void (*)(void))(uintptr_t){NOWHERE})()",
    "misaligned instruction": '__asm__ volatile("br %0" : : "r"((uintptr_t)main + 2))',
    "exception": '__asm__ volatile("svc #0")',
}
SECOND_CORE = """
    uint64_t core;
    __asm__ volatile("mrs %0, mpidr_el1" : "=r"(core));
    print((core & 0xFF) == 0 ? " core 0" : " core 1");
    if ((core & 0xFF) == 0) { /* let the other one begin where this one did (UG1087: APU, CRF_APB) */
        extern const uint8_t start[];
        volatile uint32_t *const apu = (volatile uint32_t *)(uintptr_t)0xFD5C0000u;
        volatile uint32_t *const reset = (volatile uint32_t *)(uintptr_t)0xFD1A0104u;
        apu[0x48 / 4] = (uint32_t)(uintptr_t)start;
        apu[0x4C / 4] = 0;
        *reset &= ~(1u << 1 | 1u << 11);
    }
    for (words[0] = 0; words[0] < 5000000; words[0]++) {
    }
    print(" end")
"""
REPORTED = {
    (0, 0x1E000000): "vector register that traps",
    (4, 0x62000000): "system register",
    (8, 0x9A000000): "misaligned stack",
    (0, 0x96000021): "unaligned access",
    (4, 0x96000010): "data access",
    (5, 0): "IRQ",
    (6, 0): "FIQ",
    (15, 0xBE000000): "SError",
}
"""By the vector and the syndrome."""
MACHINES = {"EL1": "", "EL2": "-M virtualization=on", "EL3": "-M secure=on"}


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """Make a program whose main meets a fault, always in the same folder."""
    board = Board(tmp_path_factory.mktemp("fault") / "examples")

    def made(code):
        (board.folder / "main.c").write_text(MAIN.replace("FAULT", code), encoding="ascii")
        return board

    return made


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_named(faulty, name):
    run = faulty(FAULTS[name]).run(b"\0")
    assert run.code == BAD_INPUT
    first, second = run.printed
    assert first == "before"
    assert re.fullmatch(
        rf"fault: {name}, instruction 0x\w{{16}}, address 0x\w{{16}}, syndrome 0x\w{{8}}, EL1", second
    )


def test_faults_that_the_emulator_does_not_make(faulty):
    """QEMU checks no stack pointer and sends no late bus error: what is printed of them."""
    calls = [f"report_fault({entry}, {syndrome}u, 0x1234567890, 0xabc, 3)" for entry, syndrome in REPORTED]
    run = faulty("; ".join(calls)).run(b"\0")
    assert run.printed[0] == "before"
    assert [row for row in run.printed[1:] if row] == [
        f"fault: {name}, instruction 0x0000001234567890, address 0x0000000000000abc, syndrome 0x{syndrome:08x}, EL3"
        for (_, syndrome), name in REPORTED.items()
    ]


@pytest.mark.parametrize("level", MACHINES)
def test_where_it_was(faulty, level):
    """At every exception level: the address, and the instruction as the ELF has it."""
    board = faulty(UNALIGNED)
    board.make()
    printed = board.run(b"\0", QEMU_FLAGS=MACHINES[level]).printed[1]
    instruction, address, syndrome = (int(word, 16) for word in re.findall(r"0x(\w+)", printed))
    assert printed.endswith(f", {level}")
    assert address % 8 == 1
    assert syndrome & 0x3F == 0x21
    assert re.search(rf"^ *{instruction:x}:\s+ldr\s+x0, \[x\d+\]", listing_of(board), re.MULTILINE)


def test_without_a_serial_port(faulty):
    """Nothing can be said then, but the code is right."""
    run = faulty("").run(b"\0", EXTRA=f"-DUART_ADDRESS={NOWHERE}")
    assert (run.code, run.printed) == (BAD_INPUT, [])


def test_a_stack_that_is_gone(faulty):
    code = f'__asm__ volatile("mov sp, %0\\n\\tstr x0, [sp]" : : "r"({NOWHERE}) : "memory")'
    run = faulty(code).run(b"\0")
    assert run.code == BAD_INPUT
    assert run.printed[1].startswith("fault: data access, ")
    assert f"address 0x{1 << 48:016x}" in run.printed[1]


def listing_of(board):
    return run(need("aarch64-linux-gnu-objdump"), "-d", "--no-show-raw-insn", board.elf)


def test_without_semihosting(boards):
    """Nothing asks a debugger that is not there: the core waits for ever."""
    listing = listing_of(boards(SEMIHOSTING="0"))
    body = listing.partition("<finish_at_once>:\n")[2].partition("\n\n")[0]
    assert [row.split("\t")[1] for row in body.splitlines()[:2]] == ["wfe", "b"]
    assert "\thlt\t" not in listing
    assert "\thlt\t#0xf000" in listing_of(boards())


@pytest.mark.parametrize("parked", [True, False])
def test_one_core(faulty, parked):
    """A second core that is let loose waits; it would not if `start.S` did not look which one it is."""
    board = faulty(SECOND_CORE)
    start = board.folder / "start.S"
    source = start.read_text(encoding="ascii")
    look = re.compile(r"^ +b\.ne +park .*\n", re.MULTILINE)
    assert len(look.findall(source)) == 1
    if not parked:
        start.write_text(look.sub("", source), encoding="ascii")
    try:
        run = board.run(b"\0")
    finally:
        start.write_text(source, encoding="ascii")
    assert run.printed[0].startswith("before core 0")
    assert ("core 1" in run.printed[0]) != parked
