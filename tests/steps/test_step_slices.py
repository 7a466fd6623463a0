"""Step `slices`: each kind of file is read back by a program that nobody here wrote, and what cannot be is refused."""

import json
import re
from fractions import Fraction

import numpy as np
import pytest
from gguf import GGUFReader
from projects import sha256
from required_tools import need, run
from tiny_model import write_tiny

from formats.ggml_types import GgmlType
from formats.gguf.writer import TensorToWrite
from formats.q25tokrt.image import open_image
from pipeline.firmware.truth import TYPES

STEPS = ("tokenizer", "ps_bundle", "runtime_image", "vocab_bin")
KINDS = ["bin", "updatemem", "readmemh", "coe", "hex", "dat"]
WIDTHS = (8, 32, 64, 128, 512)


@pytest.fixture
def build(project):
    """Give a function that writes slices of the tiny model; it gives the outcome."""

    def make(*, align=64, **files):
        steps = [step if step != "runtime_image" else {step: {"align": align}} for step in STEPS]
        project.write_manifest(steps=[*steps, {"slices": {"files": files}}])
        return project.run()

    make.out = project.out
    make.gguf = project.gguf
    make.read = lambda name: (project.out / "slices" / name).read_bytes()
    return make


def index_of(build):
    return {entry["name"]: entry for entry in json.loads(build.read("index.json"))}


TOKENS = "ps_bundle.token_index[8:40]"
"""Of 8 bytes each: whole words of every width."""


def words_of(data, width, order="little"):
    size = width // 8
    return [int.from_bytes(data[at : at + size], order) for at in range(0, len(data), size)]


BENCH = """
module bench;
    reg [{width}-1:0] memory [0:{count}-1];
    integer at;
    initial begin
        $readmemh("{file}", memory);
        for (at = 0; at < {count}; at = at + 1) $display("%h", memory[at]);
    end
endmodule
"""


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("width", WIDTHS)
def test_icarus_reads_every_word(build, tmp_path, width, order):
    build(rom={"path": TOKENS, "as": ["readmemh"], "width": width, "order": order}).done()
    data = (build.out / "token_index.bin").read_bytes()[64:320]
    count = len(data) * 8 // width
    file = build.out / "slices" / "rom.readmemh.mem"
    (tmp_path / "bench.v").write_text(BENCH.format(width=width, count=count, file=file))
    run(need("iverilog"), "-o", tmp_path / "bench", tmp_path / "bench.v")
    printed = run(tmp_path / "bench").split()
    assert [int(word, 16) for word in printed] == words_of(data, width, order)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("address", [0, 0x1FFF8, 0xFFFF_0000])
def test_objcopy_reads_the_intel_hex(build, tmp_path, width, address):
    build(
        rom={"path": "ps_bundle.token_index[0:256]", "as": ["hex"], "width": width, "address": address}
    ).done()
    objcopy = need("objcopy")
    file = build.out / "slices" / "rom.hex"
    run(objcopy, "-I", "ihex", "-O", "binary", file, tmp_path / "read.bin")
    assert (tmp_path / "read.bin").read_bytes() == (build.out / "token_index.bin").read_bytes()[:2048]
    run(objcopy, "-I", "ihex", "-O", "srec", "--srec-forceS3", file, tmp_path / "read.srec")
    first = next(line for line in (tmp_path / "read.srec").read_text().split() if line.startswith("S3"))
    assert int(first[4:12], 16) == address


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_other_texts_hold_the_same_words(build, width, order):
    build(rom={"path": TOKENS, "as": KINDS, "width": width, "order": order, "address": 0x400}).done()
    data = (build.out / "token_index.bin").read_bytes()[64:320]
    expected = words_of(data, width, order)
    digits = width // 4
    assert build.read("rom.bin") == data
    at, *words = build.read("rom.updatemem.mem").decode().split()
    assert at == "@00000400"
    assert [int(word, 16) for word in words] == expected
    assert {len(word) for word in words} == {digits}
    coe = re.sub(r"^;.*$", "", build.read("rom.coe").decode(), count=1, flags=re.MULTILINE)
    values = dict(re.findall(r"(\w+)\s*=\s*([^;]+);", coe))
    assert values["memory_initialization_radix"] == "16"
    assert [int(word, 16) for word in values["memory_initialization_vector"].split(",")] == expected
    assert [int(word, 0) for word in build.read("rom.dat").decode().split()] == expected


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_a_compiler_takes_the_c_array(build, tmp_path, width, order):
    build(rom={"path": TOKENS, "as": ["c"], "width": width, "order": order}).done()
    data = (build.out / "token_index.bin").read_bytes()[64:320]
    (tmp_path / "main.c").write_text(
        f'#include <stdio.h>\n#include "{build.out}/slices/rom.c"\n'
        "int main(void) { for (unsigned i = 0; i < sizeof rom / sizeof *rom; i++) "
        'printf("%llx\\n", (unsigned long long)rom[i]); return 0; }\n'
    )
    strict = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    run(need("gcc"), *strict, tmp_path / "main.c", "-o", tmp_path / "main")
    assert [int(word, 16) for word in run(tmp_path / "main").split()] == words_of(data, width, order)


def test_paths_lead_to_sections_tables_and_tensors(build):
    build(
        section={"path": "image.sections.merge_pair_index", "as": ["bin"]},
        rows={"path": "ps_bundle.merge_table[2:5]", "as": ["bin"]},
        entries={"path": "vocab_bin.entries[3:6]", "as": ["bin"], "width": 8},
        tensor={"path": "tensors/blk.0.q4_k.weight", "as": ["bin"]},
        blocks={"path": "tensors/blk.0.q8_0.weight[1:3]", "as": ["bin"], "width": 16},
    ).done()
    image = open_image((build.out / "q25_tokenizer.img").read_bytes())
    section = next(each for kind, each in image.sections.items() if kind.name == "MERGE_PAIR_INDEX")
    assert build.read("section.bin") == bytes(section.data)
    assert build.read("rows.bin") == (build.out / "merge_table_u32.bin").read_bytes()[32:80]
    tensors = {tensor.name: tensor.data.tobytes() for tensor in GGUFReader(build.gguf).tensors}
    assert build.read("tensor.bin") == tensors["blk.0.q4_k.weight"]
    assert build.read("blocks.bin") == tensors["blk.0.q8_0.weight"][34:102]
    found = index_of(build)
    assert found["section"]["offset"] == section.place.offset
    assert found["blocks"]["offset"] == 34
    for name, entry in found.items():
        data = build.read(f"{name}.bin")
        assert (entry["size"], entry["sha256"]) == (len(data), sha256(data))
    vocab = (build.out / "vocab.bin").read_bytes()
    assert vocab[found["entries"]["offset"] :].startswith(build.read("entries.bin"))
    assert build.read("entries.bin")[:4] == (3).to_bytes(4, "little")


def test_depth_and_padding(build):
    given = {"path": "ps_bundle.token_index[0:3]", "as": ["bin", "readmemh"], "width": 128, "fill": 0xEE}
    line = build(rom=given).refused(2)
    assert "files.rom.width: expected whole words of 16 bytes, found 24 bytes, 8 behind the last" in line
    build(rom={**given, "pad": "fill", "depth": 4}).done()
    data = (build.out / "token_index.bin").read_bytes()[:24]
    assert build.read("rom.bin") == data + b"\xee" * 40
    assert build.read("rom.readmemh.mem").split()[3] == b"ee" * 16
    assert (index_of(build)["rom"]["words"], index_of(build)["rom"]["padding"]) == (4, 40)
    line = build(rom={**given, "pad": "fill", "depth": 1}).refused(2)
    assert "files.rom.depth: expected at most 1 words, found 2" in line


def test_the_rules_of_a_bus(build):
    section = {"path": "image.sections.token_index", "as": ["bin"], "axi": {"width": 128, "max_burst": 16}}
    line = build(rom=section).refused(2)
    assert re.search(
        r"files\.rom\.axi: expected a start on a multiple of 256, so that no burst crosses 4 KiB, found 0x\w+ in "
        r"q25_tokenizer\.img; align it to more, or take shorter bursts",
        line,
    )
    build(align=4096, rom=section).done()
    odd = {"path": "ps_bundle.token_index[0:3]", "as": ["bin"], "axi": {"width": 128, "max_burst": 1}}
    assert "expected whole beats of 16 bytes, found 24 bytes" in build(rom=odd).refused(2)
    build(rom={**odd, "width": 128, "pad": "fill"}).done()
    # At an address of its own the offset in the file does not count.
    build(rom={**section, "address": 0x4000_0100}).done()
    line = build(rom={**section, "address": 0x4000_0140}).refused(2)
    assert "multiple of 256, so that no burst crosses 4 KiB, found 0x40000140 in `address`" in line
    wide = {**section, "axi": {"width": 1024, "max_burst": 64}}
    assert "expected bursts of at most 4096 bytes" in build(rom=wide).refused(2)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"path": "nothing.here"},
            "files.rom.path: expected a path that begins with image, ps_bundle.token_index",
        ),
        ({"path": "imagery"}, "files.rom.path: expected a path that begins with"),
        ({"path": "image.sections.none"}, "files.rom.path: path 'sections.none': sections has token_index"),
        ({"path": "ps_bundle.token_index[0:999999]"}, "expected rows inside 0:272"),
        ({"path": "ps_bundle.token_index[0:2].byte_offset"}, "expected whole rows, found a field of several"),
        ({"path": "ps_bundle.token_index[4:4]"}, "files.rom.path: expected at least a byte, found none"),
        (
            {"path": "tensors/blk.0.q8_0.wight"},
            "no tensor 'blk.0.q8_0.wight'; did you mean 'blk.0.q8_0.weight'?",
        ),
        ({"path": "tensors/blk.0.q8_0.weight[0:99]"}, "expected blocks inside 0:16"),
        ({"as": ["vhdl"]}, "files.rom.as[0]: expected bin, updatemem, readmemh, coe, hex, dat, c or truth"),
        ({"as": ["truth"]}, "Q5_K, Q6_K for truth, found token_index.bin"),
        ({"as": []}, "files.rom.as: expected a list of at least 1"),
        ({"as": ["bin", "bin"]}, "files.rom.as: expected each kind once"),
        ({"width": 12}, "files.rom.width: expected a width in bits that is a multiple of 8, from 8 to 512"),
        ({"width": 520}, "files.rom.width: expected a width in bits"),
        (
            {"as": ["c"], "width": 128},
            "files.rom.as: expected a width of 8, 16, 32 or 64 for a C array, found 128",
        ),
        (
            {"as": ["updatemem"], "address": 0x1002},
            "files.rom.as: expected an address on a multiple of a word's 4",
        ),
        ({"depth": 0}, "files.rom.depth: expected a whole number from 1 to 268435456"),
        (
            {"depth": 1 << 24, "width": 256},
            "files.rom.depth: expected a memory of at most 268435456 bytes, found 16777216 words of 256 bits",
        ),
        ({"as": ["hex"], "address": 0xFFFF_FF80}, "files.rom.as: expected addresses of 32 bits for hex"),
        (
            {"path": "image.sections.merge_pair_index", "as": ["c"], "depth": 20000},
            "expected at most 65536 bytes for a C array, found 80000",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_its_key(build, given, words):
    assert words in build(rom={"path": TOKENS, "as": ["bin"], **given}).refused(2)
    assert not list(build.out.glob("slices/*"))


def exact(kind, block):
    """Give the numbers of a block as fractions, from ggml's description of it: no rounding anywhere."""

    def half(at):
        return Fraction(float(np.frombuffer(block, "<f2", 1, at)[0]))

    if kind == "Q8_0":
        return [half(0) * each for each in np.frombuffer(block, np.int8, 32, 2).tolist()]
    if kind == "Q4_0":
        low, high = [byte & 15 for byte in block[2:]], [byte >> 4 for byte in block[2:]]
        return [half(0) * (each - 8) for each in low + high]
    if kind == "Q6_K":
        low, high, scales = block[:128], block[128:192], np.frombuffer(block, np.int8, 16, 192).tolist()
        values = []
        for at in range(256):
            part, row, column = at // 128, at % 128 // 32, at % 32
            nibble = low[part * 64 + row % 2 * 32 + column] >> (4 if row >= 2 else 0) & 15
            bits = high[part * 32 + column] >> 2 * row & 3
            values.append(half(208) * scales[at // 16] * ((nibble | bits << 4) - 32))
        return values
    packed = block[4:16]
    scales = [packed[at] & 63 for at in range(4)] + [
        packed[at + 8] & 15 | packed[at] >> 6 << 4 for at in range(4)
    ]
    mins = [packed[at + 4] & 63 for at in range(4)] + [
        packed[at + 8] >> 4 | packed[at + 4] >> 6 << 4 for at in range(4)
    ]
    quants = [block[16 + at // 64 * 32 + at % 32] >> (4 if at % 64 >= 32 else 0) & 15 for at in range(256)]
    return [half(0) * scales[at // 32] * q - half(2) * mins[at // 32] for at, q in enumerate(quants)]


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_0", "Q4_K", "Q6_K"])
def test_the_truth_is_within_its_tolerance_of_the_exact_numbers(build, kind):
    """And the tolerance is not idle: half of it is met too, as the text of it says."""
    type_ = GgmlType[kind]
    rng = np.random.default_rng(7)
    data = rng.integers(0, 256, (4, type_.block_bytes), dtype=np.uint8)
    halves = {"Q8_0": [0], "Q4_0": [0], "Q4_K": [0, 2], "Q6_K": [208]}[kind]
    for at in halves:
        data[:, at : at + 2] = rng.uniform(0.001, 2, (4, 1)).astype("<f2").view(np.uint8)
    body = [TensorToWrite("t", type_, (4 * type_.block_elements,), data.tobytes())]
    write_tiny(build.gguf, body=body)
    build(raw={"path": "tensors/t[1:4]", "as": ["dat", "truth"], "width": 8}).done()
    raw = bytes(int(word, 16) for word in build.read("raw.dat").split())
    assert raw == data[1:].tobytes()
    truth = index_of(build)["raw"]["truth"]
    values = [np.float32(line) for line in build.read("raw.truth.dat").decode().split()]
    wanted = [number for block in data[1:] for number in exact(kind, block.tobytes())]
    assert (truth["values"], truth["type"]) == (len(wanted), kind)
    assert len(values) == len(wanted)
    for found, number in zip(values, wanted, strict=True):
        assert abs(Fraction(float(found)) - number) <= Fraction(truth["relative_tolerance"]) / 2 * abs(number)


def test_every_type_with_a_truth_has_the_numbers_of_the_gguf_package(build):
    import gguf

    body = [
        TensorToWrite(
            kind.name, kind, (kind.block_elements * 2,), (bytes(range(1, 101)) * 6)[: 2 * kind.block_bytes]
        )
        for kind in TYPES
    ]
    write_tiny(build.gguf, body=body)
    build(
        **{
            f"s{at}": {"path": f"tensors/{each.name}", "as": ["truth"], "width": 8}
            for at, each in enumerate(body)
        }
    ).done()
    for at, each in enumerate(body):
        values = np.array(build.read(f"s{at}.truth.dat").decode().split(), dtype=np.float32)
        wanted = gguf.dequantize(
            np.frombuffer(each.data, dtype=np.uint8).view(
                {"F32": "<f4", "F16": "<f2"}.get(each.name, np.uint8)
            ),
            gguf.GGMLQuantizationType[each.name],
        )
        assert np.array_equal(values, wanted.reshape(-1).astype(np.float32), equal_nan=True), each.name


def test_no_slices_are_refused(project):
    project.write_manifest(steps=["slices"])
    assert "steps.slices: expected at least a slice in `files`, found none" in project.run().refused(2)
