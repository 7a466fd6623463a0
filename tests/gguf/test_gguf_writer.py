"""The writer, held to the bytes that the `gguf` package's own writer makes."""

import io

import gguf
import numpy as np
import pytest

from formats.byte_strings import ByteStrings
from formats.errors import FormatError
from formats.ggml_types import GgmlType
from formats.gguf.value_types import ValueType as V
from formats.gguf.writer import ArrayToWrite, TensorToWrite, write_gguf

SCALARS = [
    ("a.u8", V.UINT8, 255),
    ("a.i8", V.INT8, -128),
    ("a.u16", V.UINT16, 65535),
    ("a.i16", V.INT16, -32768),
    ("a.u32", V.UINT32, 2**32 - 1),
    ("a.i32", V.INT32, -(2**31)),
    ("a.u64", V.UINT64, 2**64 - 1),
    ("a.i64", V.INT64, -(2**63)),
    ("a.f32", V.FLOAT32, 0.1),
    ("a.f64", V.FLOAT64, 0.1),
    ("a.bool", V.BOOL, True),
    ("a.string", V.STRING, "näme"),
]


def written(key_values=(), tensors=(), **options):
    stream = io.BytesIO()
    write_gguf(stream, list(key_values), list(tensors), **options)
    return stream.getvalue()


def refusal(*args, **options):
    stream = io.BytesIO()
    with pytest.raises(FormatError) as caught:
        write_gguf(stream, *args, **options)
    return str(caught.value), stream.getvalue()


def by_package(path, key_values, tensors, alignment=None):
    writer = gguf.GGUFWriter(path, "qwen2")
    for key, kind, value in key_values:
        if isinstance(value, ArrayToWrite):
            writer.add_key_value(
                key, value.values, gguf.GGUFValueType.ARRAY, sub_type=gguf.GGUFValueType(value.element_type)
            )
        else:
            writer.add_key_value(key, value, gguf.GGUFValueType(kind))
    if alignment:
        writer.add_custom_alignment(alignment)
    for name, array in tensors:
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


@pytest.mark.parametrize("alignment", [None, 8, 16, 64])
def test_the_bytes_are_those_of_the_package(tmp_path, alignment):
    arrays = [
        ("b.i32", V.ARRAY, ArrayToWrite(V.INT32, [1, -2, 3])),
        ("b.f32", V.ARRAY, ArrayToWrite(V.FLOAT32, [0.5, -1.0])),
        ("b.bool", V.ARRAY, ArrayToWrite(V.BOOL, [True, False])),
        ("b.string", V.ARRAY, ArrayToWrite(V.STRING, ["a", "", "Ġb"])),
    ]
    ramp = np.arange(6, dtype=np.float32).reshape(2, 3)
    halves = np.arange(5, dtype=np.float16)
    expected = by_package(
        tmp_path / "a.gguf", [*SCALARS, *arrays], [("ramp", ramp), ("halves", halves)], alignment
    )
    stated = [("general.alignment", V.UINT32, alignment)] if alignment else []
    got = written(
        [("general.architecture", V.STRING, "qwen2"), *SCALARS, *arrays, *stated],
        [
            TensorToWrite("ramp", GgmlType.F32, (3, 2), ramp),
            TensorToWrite("halves", GgmlType.F16, (5,), halves.tobytes),
        ],
        alignment=alignment or 32,
    )
    assert got.hex(" ", 4) == expected.hex(" ", 4)


def test_a_small_file_byte_for_byte():
    tensor = TensorToWrite("t", GgmlType.I8, (2,), b"\x07\x09")
    assert written([("kk", V.BOOL, True)], [tensor], alignment=8, version=2) == bytes.fromhex(
        # magic, version, one tensor, two keys
        "47475546 02000000 0100000000000000 0200000000000000"
        # "kk", bool, true; "general.alignment", u32, 8
        "0200000000000000 6B6B 07000000 01"
        "1100000000000000 67656E6572616C2E616C69676E6D656E74 04000000 08000000"
        # "t", one dimension of 2, type 24, offset 0; padding from 105 to 112
        "0100000000000000 74 01000000 0200000000000000 18000000 0000000000000000 00000000000000"
        # the data, padded
        "0709 000000000000"
    )


def test_without_tensors_nothing_follows_the_metadata():
    assert len(written([("k", V.UINT8, 1)])) == 24 + 8 + 1 + 4 + 1


@pytest.mark.parametrize(
    "texts", [["a", "", "Ġb"], [b"a", b"", "Ġb".encode()], ByteStrings.from_list([b"a", b"", "Ġb".encode()])]
)
def test_strings_come_as_text_bytes_or_columns(texts):
    array = ("s", V.ARRAY, ArrayToWrite(V.STRING, texts))
    tail = bytes.fromhex(
        "08000000 0300000000000000 0100000000000000 61 0000000000000000 0300000000000000 C4A062"
    )
    assert written([array]).endswith(tail)


def test_bytes_that_are_no_text_are_kept():
    assert written([("s", V.STRING, b"\xff\x00")]).endswith(b"\x02\0\0\0\0\0\0\0\xff\x00")


@pytest.mark.parametrize("kind", [kind for kind in V if kind is not V.ARRAY], ids=lambda kind: kind.label)
def test_an_empty_array_of_each_type(kind):
    array = written([("e", V.ARRAY, ArrayToWrite(kind, []))])
    assert array.endswith(bytes([9, 0, 0, 0, kind, 0, 0, 0]) + bytes(8))


def test_a_key_may_state_the_alignment_itself():
    stated = written([("general.alignment", V.UINT32, 64), ("k", V.UINT8, 1)], alignment=64)
    assert stated == written([("general.alignment", V.UINT32, 64), ("k", V.UINT8, 1)], alignment=64)
    assert stated.count(b"general.alignment") == 1


def one(kind, value):
    return [("k", kind, value)]


def many(kind, values):
    return [("k", V.ARRAY, ArrayToWrite(kind, values))]


@pytest.mark.parametrize(
    ("key_values", "message"),
    [
        (one(V.UINT8, 256), "key 'k': expected 0 to 255 (u8), found 256"),
        (one(V.UINT32, -1), "key 'k': expected 0 to 4294967295 (u32), found -1"),
        (one(V.UINT32, 1.5), "key 'k': expected a value of type u32, found 1.5"),
        (one(V.UINT32, True), "key 'k': expected a value of type u32, found True"),
        (one(V.BOOL, 1), "key 'k': expected a value of type bool, found 1"),
        (one(V.FLOAT32, 1e39), "key 'k': expected a value in the range of f32, found 1e+39"),
        (one(V.STRING, 5), "key 'k': expected a string, found int"),
        (one(V.STRING, "\ud800"), r"key 'k': expected text that UTF-8 can hold, found '\ud800'"),
        (one(V.ARRAY, 5), "key 'k': expected a value of type array, found int"),
        (one(V.UINT8, ArrayToWrite(V.UINT8, [])), "key 'k': expected a value of type u8, found ArrayToWrite"),
        (many(V.INT8, [1, -129]), "key 'k'[1]: expected -128 to 127 (i8), found -129"),
        (
            many(V.INT64, [0, 2**63]),
            (
                "key 'k'[1]: expected -9223372036854775808 to 9223372036854775807 (i64), "
                "found 9223372036854775808"
            ),
        ),
        (
            many(V.UINT64, [2**64]),
            "key 'k'[0]: expected 0 to 18446744073709551615 (u64), found 18446744073709551616",
        ),
        (
            many(V.FLOAT32, [1.0, float("inf"), -1e300]),
            ("key 'k'[2]: expected a value in the range of f32, found -1e+300"),
        ),
        (many(V.INT32, ["a"]), "key 'k'[0]: expected a value of type i32, found 'a'"),
        (
            many(V.INT32, np.zeros((1, 1), dtype=np.int32)),
            "key 'k': expected a row of values of type i32, found shape (1, 1)",
        ),
        (many(V.INT32, ByteStrings.from_list([])), "key 'k': expected elements of type i32, found strings"),
        (many(V.STRING, ["a", 7]), "key 'k'[1]: expected a string, found int"),
        (
            many(V.ARRAY, []),
            "key 'k': expected an array of another type than array, found an array of arrays",
        ),
        (many(V.FLOAT64, [1, True]), "key 'k'[1]: expected a value of type f64, found True"),
        ([("", V.UINT8, 1)], "key '': expected a key of 1 to 65535 bytes, found 0 bytes"),
        (
            [("é" * 32768, V.UINT8, 1)],
            (
                f"key {'é' * 80!r}... (32768 characters): expected a key of 1 to 65535 "
                "bytes, found 65536 bytes"
            ),
        ),
        ([*one(V.UINT8, 1), *one(V.INT8, 1)], "key 'k': expected each key once, found a second one"),
    ],
)
def test_values_that_do_not_fit_are_refused(key_values, message):
    assert refusal(key_values) == (message, b"")


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        (
            [("a\0b", GgmlType.F32, (1,))],
            r"tensor 'a\x00b': expected a name without NUL, found 'a\x00b'",
        ),
        ([("a", GgmlType.F32, (1,) * 5)], "tensor 'a': expected at most 4 dimensions, found 5"),
        (
            [("a", GgmlType.Q8_0, (33, 2))],
            ("tensor 'a'.ne[0]: expected rows of whole blocks, 32 elements each in Q8_0, found a row of 33"),
        ),
        (
            [("a", GgmlType.F32, (2**32, 2**31))],
            (
                "tensor 'a'.ne: expected fewer than 2^63 elements, found "
                "4294967296 x 2147483648 = 9223372036854775808"
            ),
        ),
        (
            [("a", GgmlType.F32, (0,)), ("a", GgmlType.F32, (0,))],
            ("tensor 'a': expected each name once, found a second one"),
        ),
    ],
)
def test_tensors_that_readers_would_refuse_are_refused(tensors, message):
    assert refusal([], [TensorToWrite(*tensor, b"") for tensor in tensors]) == (message, b"")


def test_data_must_have_the_size_of_its_shape():
    tensor = TensorToWrite("a", GgmlType.F16, (3,), lambda: b"12345")
    assert refusal([], [tensor])[0] == "tensor 'a': expected 6 bytes of data, found 5"


@pytest.mark.parametrize("alignment", [0, 48, -8, 2**32])
def test_the_alignment_is_a_power_of_two(alignment):
    assert refusal([], alignment=alignment)[0] == (
        f"alignment: expected a power of two below 2^32, found {alignment}"
    )


def test_a_stated_alignment_must_agree():
    assert refusal([("general.alignment", V.UINT64, 64)], alignment=64)[0] == (
        "key 'general.alignment': expected u32 64, as asked for, found u64 64"
    )
