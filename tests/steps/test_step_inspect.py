"""Step `inspect`: model.json."""

import json
import math

import numpy as np
import pytest
from projects import sha256
from tiny_model import MERGES, N_TOKENS, TEMPLATE, tensor, tokens, write_tiny

from formats.ggml_types import GgmlType
from formats.gguf.value_types import ValueType
from formats.gguf.writer import ArrayToWrite


def inspect(project, *arguments, **model):
    """Build model.json of a model, and read it; infinities and the like are no JSON."""
    write_tiny(project.gguf, **model)
    project.write_manifest(steps=["inspect"])
    project.run(*arguments).done()

    def refuse(word):
        raise AssertionError(word)

    return json.loads((project.out / "model.json").read_bytes(), parse_constant=refuse)


def test_the_whole_document(project):
    document = inspect(project, body=[tensor("a", GgmlType.F32, (3, 2)), tensor("b", GgmlType.Q8_0, (64,))])
    assert list(document) == [
        "gguf_version",
        "file_size",
        "alignment",
        "data_offset",
        "counts",
        "warnings",
        "key_values",
        "tensors",
    ]
    assert document["gguf_version"] == 3
    assert document["file_size"] == project.gguf.stat().st_size
    assert document["alignment"] == 32
    assert document["data_offset"] == document["file_size"] - 32 - 96
    assert document["counts"] == {
        "key_values": 13,
        "tensors": 2,
        "parameters": 6 + 64,
        "tensor_bytes": 24 + 68,
        "types": {"F32": {"tensors": 1, "bytes": 24}, "Q8_0": {"tensors": 1, "bytes": 68}},
    }
    assert document["warnings"] == []
    first = document["data_offset"]
    assert document["tensors"] == [
        {
            "name": "a",
            "type": "F32",
            "ne": [3, 2],
            "shape": [2, 3],
            "n_elements": 6,
            "offset": first,
            "size": 24,
        },
        {
            "name": "b",
            "type": "Q8_0",
            "ne": [64],
            "shape": [64],
            "n_elements": 64,
            "offset": first + 32,
            "size": 68,
        },
    ]


def test_values_of_every_type(project):
    scalars = {
        "t.u8": (ValueType.UINT8, 255),
        "t.i8": (ValueType.INT8, -128),
        "t.u16": (ValueType.UINT16, 65535),
        "t.i16": (ValueType.INT16, -32768),
        "t.u32": (ValueType.UINT32, 2**32 - 1),
        "t.i32": (ValueType.INT32, -(2**31)),
        "t.u64": (ValueType.UINT64, 2**64 - 1),
        "t.i64": (ValueType.INT64, -(2**63)),
        "t.f32": (ValueType.FLOAT32, 1e-6),
        "t.f64": (ValueType.FLOAT64, 0.1),
        "t.bool": (ValueType.BOOL, True),
        "t.string": (ValueType.STRING, "ü\n\u2028\x00"),
    }
    values = inspect(project, changes=scalars)["key_values"]
    for key, (kind, value) in scalars.items():
        assert values[key] == {"type": kind.label, "value": value}, key


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("kind", [ValueType.FLOAT32, ValueType.FLOAT64])
def test_numbers_that_json_lacks_become_words(project, kind, value):
    changes = {"t.x": (kind, value), "t.a": (ValueType.ARRAY, ArrayToWrite(kind, [1.5, value]))}
    values = inspect(project, changes=changes)["key_values"]
    assert values["t.x"] == {"type": kind.label, "value": str(value)}
    assert values["t.a"]["value"] == [1.5, str(value)]


@pytest.mark.parametrize(
    "value", [0.1, 1e-5, 1e-6, 3.4028235e38, 1.17549435e-38, 1e-45, 16777216.0, 1000000.0]
)
def test_a_float_is_the_shortest_decimal_that_reads_back(project, value):
    """And not the double beside it: 0.1, not 0.10000000149011612."""
    written = inspect(project, changes={"t.x": (ValueType.FLOAT32, value)})["key_values"]["t.x"]["value"]
    assert np.float32(written) == np.float32(value)
    assert len(repr(written)) <= len(repr(float(np.float32(value))))


def test_short_arrays_are_whole_and_long_ones_are_a_count_and_a_digest(project):
    changes = {
        "t.short": (ValueType.ARRAY, ArrayToWrite(ValueType.INT32, list(range(64)))),
        "t.long": (ValueType.ARRAY, ArrayToWrite(ValueType.INT32, list(range(65)))),
        "t.empty": (ValueType.ARRAY, ArrayToWrite(ValueType.STRING, [])),
        "t.words": (ValueType.ARRAY, ArrayToWrite(ValueType.STRING, ["a", "ü"])),
        "t.flags": (ValueType.ARRAY, ArrayToWrite(ValueType.BOOL, [True, False])),
    }
    values = inspect(project, changes=changes)["key_values"]
    assert values["t.short"] == {"type": "array of i32", "count": 64, "value": list(range(64))}
    digest = sha256(np.arange(65, dtype="<i4").tobytes())
    assert values["t.long"] == {"type": "array of i32", "count": 65, "sha256": digest}
    assert values["t.empty"] == {"type": "array of string", "count": 0, "value": []}
    assert values["t.words"]["value"] == ["a", "ü"]
    assert values["t.flags"]["value"] == [True, False]
    joined = "".join(text for text, _ in tokens()).encode()
    assert values["tokenizer.ggml.tokens"] == {
        "type": "array of string",
        "count": N_TOKENS,
        "sha256": sha256(joined),
    }
    assert values["tokenizer.ggml.merges"]["value"] == list(MERGES)
    assert values["tokenizer.chat_template"]["value"] == TEMPLATE


def test_bytes_that_are_no_text_stay_readable(project):
    changes = {"t.s": (ValueType.STRING, b"a\xff\xedb")}
    values = inspect(project, changes=changes)["key_values"]
    assert values["t.s"]["value"] == "a\\xff\\xedb"


def test_a_model_without_tensors(project):
    document = inspect(project, body=[])
    assert document["tensors"] == []
    assert document["counts"]["types"] == {}


def test_oddities_are_told(project):
    project.write_manifest(steps=["inspect"])
    with project.gguf.open("ab") as file:
        file.write(b"left over")
    outcome = project.run().done()
    (warning,) = [line.strip() for line in outcome.lines if "warning:" in line]
    assert warning.startswith("warning: unused bytes at the end: 9, from offset 0x")
    warnings = json.loads((project.out / "model.json").read_bytes())["warnings"]
    assert [f"warning: {line}" for line in warnings] == [warning]
    (event,) = [
        event for event in project.run("--json", "--force").objects if event.get("step") and "notes" in event
    ]
    assert event["warnings"] == warnings


def test_what_the_run_says(project):
    write_tiny(project.gguf)
    project.write_manifest(steps=["inspect"])
    assert (
        project.run().done().lines[2].strip() == "13 key/values, 8 tensors, 4,672 parameters in 7,140 bytes"
    )


def test_an_unknown_tensor_type_is_listed(project):
    """Its size is not known; only who exports it is refused."""
    write_tiny(project.gguf, body=[tensor("a"), tensor("odd")])
    data = project.gguf.read_bytes()
    at = data.index(b"\x03\0\0\0\0\0\0\0odd") + 8 + 3 + 4 + 8
    project.gguf.write_bytes(data[:at] + (99).to_bytes(4, "little") + data[at + 4 :])
    project.write_manifest(steps=["inspect"])
    project.run().done()
    document = json.loads((project.out / "model.json").read_bytes())
    assert document["tensors"][1]["type"] == "unknown type 99"
    assert document["tensors"][1]["size"] is None
    assert document["counts"]["types"]["unknown type 99"] == {"tensors": 1, "bytes": 0}
