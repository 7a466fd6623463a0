"""The fast reader held to the declared layout, on whole files of a real vocabulary's size."""

import io

import pytest
from hostile import BOOL, F64, I8, I64, STRING, array, info, model, number, pair, text
from layout_oracle import assert_agrees

from formats.errors import FormatError
from formats.ggml_types import GgmlType
from formats.gguf import ArrayToWrite, GgufFile, TensorToWrite, ValueType, write_gguf
from formats.gguf.layout import HEADER, METADATA, MIN_KEY_VALUE, MIN_TENSOR_INFO


def generated_vocabulary():
    """Write a file of 151,936 tokens and 151,387 merges, with tensors of three shapes."""
    tokens = [f"tok{index}" if index % 3 else "é" * (index % 40) for index in range(151_936)]
    merges = [f"{index:x} {index * 7:x}" for index in range(151_387)]
    stream = io.BytesIO()
    write_gguf(
        stream,
        [
            ("general.architecture", ValueType.STRING, "qwen2"),
            ("tokenizer.ggml.tokens", ValueType.ARRAY, ArrayToWrite(ValueType.STRING, tokens)),
            ("tokenizer.ggml.token_type", ValueType.ARRAY, ArrayToWrite(ValueType.INT32, [1] * 151_936)),
            ("tokenizer.ggml.merges", ValueType.ARRAY, ArrayToWrite(ValueType.STRING, merges)),
        ],
        [
            TensorToWrite("a", GgmlType.F32, (3, 2), bytes(24)),
            TensorToWrite("b", GgmlType.Q4_K, (256,), bytes(144)),
            TensorToWrite("c", GgmlType.F16, (), bytes(2)),
        ],
    )
    return stream.getvalue(), tokens, merges


def test_a_generated_vocabulary_of_real_size():
    data, tokens, merges = generated_vocabulary()
    with GgufFile(data) as opened:
        assert_agrees(data, opened)
        assert [token.decode() for token in opened.key_values["tokenizer.ggml.tokens"].value] == tokens
        assert [merge.decode() for merge in opened.key_values["tokenizer.ggml.merges"].value] == merges


@pytest.mark.parametrize("name", ["qwen2", "gpt-2", "llama-spm", "bert-bge"])
def test_real_vocabularies(shared, name):
    path = shared / "gguf" / f"ggml-vocab-{name}.gguf"
    with GgufFile.open(path) as opened:
        assert_agrees(path.read_bytes(), opened)
        assert opened.tensors == ()
        assert opened.warnings == ()


def test_the_metadata_is_built_back_byte_for_byte():
    data = model(
        [
            pair(b"a", I64, number(2**64 - 5)),
            pair(b"s", STRING, text(b"\xff\0")),
            array(b"strings", STRING, 2, text(b"") + text(b"xyz")),
            array(b"floats", F64, 2, bytes(range(16))),
            array(b"bools", BOOL, 3, b"\0\1\1"),
            array(b"none", I8, 0),
        ],
        [info(b"t", (1, 2, 3, 4))],
        pad=1,
    )
    assert METADATA.build(METADATA.parse(data)) == data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            model([pair(b"b", BOOL, b"\2")]),
            "key_values[1].value.bool at offset 0x52 (82): expected 0 to 1, found 2",
        ),
        (
            model([array(b"k", 9, 1, bytes(12))]),
            (
                "key_values[1].value.element_type at offset 0x52 (82): "
                "expected a value type from 0 to 12 other than array (9), found 9"
            ),
        ),
        (
            model([pair(b"k", STRING, text(b"", 2**64 - 8))]),
            (
                "key_values[1].value.text at offset 0x5A (90): "
                "expected a whole value, found 6 bytes before the end"
            ),
        ),
        (
            model([], [info(b"t", (1,) * 5)]),
            "tensors[0].n_dims at offset 0x4E (78): expected 0 to 4, found 5",
        ),
    ],
)
def test_the_declaration_refuses_by_place_too(data, message):
    with pytest.raises(FormatError) as caught:
        METADATA.parse(data)
    assert str(caught.value) == message


def test_the_smallest_pair_and_entry():
    assert len(pair(b"k", I8, b"\0")) == MIN_KEY_VALUE
    assert len(info(b"", ())) == MIN_TENSOR_INFO
    assert HEADER.size == 24
