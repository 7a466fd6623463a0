"""What a GGUF holds as plain values: every type, numbers that JSON lacks, long arrays, odd bytes."""

import hashlib
import io
import json
import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.ggml_types import GgmlType
from formats.gguf.reader import GgufFile
from formats.gguf.value_types import ValueType
from formats.gguf.writer import ArrayToWrite, TensorToWrite, write_gguf
from pipeline.inspection import SHOWN_ELEMENTS, count, describe_gguf
from pipeline.text_output import json_document

V = ValueType


def described(*pairs, tensors=()):
    stream = io.BytesIO()
    write_gguf(stream, pairs, tensors)
    found = describe_gguf(GgufFile(stream.getvalue(), "t.gguf"))
    assert json.loads(json_document(found)) == found
    return found


def value_of(kind, value):
    return described(("k", kind, value))["key_values"]["k"]


@pytest.mark.parametrize(
    ("kind", "value", "label"),
    [
        (V.UINT8, 255, "u8"), (V.INT8, -128, "i8"), (V.UINT16, 65_535, "u16"), (V.INT16, -32_768, "i16"),
        (V.UINT32, 2**32 - 1, "u32"), (V.INT32, -(2**31), "i32"), (V.UINT64, 2**64 - 1, "u64"),
        (V.INT64, -(2**63), "i64"), (V.BOOL, True, "bool"), (V.BOOL, False, "bool"),
        (V.FLOAT32, 1.5, "f32"), (V.FLOAT64, 0.1, "f64"), (V.STRING, "é\n\x1b", "string"), (V.STRING, "", "string"),
    ],
)  # fmt: skip
def test_every_type_alone_and_in_an_array(kind, value, label):
    alone = value_of(kind, value)
    assert alone == {"type": label, "value": value}
    assert type(alone["value"]) is type(value)
    many = value_of(V.ARRAY, ArrayToWrite(kind, [value, value]))
    assert many == {"type": f"array of {label}", "count": 2, "value": [value, value]}
    assert {type(element) for element in many["value"]} == {type(value)}
    assert value_of(V.ARRAY, ArrayToWrite(kind, [])) == {"type": f"array of {label}", "count": 0, "value": []}


@pytest.mark.parametrize(
    ("value", "words"), [(math.inf, "inf"), (-math.inf, "-inf"), (math.nan, "nan"), (-0.0, -0.0), (0.0, 0.0)]
)
@pytest.mark.parametrize("kind", [V.FLOAT32, V.FLOAT64])
def test_numbers_that_json_lacks_become_words(kind, value, words):
    for found in (value_of(kind, value), value_of(V.ARRAY, ArrayToWrite(kind, [value]))):
        element = found["value"][0] if isinstance(found["value"], list) else found["value"]
        assert element == words
        assert isinstance(element, str) or math.copysign(1, element) == math.copysign(1, value)


@pytest.mark.parametrize(
    ("value", "shortest"),
    [
        (1e-6, 1e-06),
        (1_000_000.0, 1_000_000.0),
        (0.1, 0.1),
        (3.4028234663852886e38, 3.4028235e38),
        (1e-45, 1e-45),
    ],
)
def test_a_float32_is_given_by_the_shortest_decimal_that_names_it(value, shortest):
    found = value_of(V.FLOAT32, value)["value"]
    assert found == shortest
    assert struct.pack("<f", found) == struct.pack("<f", value)


@given(raw=st.binary(min_size=4, max_size=4))
def test_any_float32_can_be_had_back(raw):
    (value,) = struct.unpack("<f", raw)
    found = value_of(V.FLOAT32, value)["value"]
    if math.isfinite(value):
        assert struct.pack("<f", found) == raw
    else:
        assert found == str(value)


@given(value=st.floats())
def test_any_float64_can_be_had_back(value):
    found = value_of(V.FLOAT64, value)["value"]
    assert found == value if math.isfinite(value) else found == str(value)


@pytest.mark.parametrize(
    ("data", "shown"),
    [(b"\xff", r"\xff"), (b"a\xc4", r"a\xc4"), (b"\xed\xa0\x80", r"\xed\xa0\x80"), (b"\0", "\0")],
)
def test_strings_that_are_not_utf8_stay_readable(data, shown):
    assert value_of(V.STRING, data)["value"] == shown
    assert value_of(V.ARRAY, ArrayToWrite(V.STRING, [data, b"ok"]))["value"] == [shown, "ok"]


def test_long_arrays_are_given_by_count_and_digest():
    numbers = list(range(SHOWN_ELEMENTS + 1))
    found = value_of(V.ARRAY, ArrayToWrite(V.INT32, numbers))
    digest = hashlib.sha256(np.array(numbers, "<i4").tobytes()).hexdigest()
    assert found == {"type": "array of i32", "count": 65, "sha256": digest}
    found = value_of(V.ARRAY, ArrayToWrite(V.STRING, ["ab"] * 65))
    assert found == {"type": "array of string", "count": 65, "sha256": hashlib.sha256(b"ab" * 65).hexdigest()}
    assert value_of(V.ARRAY, ArrayToWrite(V.INT32, numbers[:-1]))["value"] == numbers[:-1]
    assert len(value_of(V.ARRAY, ArrayToWrite(V.BOOL, [True] * 65))["sha256"]) == 64


TENSORS = [
    TensorToWrite("a.weight", GgmlType.F32, (3, 2), bytes(24)),
    TensorToWrite("b.weight", GgmlType.Q4_K, (256, 4), bytes(4 * 144)),
    TensorToWrite("scalar", GgmlType.F32, (), bytes(4)),
    TensorToWrite("empty", GgmlType.F16, (4, 0), b""),
]


def test_tensors_counts_and_the_file():
    found = described(("general.architecture", V.STRING, "x"), tensors=TENSORS)
    start = found["data_offset"]
    fields = ("name", "type", "ne", "shape", "n_elements", "offset", "size")
    assert [tuple(tensor[field] for field in fields) for tensor in found["tensors"]] == [
        ("a.weight", "F32", [3, 2], [2, 3], 6, start, 24),
        ("b.weight", "Q4_K", [256, 4], [4, 256], 1024, start + 32, 576),
        ("scalar", "F32", [], [], 1, start + 608, 4),
        ("empty", "F16", [4, 0], [0, 4], 0, start + 640, 0),
    ]
    assert {frozenset(tensor) for tensor in found["tensors"]} == {frozenset(fields)}
    assert found["counts"] == {
        "key_values": 1,
        "tensors": 4,
        "parameters": 1031,
        "tensor_bytes": 604,
        "types": {
            "F16": {"tensors": 1, "bytes": 0},
            "F32": {"tensors": 2, "bytes": 28},
            "Q4_K": {"tensors": 1, "bytes": 576},
        },
    }
    assert (found["gguf_version"], found["alignment"], found["warnings"]) == (3, 32, [])


def test_an_empty_file_of_nothing_but_a_header():
    found = described()
    assert found["counts"] == {"key_values": 0, "tensors": 0, "parameters": 0, "tensor_bytes": 0, "types": {}}
    assert (found["key_values"], found["tensors"]) == ({}, [])


def test_a_tensor_of_an_unknown_type_has_no_size():
    stream = io.BytesIO()
    write_gguf(stream, [], [TensorToWrite("t", GgmlType.F32, (4,), bytes(16))])
    raw = bytearray(stream.getvalue())
    at = raw.index(b"t" + (1).to_bytes(4, "little")) + 1 + 4 + 8
    raw[at : at + 4] = (99).to_bytes(4, "little")
    gguf = GgufFile(bytes(raw), "t.gguf")
    found = describe_gguf(gguf)
    assert found["tensors"][0]["size"] is None
    assert count(gguf)["tensor_bytes"] == 0
    assert json.loads(json_document(found)) == found
