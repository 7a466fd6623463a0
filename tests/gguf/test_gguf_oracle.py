"""The reader against `gguf.GGUFReader`, on files that the package's own writer makes."""

import gguf
import numpy as np
import pytest

from formats.byte_strings import ByteStrings
from formats.gguf import GgufFile, ValueType

SCALARS = {
    "UINT8": 255,
    "INT8": -128,
    "UINT16": 65535,
    "INT16": -32768,
    "UINT32": 2**32 - 1,
    "INT32": -(2**31),
    "FLOAT32": 0.10000000149011612,
    "BOOL": True,
    "STRING": "Ġnäme\n",
    "UINT64": 2**64 - 1,
    "INT64": -(2**63),
    "FLOAT64": 0.1,
}
SIZES = {kind: size for kind, size in gguf.GGML_QUANT_SIZES.items() if kind.name != "Q8_1"}


def package_file(path, fill, version=3):
    writer = gguf.GGUFWriter(path, "qwen2")
    fill(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    data = bytearray(path.read_bytes())
    data[4] = version
    path.write_bytes(data)
    return path


def plain(value):
    """Turn a value of ours into what the package's reader gives."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, ByteStrings):
        return [item.decode() for item in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def assert_same(path):
    package = gguf.GGUFReader(path)
    with GgufFile.open(path) as ours:
        fields = {key: field for key, field in package.fields.items() if not key.startswith("GGUF.")}
        assert list(ours.key_values) == list(fields)
        for key, field in fields.items():
            value = ours.key_values[key]
            assert plain(value.value) == field.contents()
            assert value.type == field.types[0]
            assert value.element_type == (field.types[-1] if len(field.types) > 1 else None)
            assert value.place.offset == field.offset
        assert ours.alignment == package.alignment
        assert ours.data_offset == package.data_offset
        assert ours.version == package.fields["GGUF.version"].parts[0][0]
        assert [t.name for t in ours.tensors] == [t.name for t in package.tensors]
        for mine, theirs in zip(ours.tensors, package.tensors, strict=True):
            assert mine.type_id == theirs.tensor_type
            assert mine.ne == tuple(theirs.shape.tolist())
            assert mine.n_elements == theirs.n_elements
            assert mine.size == theirs.n_bytes
            assert mine.absolute_offset == theirs.data_offset
            assert mine.entry_offset == theirs.field.offset
            assert bytes(ours.data_of(mine)) == theirs.data.tobytes()
        assert ours.warnings == ()


@pytest.mark.parametrize("version", [2, 3])
def test_every_type_of_value(tmp_path, version):
    def fill(writer):
        for name, value in SCALARS.items():
            writer.add_key_value(f"one.{name}", value, gguf.GGUFValueType[name])
            for count in (1, 3):
                writer.add_key_value(
                    f"array.{name}.{count}",
                    [value] * count,
                    gguf.GGUFValueType.ARRAY,
                    sub_type=gguf.GGUFValueType[name],
                )

    path = package_file(tmp_path / "a.gguf", fill, version)
    assert_same(path)
    with GgufFile.open(path) as ours:
        assert {value.element_type for value in ours.key_values.values()} == {None, *ValueType} - {9}


@pytest.mark.parametrize("kind", SIZES, ids=lambda kind: kind.name)
def test_every_type_of_tensor(tmp_path, kind):
    elements, size = SIZES[kind]

    def fill(writer):
        for index, rows in enumerate((3, 5)):
            blocks = np.arange(rows * 2 * size, dtype=np.uint32).astype(np.uint8).reshape(rows, 2 * size)
            writer.add_tensor(f"t{index}", blocks, raw_shape=(rows, 2 * size), raw_dtype=kind)

    path = package_file(tmp_path / "a.gguf", fill)
    assert_same(path)
    with GgufFile.open(path) as ours:
        assert [(t.type_label, t.ne, t.shape) for t in ours.tensors] == [
            (kind.name, (2 * elements, 3), (3, 2 * elements)),
            (kind.name, (2 * elements, 5), (5, 2 * elements)),
        ]


@pytest.mark.parametrize("alignment", [1, 2, 8, 16, 32, 64, 4096])
def test_every_alignment(tmp_path, alignment):
    def fill(writer):
        writer.add_custom_alignment(alignment)
        for index in range(4):
            writer.add_tensor(f"t{index}", np.arange(index + 1, dtype=np.float32))

    assert_same(package_file(tmp_path / "a.gguf", fill))


def test_a_ramp_of_three_by_two(tmp_path):
    ramp = np.arange(6, dtype=np.float32).reshape(2, 3)
    path = package_file(tmp_path / "a.gguf", lambda writer: writer.add_tensor("ramp", ramp))
    with GgufFile.open(path) as model:
        (tensor,) = model.tensors
        assert (tensor.ne, tensor.shape, tensor.size) == ((3, 2), (2, 3), 24)
        assert np.frombuffer(model.data_of(tensor), "<f4").tolist() == [0, 1, 2, 3, 4, 5]
