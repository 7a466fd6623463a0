"""Step `firmware`: its parts are compiled, linked and run; what cannot be right is refused by its key."""

import hashlib
import itertools
import re
import shutil
import subprocess
import zlib

import pytest
from projects import Project
from required_tools import need, run
from tiny_model import write_tiny

from formats.q25tokrt.image import open_image

IMAGE = "q25_tokenizer.img"
TABLES = ("tokenizer", "ps_bundle", "runtime_image", "vocab_bin", "model_table")
MEMORY = {"ddr": {"address": 0x1000, "size": "1MiB"}, "high": {"address": 0x8_0000_0000, "size": "64KiB"}}


@pytest.fixture
def build(project):
    """Give a function that builds the tiny model with parameters of the step; it gives the folder of the parts."""

    def make(*, table=None, **parameters):
        steps = [step if step != "model_table" or not table else {step: table} for step in TABLES]
        project.write_manifest(steps=[*steps, {"firmware": parameters}])
        return project.run()

    make.project = project
    make.out = project.out
    return make


def macros(text):
    """Give the values of a header's macros that are one token."""
    return dict(re.findall(r"^#define (\w+) (\S+)$", text, re.MULTILINE))


def number(text):
    return int(re.sub(r"UINT64_C\((.*)\)|u$", r"\1", text), 0)


def test_the_header_says_what_the_files_are(build):
    load = {"vocab.bin": 0x8_0000_0040}
    build(link=[IMAGE, "model_table.bin"], load=load, memory=MEMORY).done()
    found = macros((build.out / "firmware/q25_assets.h").read_text())
    for name in (IMAGE, "model_table.bin", "vocab.bin"):
        data = (build.out / name).read_bytes()
        stem = name.replace(".", "_").upper()
        assert number(found[f"{stem}_SIZE"]) == len(data)
        assert number(found[f"{stem}_CRC32"]) == zlib.crc32(data)
        assert found[f"{stem}_SHA256"] == f'"{hashlib.sha256(data).hexdigest()}"'
    assert number(found["VOCAB_BIN_ADDRESS"]) == load["vocab.bin"]
    image = open_image((build.out / IMAGE).read_bytes())
    for kind, section in image.sections.items():
        stem = f"Q25_TOKENIZER_IMG_{kind.name}"
        assert number(found[f"{stem}_OFFSET"]) == section.place.offset
        assert number(found[f"{stem}_LENGTH"]) == len(section.data)
        assert number(found[f"{stem}_CRC32"]) == zlib.crc32(section.data)


PROGRAM = """
#include <stdio.h>
#include "q25_assets.h"
static const struct q25_assets_entry entries[] = Q25_ASSETS_ENTRIES;
int main(void) {
    static const unsigned char digest[] = Q25_TOKENIZER_IMG_SHA256_BYTES;
    const struct q25tokrt_header *header =
        (const struct q25tokrt_header *)(const void *)q25_tokenizer_img_start;
    for (unsigned i = 0; i < Q25_ASSETS_COUNT; i++) {
        printf("%s %d ", entries[i].name, (int)((uintptr_t)entries[i].start % 64));
        for (uint64_t at = 0; at < entries[i].size; at++) {
            printf("%02x", entries[i].start[at]);
        }
        printf("\\n");
    }
    for (unsigned i = 0; i < sizeof digest; i++) {
        printf("%02x", digest[i]);
    }
    printf(" %u\\n", header->section_count == Q25_TOKENIZER_IMG_SECTION_COUNT);
    return q25_tokenizer_img_end - q25_tokenizer_img_start != (long)Q25_TOKENIZER_IMG_SIZE;
}
"""


@pytest.mark.parametrize("compiler", ["gcc -std=c11", "g++ -x c++ -std=c++17", "clang -std=c11"])
def test_the_parts_compile_and_the_program_sees_the_files(build, tmp_path, compiler):
    build(link=["vocab.bin", IMAGE]).done()
    tool, *options = compiler.split()
    parts = build.out / "firmware"
    (tmp_path / "main.c").write_text(PROGRAM)
    folders = ("-I", parts, "-I", build.out)
    warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
    run(need(tool), *options, *warnings, *folders, "-c", tmp_path / "main.c", "-o", tmp_path / "main.o")
    source = parts / "q25_assets.S"
    run(need(tool), *folders, "-x", "assembler-with-cpp", "-c", source, "-o", tmp_path / "assets.o")
    run(need(tool), tmp_path / "main.o", tmp_path / "assets.o", "-o", tmp_path / "main")
    lines = run(tmp_path / "main").splitlines()
    images = {name: (build.out / name).read_bytes() for name in ("vocab.bin", IMAGE)}
    assert lines == [
        *(f"{name} 0 {data.hex()}" for name, data in images.items()),
        f"{hashlib.sha256(images[IMAGE]).hexdigest()} 1",
    ]


def test_the_linker_script_keeps_and_aligns_what_nobody_refers_to(build, tmp_path):
    build(name="tables", link=["vocab.bin", "token_bytes.bin", IMAGE], align=4096, fill=0xA5).done()
    parts = build.out / "firmware"
    gcc = need("aarch64-linux-gnu-gcc")
    (tmp_path / "start.c").write_text("void start(void) {}\n")
    (tmp_path / "link.ld").write_text(
        "ENTRY(start) SECTIONS { . = 0x100010; .text : { *(.text*) } "
        ".rodata : { INCLUDE tables.ld *(.rodata .rodata.*) } }\n"
    )
    elf = tmp_path / "a.elf"
    run(
        *(gcc, "-nostdlib", "-static", "-Wl,--gc-sections,--build-id=none", "-T", tmp_path / "link.ld"),
        *("-L", parts, "-I", build.out, tmp_path / "start.c", parts / "tables.S", "-o", elf),
    )
    rows = run(need("aarch64-linux-gnu-nm"), elf).splitlines()
    symbols = {name: (int(address, 16), kind) for address, kind, name in (row.split() for row in rows)}
    for name in ("vocab_bin", "token_bytes_bin", "q25_tokenizer_img"):
        address, kind = symbols[f"{name}_start"]
        assert (address % 4096, kind) == (0, "R")
        assert symbols[f"_binary_{name}_start"][0] == address
        assert symbols[f"{name}_size"][0] == symbols[f"{name}_end"][0] - address
    run(need("aarch64-linux-gnu-objcopy"), "-O", "binary", "-j", ".rodata", elf, tmp_path / "rodata")
    data = (tmp_path / "rodata").read_bytes()
    base = symbols["tables_start"][0]
    end = symbols["vocab_bin_end"][0] - base
    assert data[symbols["vocab_bin_start"][0] - base : end] == (build.out / "vocab.bin").read_bytes()
    assert set(data[end : -(-end // 4096) * 4096]) == {0xA5}
    assert symbols["tables_end"][0] % 4096 == 0


def test_an_image_of_wider_sections_is_aligned_as_they_are(project):
    project.write_manifest(steps=[*TABLES[:2], {"runtime_image": {"align": 4096}}, "firmware"])
    project.run().done()
    assert "    .balign 4096, 0x00\n" in (project.out / "firmware/q25_assets.S").read_text()
    project.write_manifest(
        steps=[
            *TABLES[:2],
            {"runtime_image": {"align": 4096}},
            {"firmware": {"link": [], "load": {IMAGE: 0x1040}, "memory": MEMORY}},
        ]
    )
    assert project.run().refused(2) == (
        "pipeline: step firmware: load.q25_tokenizer.img: expected an address that is a multiple of 4096, the image's "
        "section_align, found 0x1040"
    )


def test_two_folders_and_times_give_the_same_parts_and_a_second_run_touches_none(build, tmp_path_factory):
    build(link=[IMAGE], load={"vocab.bin": 0x2000}, memory=MEMORY).done()
    here = build.project
    other = Project(tmp_path_factory.mktemp("elsewhere") / "deep er", write=False)
    shutil.copytree(here.root, other.root, ignore=shutil.ignore_patterns("out"))
    other.run().done()
    assert here.contents() == other.contents()
    before = here.stamps()
    here.run("--force").done()
    assert {name: stamp for name, stamp in here.stamps().items() if name != "build.json"} == {
        name: stamp for name, stamp in before.items() if name != "build.json"
    }
    for name in here.names():
        if name.startswith("firmware/"):
            assert str(here.root) not in (here.out / name).read_text()


def test_a_changed_model_changes_the_assembly(build):
    build(link=["model_table.bin"]).done()
    before = build.project.contents()
    write_tiny(build.project.gguf, changes={"qwen2.embedding_length": (4, 8)})
    build.project.run().done()
    changed = {name for name, digest in build.project.contents().items() if digest != before.get(name)}
    assert {"firmware/q25_assets.S", "firmware/q25_assets.h"} <= changed


SHELL = """
setenv() { eval "$1='$2'"; }
load() {
    test -f "$BOOT/$4" || return 1
    filesize=$(printf %x $(wc -c <"$BOOT/$4"))
    printf '%s %s %s %s\\n' "$1" "$2" "$3" "$4" >>"$BOOT/log"
}
"""
"""What of U-Boot the script calls, for a POSIX shell, which its own resembles."""


def boot(out, script, tmp_path, **variables):
    text = SHELL + "".join(f"{name}={value}\n" for name, value in variables.items()) + script.read_text()
    path = tmp_path / "boot.sh"
    path.write_text(text + '\necho "loaded $q25_assets_loaded"\n')
    (out / "log").unlink(missing_ok=True)
    done = subprocess.run(
        ["sh", str(path)],
        check=False,
        env={"BOOT": str(out), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    log = (out / "log").read_text().splitlines() if (out / "log").exists() else []
    return done.returncode, done.stdout.splitlines(), log


def test_the_boot_script_loads_each_file_and_stops_at_a_wrong_one(build, tmp_path):
    load = {"vocab.bin": 0x8_0000_0000, "token_bytes.bin": 0x2000}
    build(link=[IMAGE], load=load, memory=MEMORY).done()
    script = build.out / "firmware/q25_assets.cmd"
    code, printed, log = boot(build.out, script, tmp_path)
    assert (code, printed[-1]) == (0, "loaded 1")
    assert log == ["mmc 0 0x800000000 vocab.bin", "mmc 0 0x2000 token_bytes.bin"]
    code, _, log = boot(build.out, script, tmp_path, devtype="usb", devnum="1")
    assert (code, log[0]) == (0, "usb 1 0x800000000 vocab.bin")
    size = (build.out / "vocab.bin").stat().st_size
    with (build.out / "vocab.bin").open("ab") as file:
        file.write(b"x")
    code, printed, log = boot(build.out, script, tmp_path)
    assert printed == [f"vocab.bin: expected 0x{size:x} bytes, found 0x{size + 1:x}", "loaded 0"]
    assert len(log) == 1
    (build.out / "vocab.bin").unlink()
    assert boot(build.out, script, tmp_path)[1:] == (["vocab.bin: not loaded", "loaded 0"], [])
    assert "exit" not in script.read_text()  # U-Boot's is not the shell's


def test_the_memory_map_lists_what_lies_where(build):
    reserved = {"program": {"address": 0x1000, "size": 0x1000}}
    build(link=[IMAGE], load={"vocab.bin": 0x2000}, memory=MEMORY, reserved=reserved).done()
    rows = [line.split() for line in (build.out / "firmware/q25_assets_map.txt").read_text().splitlines()]
    size = (build.out / "vocab.bin").stat().st_size
    assert rows[1:5] == [
        ["0x0000000000001000", "0x0000000000100fff", "1048576", "memory", "ddr"],
        ["0x0000000000001000", "0x0000000000001fff", "4096", "reserved", "program"],
        ["0x0000000000002000", f"0x{0x2000 + size - 1:016x}", str(size), "loaded", "vocab.bin"],
        ["0x0000000800000000", "0x000000080000ffff", "65536", "memory", "high"],
    ]
    assert rows[5][-2:] == ["linked", IMAGE]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"align": 48}, "steps.firmware.align: expected a power of two from 1 to 65536"),
        ({"fill": 256}, "steps.firmware.fill: expected a whole number from 0 to 255"),
        (
            {"name": "1st"},
            "steps.firmware.name: expected a name of letters, digits and _ that begins with a letter",
        ),
        ({"link": []}, "steps.firmware.link: expected a file in `link` or `load`, found none"),
        ({"link": [IMAGE, IMAGE]}, f"expected each file once, found {IMAGE} again"),
        ({"link": ["missing.bin"]}, "step firmware reads 'missing.bin', which no step writes"),
        ({"link": ["firmware/a.h"]}, "step firmware reads 'firmware/a.h', which is its own artifact"),
        ({"link": ["tokenizer.bin"]}, "step firmware reads tokenizer.bin, which step tokenizer_bin writes"),
        ({"load": {"vocab.bin": 0x2000}}, "expected a memory map to hold the address against, found none"),
        ({"load": {IMAGE: 0x2000}, "memory": MEMORY}, "expected a file that is not linked"),
        (
            {"load": {"vocab.bin": 0x2020}, "memory": MEMORY},
            "load.vocab.bin: expected an address that is a multiple of align 64, found 0x2020",
        ),
        (
            {"load": {"vocab.bin": 0x40}, "memory": MEMORY},
            "expected an address in the memory map ('ddr' (0x1000 to",
        ),
        (
            {
                "load": {"vocab.bin": 0x2000},
                "memory": MEMORY,
                "reserved": {"code": {"address": 0x2000, "size": 1}},
            },
            "expected an address outside of reserved 'code' (0x2000 to 0x2000), found 0x2000",
        ),
        (
            {"memory": {"a": {"address": 0, "size": 32}, "b": {"address": 31, "size": 4}}},
            "memory.b: expected regions side by side, found 'b' (0x1F to 0x22) over 'a' (0x0 to 0x1F)",
        ),
        (
            {"memory": {"a": {"address": 0xFFFFFFFFFFFFFFFF, "size": 2}}},
            "memory.a: expected an end inside 64 bits, found 0x10000000000000001",
        ),
        ({"memory": {"a": {"address": 0}}}, "steps.firmware.memory.a.size is missing"),
    ],
)
def test_what_cannot_be_right_is_refused_at_its_place(build, parameters, words):
    line = build(**parameters).refused(2)
    assert words in line
    assert re.match(r".*m\.yaml:\d+:\d+: ", line)
    assert not build.out.exists()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (
            {"load": {"vocab.bin": 0x8_0000_FFC0}, "memory": MEMORY},
            r"step firmware: load\.vocab\.bin: expected at most 64 bytes, to the end of 'high' \(.*\), found \d+ from",
        ),
        (
            {"load": {"vocab.bin": 0x2000, "token_index.bin": 0x2040}, "memory": MEMORY},
            r"load\.token_index\.bin: expected an address from 0x\w+ on, behind 'vocab\.bin' \(.*\), found 0x2040",
        ),
        (
            {
                "load": {"vocab.bin": 0x2000},
                "memory": MEMORY,
                "reserved": {"stack": {"address": 0x2100, "size": 16}},
            },
            r"expected an address outside of reserved 'stack' \(0x2100 to 0x210F\), found 0x2000 to 0x",
        ),
        (
            {"rom": 1024},
            r"rom: expected linked assets of at most 1024 bytes, found \d+, \d+ of them q25_tokenizer\.img",
        ),
    ],
)
def test_files_that_do_not_fit_stop_the_run_before_any_part_is_written(build, parameters, words):
    assert re.search(words, build(**parameters).refused(2))
    assert not list(build.out.glob("firmware/*"))


def test_the_room_for_linked_files_holds_to_the_byte(build):
    build().done()
    size = (build.out / IMAGE).stat().st_size
    build(rom=size).done()
    assert f"found {size}," in build(rom=size - 1).refused(2)


def test_names_that_are_one_in_c_are_refused(project):
    project.write_manifest(steps=["tensors", {"firmware": {"link": ["tensors/a.b.bin", "tensors/a_b.bin"]}}])
    line = project.run().refused(2)
    assert "expected a name of its own in C, found tensors_a_b_bin, as 'tensors/a.b.bin' has" in line


def test_a_payload_of_a_tensor_can_be_linked(project):
    name = "tensors/blk.0.q8_0.weight.bin"
    project.write_manifest(steps=["tensors", {"firmware": {"link": [name]}}])
    project.run().done()
    text = (project.out / "firmware/q25_assets.S").read_text()
    assert f'.incbin "{name}"' in text
    assert "tensors_blk_0_q8_0_weight_bin_start:" in text
    project.write_manifest(steps=["tensors", {"firmware": {"link": ["tensors/none.bin"]}}])
    assert "which step tensors did not write for this model" in project.run().refused(3)


def test_every_pair_of_regions_is_held_against_a_count_of_bytes():
    from pipeline.firmware.memory_map import Region

    for a, b, n, m in itertools.product(range(4), range(4), range(1, 4), range(1, 4)):
        first, second = Region("a", a, n), Region("b", b, m)
        shared = set(range(a, a + n)) & set(range(b, b + m))
        assert first.overlaps(second) == bool(shared)
        assert first.holds(second) == (len(shared) == m)
