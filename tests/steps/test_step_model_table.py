"""Step `model_table`: every field against the `gguf` package, the C form against a compiler, damage by its place."""

import random
import zlib

import pytest
from command_line import call
from gguf import GGUFReader
from required_tools import need, run
from tiny_model import write_tiny

from formats import model_table
from formats.errors import FormatError
from formats.gguf.value_types import ValueType
from formats.model_table import HEADER, HYPERPARAMETERS, TENSOR

DIMENSIONS = {
    "qwen2.block_count": (ValueType.UINT32, 24),
    "qwen2.attention.head_count": (ValueType.UINT32, 14),
    "qwen2.rope.freq_base": (ValueType.FLOAT32, 1e6),
}


@pytest.fixture
def build(project):
    """Give a function that builds the table with parameters; it gives the outcome."""

    def make(changes=None, **parameters):
        write_tiny(project.gguf, changes={**DIMENSIONS, **(changes or {})})
        project.write_manifest(steps=[{"model_table": parameters} if parameters else "model_table"])
        return project.run()

    make.out = project.out
    make.gguf = project.gguf
    return make


def read(build):
    return model_table.read((build.out / "model_table.bin").read_bytes())


@pytest.mark.parametrize("container", ["gguf", "pack"])
def test_each_tensor_is_where_the_table_says(build, container):
    build(container=container, align=128, fill=0xEE).done()
    table = read(build)
    payload = build.gguf if container == "gguf" else build.out / "tensors.pack"
    data = payload.read_bytes()
    assert table.header.container_bytes == len(data)
    reader = GGUFReader(build.gguf)
    assert [tensor.name for tensor in table.tensors] == [tensor.name for tensor in reader.tensors]
    covered = set()
    for tensor, known in zip(table.tensors, reader.tensors, strict=True):
        found = data[tensor.offset : tensor.offset + tensor.size]
        assert found == known.data.tobytes()
        assert tensor.crc32 == zlib.crc32(found)
        assert tensor.ne == tuple(int(count) for count in known.shape)
        assert int(tensor.type) == int(known.tensor_type)
        assert tensor.offset % table.header.align == 0
        covered |= set(range(tensor.offset, tensor.offset + tensor.size))
    if container == "pack":
        assert {data[at] for at in range(len(data)) if at not in covered} == {0xEE}
        assert len(data) % 128 == 0


def test_hyperparameters_are_those_of_the_gguf(build):
    build().done()
    found = read(build).header.hyperparameters
    assert bytes(found.architecture).rstrip(b"\0") == b"qwen2"
    assert (found.block_count, found.head_count, found.embedding_length) == (24, 14, 4)
    assert found.rope_freq_base == 1e6
    assert found.embedding_rows == 272
    assert found.context_length == 0


def test_a_dimension_that_is_a_list_is_named_and_zero(build):
    from formats.gguf.writer import ArrayToWrite

    heads = ArrayToWrite(ValueType.INT32, [4, 8])
    outcome = build({"qwen2.attention.head_count": (ValueType.ARRAY, heads)}).done()
    assert "warning: 'qwen2.attention.head_count' is" in outcome.out
    assert read(build).header.hyperparameters.head_count == 0


def test_globs_choose_the_tensors(build):
    build(include=["blk.*"], exclude=["*.f16.*"]).done()
    names = [tensor.name for tensor in read(build).tensors]
    assert names
    assert all(name.startswith("blk.") and ".f16." not in name for name in names)


PROGRAM = """
#include <stdio.h>
#include <string.h>
#include "model_table.h"
static unsigned char file[1 << 16];
int main(int argc, char **argv) {
    FILE *in = fopen(argv[argc - 1], "rb");
    size_t size = fread(file, 1, sizeof file, in);
    const struct model_table_header *header = (const void *)file;
    const struct model_table_tensor none = {.name = {0}};
    printf("%d%d%d%d\\n", size == header->total_bytes, header->n_tensors == MODEL_TENSORS,
           !memcmp(&header->hyperparameters, &model_hyperparameters, sizeof model_hyperparameters),
           !memcmp(file + header->header_bytes, model_tensors, MODEL_TENSORS * sizeof *model_tensors));
    return memcmp(&model_tensors[MODEL_TENSORS], &none, sizeof none) != 0;
}
"""


def test_the_c_form_has_the_bytes_of_the_table(build, tmp_path):
    build().done()
    (tmp_path / "main.c").write_text(PROGRAM)
    strict = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
    sources = (tmp_path / "main.c", build.out / "model_table.c")
    for compiler in ("gcc", "clang"):
        run(need(compiler), *strict, "-I", build.out, *sources, "-o", tmp_path / "main")
        assert run(tmp_path / "main", build.out / "model_table.bin") == "1111\n"


def test_every_flipped_byte_is_noticed(build):
    build().done()
    data = bytearray((build.out / "model_table.bin").read_bytes())
    for at in range(len(data)):
        data[at] ^= 1 << at % 8
        with pytest.raises(FormatError):
            model_table.read(bytes(data), "model_table.bin")
        data[at] ^= 1 << at % 8
    for size in random.Random(1).sample(range(len(data)), 50):
        with pytest.raises(FormatError):
            model_table.read(bytes(data[:size]))


def resealed(data):
    """Set the sum right again."""
    at = HEADER.offset_of("crc32")
    crc = zlib.crc32(data[HEADER.size :], zlib.crc32(data[:at]))
    return bytes(data[:at]) + crc.to_bytes(4, "little") + bytes(data[HEADER.size :])


@pytest.mark.parametrize(
    ("row", "field", "value", "words"),
    [
        (
            1,
            "offset",
            1,
            "tensors[1].offset at offset 0x1A8 (424): expected a multiple of align 32, found 0x1",
        ),
        (1, "offset", 0, "at least 0x"),
        (1, "offset", 1 << 40, "an end inside the container of"),
        (2, "size", 0, "the blocks of F16 that ne asks for"),
        (2, "type", 4, "tensors[2].type"),
        (2, "n_dims", 0, "expected 1 beyond the 0 dimensions"),
    ],
)
def test_a_table_that_lies_is_refused_by_field(build, row, field, value, words):
    build().done()
    data = bytearray((build.out / "model_table.bin").read_bytes())
    at = HEADER.size + row * TENSOR.size + TENSOR.offset_of(field)
    size = next(each.sizeof() for each in TENSOR.fields if each.name == field)
    data[at : at + size] = value.to_bytes(size, "little")
    with pytest.raises(FormatError) as refused:
        model_table.read(resealed(data))
    assert words in str(refused.value)


def test_verify_names_the_damage_and_dump_shows_the_fields(build):
    build().done()
    path = build.out / "model_table.bin"
    assert call("verify", build.out).done()
    shown = call("dump", path, "header.hyperparameters.head_count").done().out
    assert "14" in shown
    data = bytearray(path.read_bytes())
    data[HEADER.size + 3] ^= 1
    path.write_bytes(data)
    assert "header.crc32 at offset 0xBC (188)" in call("verify", path).err


def test_a_name_that_is_too_long_is_refused_until_it_is_left_out(project):
    from tiny_model import tensor

    name = "x" * 64
    write_tiny(project.gguf, body=[tensor("a"), tensor(name)])
    project.write_manifest(steps=["model_table"])
    assert "expected a name of at most 63 bytes, found 64; leave the tensor out" in project.run().refused(3)
    project.write_manifest(steps=[{"model_table": {"exclude": ["xx*"]}}])
    project.run().done()


def test_the_structs_are_aligned_as_c_does_it():
    assert HYPERPARAMETERS.size == 88
    for record in (HEADER, TENSOR):
        for field in record.fields:
            if field.sizeof() in (2, 4, 8):
                assert record.offset_of(field.name) % field.sizeof() == 0 or field.name.startswith("reserved")
        assert record.size % 64 == 0
