"""CMake with Ninja and Make, and plain Make: what runs again, and what does not."""

import os
import re
import shutil
import time

import pytest
from bpe_oracle import Oracle
from bpe_vocabulary import qwen_tables
from build_trees import ASSETS, LINK, TOOLS, Tree
from projects import contents
from required_tools import need, run
from tiny_model import tensors, write_tiny

from formats.gguf.value_types import ValueType
from formats.q25tokrt.image import open_image

DEPENDS_ON_ASSETS = {ASSETS, "q25_assets.S", "self_check.c", LINK}


def later(path):
    """Give a file a new time, as an editor does that saves what was there."""
    now = time.time_ns()
    os.utime(path, ns=(now, now))


@pytest.mark.parametrize("tree", TOOLS, indirect=True)
def test_a_tree_from_its_first_build_on(tree):
    """One after the other on one tree: the first build is what takes long."""
    first = tree.build()
    assert first > DEPENDS_ON_ASSETS | {"model_table.c", "main.c", "start.S", "q25_nl_tokenizer.c"}
    code, log = tree.attempt()
    assert code == 0
    if tree.tool == "ninja":
        assert "ninja: no work to do." in log
    assert tree.build() == set()
    check_what_a_change_makes(tree)
    if tree.tool != "cmake-make":  # its rules do not name by-products; docs/vitis_petalinux.md says so
        check_parts_that_were_removed(tree)
    check_runs_that_fail(tree)
    if tree.tool == "ninja":
        check_a_flipped_byte_on_the_board(tree)


def check_what_a_change_makes(tree):
    later(tree.manifest)
    assert tree.build() == {ASSETS}  # the artifacts are as before
    assert tree.build() == set()
    later(tree.gguf)
    assert tree.build() == {ASSETS}
    source = tree.root / "formats" / "errors.py"
    source.write_text(source.read_text() + "# another version\n")
    assert tree.build() == {ASSETS}
    assert tree.build() == set()

    write_tiny(tree.gguf, changes={"qwen2.block_count": (ValueType.UINT32, 2)})
    assert tree.build() == DEPENDS_ON_ASSETS | {"model_table.c"}
    tree.manifest.write_text(
        tree.manifest.read_text().replace("- runtime_image", "- runtime_image: {align: 4096}")
    )
    assert tree.build() == DEPENDS_ON_ASSETS
    assert tree.build() == set()
    later(tree.example / "main.c")
    assert tree.build() == {"main.c", LINK}


def check_parts_that_were_removed(tree):
    parts = contents(tree.assets / "firmware")
    shutil.rmtree(tree.assets / "firmware")
    (tree.assets / "model_table.c").unlink()
    assert tree.build() >= {ASSETS, "q25_assets.S", "model_table.c", LINK}
    assert contents(tree.assets / "firmware") == parts
    assert tree.build() == set()


def check_runs_that_fail(tree):
    """Each fails the build, with its one line, and is not taken for done."""
    good = tree.gguf.read_bytes()
    before = tree.elf.read_bytes()
    tree.gguf.write_bytes(good[:100])
    for _ in range(2):
        code, log = tree.attempt()
        assert code != 0
        (line,) = re.findall(r"^pipeline: .*", log, re.MULTILINE)
        assert "tiny.gguf: " in line
        assert "Traceback" not in log
    assert tree.elf.read_bytes() == before
    tree.gguf.write_bytes(good)
    assert LINK not in tree.build()
    assert tree.build() == set()
    manifest = tree.manifest.read_text()
    tree.manifest.write_text(manifest.replace("link: [", "links: ["))
    code, log = tree.attempt()
    assert code != 0
    assert re.search(r"manifest\.yaml:\d+:\d+: .*unknown key 'links'; did you mean 'link'\?", log)
    tree.manifest.write_text(manifest)
    assert tree.build() == {ASSETS}


def check_a_flipped_byte_on_the_board(tree):
    need("qemu-system-aarch64")
    code, log = tree.attempt("run")
    assert code == 0, log
    assert "image: 6 sections hold" in log
    assert re.search(r"model: 8 tensors of \d+ bytes hold, 0x0800000000 to 0x08", log)
    assert "3 assets hold" in log
    assert "11 lines, " in log
    assert ", 0 failed" in log
    pack = tree.assets / "tensors.pack"
    data = bytearray(pack.read_bytes())
    offset = data.index(next(made.data for made in tensors() if made.name == "blk.0.q5_0.weight"))
    data[offset + 17] ^= 0x20
    flipped = pack.with_name("flipped.pack")
    flipped.write_bytes(data)
    pack.unlink()
    pack.symlink_to(flipped.name)  # the build does not look at it: only the board does
    code, log = tree.attempt("run")
    assert code != 0
    address = 0x8_0000_0000 + offset
    assert re.search(
        rf"tensor blk\.0\.q5_0\.weight at 0x{address:010x}: expected CRC-32 0x\w{{8}}, found 0x\w{{8}}", log
    ), log
    assert "lines" not in log.partition("tensor blk")[2]


def test_the_sample_linked_in_gives_the_references_ids(tmp_path, sample_cache, qwen_base):
    need("qemu-system-aarch64")
    tree = Tree(tmp_path / "tree", "make", sample_cache, sample="qwen2.5")
    tree.build()
    code, log = tree.attempt("run")
    assert code == 0, log
    image = (tree.assets / "q25_tokenizer.img").read_bytes()
    reference = Oracle(qwen_tables(*qwen_base, "qwen2.5"))
    lines = (tree.root / "examples/bare_metal_a53/lines.txt").read_text("utf-8").split("\n")[:-1]
    printed = dict(re.findall(r"^(\d+):((?: \d+)*)\s*$", log, re.MULTILINE))
    assert {number: [int(word) for word in ids.split()] for number, ids in printed.items()} == {
        str(number): list(reference.encode(line)) for number, line in enumerate(lines, 1)
    }

    # The symbols, the section and the header's offsets.
    rows = run(need("aarch64-linux-gnu-nm"), tree.elf).splitlines()
    symbols = {name: (int(address, 16), kind) for address, kind, name in (row.split() for row in rows)}
    start, kind = symbols["q25_tokenizer_img_start"]
    assert (start % 64, kind) == (0, "R")
    headers = run(need("aarch64-linux-gnu-objdump"), "-h", "-w", tree.elf).splitlines()
    (rodata,) = [line for line in headers if ".rodata" in line]
    assert "READONLY, DATA" in rodata
    address, offset = int(rodata.split()[3], 16), int(rodata.split()[5], 16)
    at = offset + start - address
    assert tree.elf.read_bytes()[at : at + len(image)] == image
    header = (tree.assets / "firmware/q25_assets.h").read_text()
    for kind, section in open_image(image).sections.items():
        assert f"_{kind.name}_OFFSET 0x{section.place.offset:X}u\n" in header
