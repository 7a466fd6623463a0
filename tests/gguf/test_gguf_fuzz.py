"""Damaged files: whatever the bytes, the reader refuses in one line or reads what the layout says."""

import io

import pytest
from hostile_given import GIVEN
from hostile_metadata import METADATA
from hostile_tensors import TENSORS
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from layout_oracle import assert_agrees

from formats.errors import FormatError
from formats.ggml_types import GgmlType
from formats.gguf import ArrayToWrite, GgufFile, TensorToWrite, ValueType, write_gguf

EXTREMES = (0, 1, 2, 3, 4, 5, 8, 9, 12, 13, 31, 32, 33, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32)
EXTREMES += (2**40, 2**60, 2**61, 2**62, 2**63 - 1, 2**63, 2**64 - 64, 2**64 - 8, 2**64 - 1)


def valid_file():
    """Write a file with every type of value, alone and in arrays, and tensors of several types."""
    pairs, arrays = [], []
    for kind in ValueType:
        if kind is not ValueType.ARRAY:
            value = "text" if kind is ValueType.STRING else kind is ValueType.BOOL or 1
            pairs.append((f"v.{kind.label}", kind, value))
            arrays.append((f"a.{kind.label}", ValueType.ARRAY, ArrayToWrite(kind, [value, value])))
    stream = io.BytesIO()
    write_gguf(
        stream,
        [*pairs, *arrays, ("general.alignment", ValueType.UINT32, 32)],
        [
            TensorToWrite("f32", GgmlType.F32, (3, 2), bytes(24)),
            TensorToWrite("q8_0", GgmlType.Q8_0, (32, 1, 2), bytes(68)),
            TensorToWrite("scalar", GgmlType.F16, (), bytes(2)),
            TensorToWrite("", GgmlType.I8, (1, 1, 1, 1), bytes(1)),
        ],
    )
    return stream.getvalue()


SEEDS = [
    valid_file(),
    *(data for data, _ in {**GIVEN, **METADATA, **TENSORS}.values() if 0 < len(data) < 5000),
]


@st.composite
def damaged(draw):
    """Draw a file and damage it in one to three places, mostly behind the header."""
    data = bytearray(draw(st.sampled_from(SEEDS[:1] * len(SEEDS) + SEEDS)))
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
        # Small numbers are drawn often; the product spreads them over the file.
        at = draw(st.integers(0, 2**16)) * 40_503 % max(len(data), 1)
        at = at if at >= 24 or draw(st.integers(0, 9)) == 9 else min(at + 24, len(data) - 1)
        how = draw(st.sampled_from(["flip", "set", "number", "cut", "insert", "delete", "double"]))
        size = draw(st.integers(1, 40))
        if how == "flip" and data:
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif how == "set" and data:
            data[at] = draw(st.integers(0, 255))
        elif how == "number":
            width = draw(st.sampled_from([4, 8]))
            value = draw(st.sampled_from(EXTREMES)) % (1 << 8 * width)
            data[at : at + width] = value.to_bytes(width, "little")
        elif how == "cut":
            del data[at:]
        elif how == "insert":
            data[at:at] = draw(st.binary(min_size=1, max_size=size))
        elif how == "delete":
            del data[at : at + size]
        else:
            data[at:at] = data[at : at + size]
    return bytes(data)


def read(data):
    """Read a file; give what came of it, opened or refused."""
    try:
        return GgufFile(data, "x.gguf"), None
    except FormatError as error:
        return None, error


def check(data):
    opened, error = read(data)
    if error is not None:
        line = str(error)
        assert line.startswith("x.gguf: ")
        assert line.isprintable()
        assert error.hint
        assert len(line) < 600
        return
    with opened:
        assert_agrees(data, opened)
        end = opened.data_offset
        for tensor in opened.tensors:
            assert tensor.absolute_offset % opened.alignment == opened.data_offset % opened.alignment == 0
            assert end <= tensor.absolute_offset <= len(data)
            if tensor.size is not None:
                end = tensor.absolute_offset + tensor.size
                assert end <= len(data)
                assert opened.data_of(tensor).nbytes == tensor.size
        assert all(line.isprintable() for line in opened.warnings)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=damaged())
@example(data=SEEDS[0])
def test_a_damaged_file_is_refused_or_read_as_declared(data):
    check(data)


@pytest.mark.long
@settings(max_examples=20_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=damaged())
def test_many_damaged_files(data):
    check(data)


@given(data=st.binary(max_size=200))
def test_bytes_behind_a_true_header(data):
    check(b"GGUF\3\0\0\0" + data)


def test_a_file_cut_anywhere_is_refused_but_in_its_last_padding():
    whole = SEEDS[0]
    with GgufFile(whole) as opened:
        last = opened.tensors[-1]
    needed = last.absolute_offset + last.size
    assert needed < len(whole)
    for size in range(len(whole)):
        opened, error = read(whole[:size])
        assert (error is None) == (size >= needed)
        if error is not None:
            assert str(error).startswith("x.gguf: ")
