"""The library builds without a warning wherever it should, needs nothing, and stays small."""

from __future__ import annotations

import re
import shutil

import pytest
from c_programs import WARNINGS
from firmware_build import A53, HEADER, LIBRARY, SOURCE, STRICT
from required_tools import need, run

OPTIMIZATION = ["-O0", "-O2", "-O3", "-Os"]
NO_FAST, NO_COMPACT = "-DQ25_NL_NO_FAST", "-DQ25_NL_NO_COMPACT"
ALL, LEAST = "", f"{NO_FAST} {NO_COMPACT}"
TEXT_BYTES = {LEAST: 14_400, NO_FAST: 17_200, NO_COMPACT: 17_500, ALL: 20_300}
"""Of the A53 build, with everything."""
LINKED_TEXT_BYTES = {LEAST: 12_000, NO_FAST: 14_000, NO_COMPACT: 13_800, ALL: 15_800}
"""Of what is linked where an image is opened, and text encoded and decoded: without verification and fallback."""
TABLE_BYTES = 80_000
FRAME_BYTES = 600


def undefined(nm, obj):
    return run(need(nm), "-u", obj).split()


@pytest.mark.parametrize("level", OPTIMIZATION)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_host(workshop, compiler, level):
    obj = workshop.object(compiler, *STRICT, level)
    assert undefined("nm", obj) == []


@pytest.mark.parametrize(
    "flags",
    [
        *OPTIMIZATION,
        *(f"-O2 {left_out}" for left_out in (NO_FAST, NO_COMPACT, LEAST)),
        "-O2 -DQ25_NL_NO_CRC_INSTRUCTIONS",
        "-O2 -mgeneral-regs-only",
    ],
)
def test_cortex_a53(workshop, flags):
    """Without the instructions for checksums, and without vector registers, which bare metal may not enable."""
    obj = workshop.object("aarch64-linux-gnu-gcc", *STRICT, *A53, *flags.split())
    assert undefined("aarch64-linux-gnu-nm", obj) == []


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_cplusplus(workshop, compiler, standard):
    obj = workshop.object(compiler, "-x", "c++", f"-std={standard}", *WARNINGS, "-ffreestanding", "-O2")
    assert undefined("nm", obj) == []


@pytest.mark.parametrize("standard", ["c17", "gnu99"])
def test_newer_c(workshop, standard):
    workshop.object("gcc", f"-std={standard}", *WARNINGS, "-ffreestanding", "-O2")


def test_32_bits(workshop):
    """Sizes are not taken for 64 bits anywhere; clang has the compiler part for it on any machine."""
    obj = workshop.object("clang", *STRICT, "-O2", "--target=armv7a-none-eabi", "-mfloat-abi=soft")
    allowed = {
        "__aeabi_lmul",
        "__aeabi_uldivmod",
        "__aeabi_llsl",
        "__aeabi_llsr",
        "__aeabi_uidiv",
        "__aeabi_uidivmod",
    }
    assert set(undefined("nm", obj)) - {"U"} <= allowed  # arithmetic of the compiler's own library


def test_every_warning_of_clang(workshop):
    quiet = [
        "unsafe-buffer-usage", "declaration-after-statement", "padded", "cast-align", "cast-qual",
        "unreachable-code", "switch-enum", "c++98-compat-pedantic", "unknown-warning-option", "reserved-identifier",
    ]  # fmt: skip
    flags = ["-Weverything", *(f"-Wno-{name}" for name in quiet)]
    workshop.object("clang", "-std=c99", *flags, "-Werror", "-ffreestanding", "-O2")


def test_big_endian_machines_are_refused(workshop, tmp_path):
    if "aarch64_be" not in run(need("clang"), "--print-targets"):
        pytest.skip("this clang does not know a big-endian machine")
    import subprocess

    command = [need("clang"), "--target=aarch64_be-none-elf", "-ffreestanding", f"-I{LIBRARY}", "-c", SOURCE]
    done = subprocess.run([*command, "-o", tmp_path / "x.o"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "little-endian" in done.stderr


def sections(workshop, *flags):
    obj = workshop.object("aarch64-linux-gnu-gcc", *STRICT, *A53, "-O2", *flags)
    lines = run(need("aarch64-linux-gnu-size"), "-A", obj).splitlines()
    return {line.split()[0]: int(line.split()[1]) for line in lines if line.startswith(".")}


@pytest.mark.parametrize("flag", TEXT_BYTES)
def test_size(workshop, flag):
    sizes = sections(workshop, *flag.split())
    text = sum(size for name, size in sizes.items() if name.startswith(".text"))
    tables = sum(size for name, size in sizes.items() if name.startswith(".rodata"))
    assert 4_000 < text <= TEXT_BYTES[flag]
    assert 30_000 < tables <= TABLE_BYTES
    assert sum(size for name, size in sizes.items() if name.startswith((".data", ".bss"))) == 0


CALLER = """
#include "q25_nl_tokenizer.h"
const void *volatile used[5];
void start(void);
void start(void)
{
    used[0] = (const void *)(uintptr_t)q25_nl_tokenizer_runtime_image_open;
    used[1] = (const void *)(uintptr_t)q25_nl_tokenizer_bundle_encode_bpe_bounded;
    used[2] = (const void *)(uintptr_t)q25_nl_tokenizer_bundle_detokenize;
    used[3] = (const void *)(uintptr_t)q25_nl_tokenizer_stream_id;
    used[4] = (const void *)(uintptr_t)q25_nl_tokenizer_stream_finish;
}
"""


@pytest.mark.parametrize("flag", LINKED_TEXT_BYTES)
def test_size_of_what_is_linked(workshop, tmp_path, flag):
    source = tmp_path / "caller.c"
    source.write_text(CALLER, encoding="ascii")
    flags = (
        "-ffunction-sections",
        "-fdata-sections",
        "-nostdlib",
        "-static",
        "-Wl,--gc-sections",
        "-Wl,-e,start",
    )
    program = workshop.program(
        "aarch64-linux-gnu-gcc", *STRICT, *A53, "-O2", *flag.split(), *flags, sources=(source, SOURCE)
    )
    lines = run(need("aarch64-linux-gnu-size"), "-A", program).splitlines()
    (text,) = (int(line.split()[1]) for line in lines if line.startswith(".text"))
    assert 4_000 < text <= LINKED_TEXT_BYTES[flag]


@pytest.mark.parametrize("compiler", ["gcc", "aarch64-linux-gnu-gcc"])
def test_stack_frames(workshop, compiler, tmp_path):
    """No frame is large, and each is known when the library is built: no recursion, no array of unknown size."""
    source = shutil.copy(SOURCE, tmp_path)
    flags = A53 if "aarch64" in compiler else ()
    run(need(compiler), *STRICT, *flags, "-O2", "-fstack-usage", f"-I{LIBRARY}", "-c", source, cwd=tmp_path)
    lines = (tmp_path / "q25_nl_tokenizer.su").read_text(encoding="ascii").splitlines()
    frames = [line.split("\t")[1:] for line in lines]
    assert len(frames) > 20
    assert {kind for _, kind in frames} == {"static"}
    assert max(int(size) for size, _ in frames) <= FRAME_BYTES


def test_no_variables(workshop):
    obj = workshop.object("gcc", *STRICT, "-O2")
    kinds = {line.split()[-2] for line in run(need("nm"), obj).splitlines()}
    assert kinds <= {"T", "t", "r", "R"}


def test_only_two_headers_are_needed():
    found = set()
    for path in (HEADER, SOURCE):
        found |= set(re.findall(r"#include [<\"](.*)[>\"]", path.read_text(encoding="ascii")))
    assert found == {
        "stddef.h",
        "stdint.h",
        "arm_acle.h",
        "q25_nl_tokenizer.h",
        "q25_nl_tokenizer_tables.inc",
    }


def test_lines_are_short():
    for path in (HEADER, SOURCE):
        for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
            assert len(line) <= 110, f"{path.name}:{number}"
            assert line == line.rstrip(), f"{path.name}:{number}"
            assert "\t" not in line, f"{path.name}:{number}"
