"""Step `tensors`: payloads are exactly the blob's bytes, under safe names, with a manifest."""

import json

import numpy as np
import pytest
from projects import sha256
from tiny_model import N_TOKENS, blocks, tensor, tensors, write_tiny

from formats.ggml_types import GgmlType
from formats.gguf.writer import TensorToWrite
from pipeline.tensor_export import CHUNK

MANIFEST = "tensor_payload_export_manifest.json"


@pytest.fixture
def export(project):
    """Give a function that runs the step on a model's tensors."""

    def run(body, *arguments, **options):
        parameters = {key: options.pop(key) for key in ("include", "exclude", "mode") if key in options}
        write_tiny(project.gguf, body=body, **options)
        project.write_manifest(steps=[{"tensors": parameters}])
        return project.run(*arguments)

    run.project = project
    run.manifest = lambda: json.loads((project.out / MANIFEST).read_bytes())
    run.payload = lambda file: (project.out / file).read_bytes()
    return run


def files(export):
    return [name for name in export.project.names() if name.startswith("tensors/")]


@pytest.mark.parametrize("kind", GgmlType, ids=lambda kind: kind.name)
def test_a_payload_is_the_blobs_bytes(export, kind):
    """Of every type, three rows of two blocks each."""
    ne = (2 * kind.block_elements, 3)
    export([tensor("before"), tensor("t", kind, ne), tensor("behind")]).done()
    entry = export.manifest()["tensors"][1]
    blob = export.project.gguf.read_bytes()
    payload = export.payload("tensors/t.bin")
    assert payload == blocks("t", 6 * kind.block_bytes)
    assert payload == blob[entry["offset"] : entry["offset"] + entry["size"]]
    assert entry == {
        "name": "t",
        "type": kind.name,
        "type_id": int(kind),
        "block_elements": kind.block_elements,
        "block_bytes": kind.block_bytes,
        "ne": list(ne),
        "shape": [3, 2 * kind.block_elements],
        "n_elements": 6 * kind.block_elements,
        "offset": entry["offset"],
        "size": 6 * kind.block_bytes,
        "sha256": sha256(payload),
        "file": "tensors/t.bin",
    }


def test_the_manifest(export):
    outcome = export(tensors()).done()
    manifest = export.manifest()
    blob = export.project.gguf.read_bytes()
    entries = manifest.pop("tensors")
    assert manifest == {
        "source": f"sha256:{sha256(blob)}",
        "alignment": 32,
        "data_offset": len(blob) - sum(-(-entry["size"] // 32) * 32 for entry in entries),
        "mode": "copy",
        "include": ["*"],
        "exclude": [],
        "tied": {"output.weight": "token_embd.weight"},
        "total_bytes": sum(entry["size"] for entry in entries),
    }
    assert [entry["file"] for entry in entries] == [f"tensors/{entry['name']}.bin" for entry in entries]
    assert sorted(entry["file"] for entry in entries) == files(export)
    assert outcome.lines[2].strip() == "8 of 8 tensors, 7,140 bytes"


def test_ne_shape_and_order_of_a_ramp(export):
    """ggml counts the fastest dimension first, numpy last."""
    ramp = np.arange(6, dtype="<f4")
    export([TensorToWrite("ramp", GgmlType.F32, (3, 2), ramp)]).done()
    (entry,) = export.manifest()["tensors"]
    assert (entry["ne"], entry["shape"]) == ([3, 2], [2, 3])
    read = np.frombuffer(export.payload("tensors/ramp.bin"), "<f4").reshape(entry["shape"])
    assert read.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_scalar_and_a_dimension_of_zero(export):
    body = [
        TensorToWrite("scalar", GgmlType.F32, (), np.float32(1.5).tobytes()),
        TensorToWrite("nothing", GgmlType.Q8_0, (32, 0), b""),
        tensor("last"),
    ]
    export(body).done()
    scalar, nothing, _ = export.manifest()["tensors"]
    assert (scalar["ne"], scalar["shape"], scalar["n_elements"], scalar["size"]) == ([], [], 1, 4)
    assert export.payload("tensors/scalar.bin") == np.float32(1.5).tobytes()
    assert (nothing["ne"], nothing["shape"], nothing["n_elements"], nothing["size"]) == (
        [32, 0],
        [0, 32],
        0,
        0,
    )
    assert export.payload("tensors/nothing.bin") == b""
    assert nothing["sha256"] == sha256(b"")
    assert export.project.reasons() == {}


@pytest.mark.parametrize("alignment", [8, 16, 64, 4096])
def test_other_alignments(export, alignment):
    export([tensor("a", ne=(3,)), tensor("b", ne=(5,))], alignment=alignment).done()
    manifest = export.manifest()
    assert manifest["alignment"] == alignment
    assert all(entry["offset"] % alignment == 0 for entry in manifest["tensors"])
    assert export.payload("tensors/b.bin") == blocks("b", 20)


HOSTILE = [
    "../x",
    "a/b",
    "a_b",
    "W",
    "w",
    "con",
    "nul.txt",
    "n" * 300,
    "",
    "..",
    ".",
    "x.",
    "-rf",
    "ü",
    "a\nb",
    "~",
    "AUX.b",
]


def test_names_that_file_systems_trip_over(export):
    export([tensor(name) for name in HOSTILE]).done()
    entries = export.manifest()["tensors"]
    assert [entry["name"] for entry in entries] == HOSTILE
    written = [entry["file"].removeprefix("tensors/") for entry in entries]
    assert len({name.lower() for name in written}) == len(HOSTILE)
    assert [f"tensors/{name}" for name in sorted(written)] == files(export)
    for name, entry in zip(written, entries, strict=True):
        assert "/" not in name
        assert name.isascii()
        assert len(name) <= 128
        assert name.endswith(".bin")
        assert name.partition(".")[0].lower() not in ("con", "nul", "aux")
        assert name[0] not in ".-"
        assert export.payload(entry["file"]) == blocks(entry["name"], 16)
    by_name = {entry["name"]: entry["file"] for entry in entries}
    assert by_name["a_b"] != by_name["a/b"]


def test_a_name_does_not_depend_on_what_is_left_out(export):
    """`W` is written the same whether or not `w` is exported beside it."""
    export([tensor("W"), tensor("w")]).done()
    both = files(export)
    export([tensor("W"), tensor("w")], exclude=["w"]).done()
    assert export.manifest()["tensors"][0]["file"] in both


@pytest.mark.parametrize(
    ("parameters", "chosen"),
    [
        ({"include": ["*"]}, ["token_embd.weight", "blk.0.a", "blk.1.a", "blk.1.b", "output_norm.weight"]),
        ({"include": ["blk.*"]}, ["blk.0.a", "blk.1.a", "blk.1.b"]),
        ({"include": ["blk.*"], "exclude": ["*.b"]}, ["blk.0.a", "blk.1.a"]),
        ({"exclude": ["blk.?.a", "token*"]}, ["blk.1.b", "output_norm.weight"]),
        ({"include": ["blk.[1-9].*", "output_norm.weight"]}, ["blk.1.a", "blk.1.b", "output_norm.weight"]),
        ({"include": ["blk.[!1].a"]}, ["blk.0.a"]),
        ({"include": ["BLK.*", "*.b"]}, ["blk.1.b"]),
        ({"include": []}, []),
        ({"exclude": ["*"]}, []),
    ],
    ids=str,
)
def test_include_and_exclude(export, parameters, chosen):
    """The order stays the blob's; case counts on every system."""
    names = ["token_embd.weight", "blk.0.a", "blk.1.a", "blk.1.b", "output_norm.weight"]
    body = [tensor("token_embd.weight", GgmlType.F16, (4, N_TOKENS)), *map(tensor, names[1:])]
    outcome = export(body, **parameters).done()
    assert [entry["name"] for entry in export.manifest()["tensors"]] == chosen
    assert files(export) == sorted(f"tensors/{name}.bin" for name in chosen)
    assert f"{len(chosen)} of 5 tensors, " in outcome.out


def test_a_glob_that_matches_nothing_is_warned_of(export):
    outcome = export([tensor("a")], include=["*", "atn_*"], exclude=["é*"]).done()
    assert [line.strip() for line in outcome.lines if "warning" in line] == [
        "warning: 'atn_*' matches none of the 1 tensors",
        "warning: 'é*' matches none of the 1 tensors",
    ]


def test_mode_index_writes_the_manifest_alone(export):
    export(tensors()).done()
    copied = export.manifest()
    outcome = export(tensors(), mode="index").done()
    indexed = export.manifest()
    assert indexed["mode"] == "index"
    assert [entry.pop("file") for entry in indexed["tensors"]] == [None] * 8
    for entry in copied["tensors"]:
        entry.pop("file")
    assert indexed["tensors"] == copied["tensors"]
    assert outcome.lines[2].strip() == "8 of 8 tensors, 7,140 bytes; indexed, not copied"
    assert outcome.lines[3].startswith("8 files are made by no step any more")
    export.project.clean().done()
    assert export.project.names() == ["build.json", MANIFEST]


@pytest.mark.parametrize(
    ("names", "tied"),
    [
        (["token_embd.weight"], {"output.weight": "token_embd.weight"}),
        (["token_embd.weight", "output.weight"], {}),
        (["output.weight"], {}),
        (["a"], {}),
    ],
)
def test_a_tied_output_is_noted_and_nothing_is_duplicated(export, names, tied):
    export([tensor(name, GgmlType.F16, (4, N_TOKENS)) for name in names]).done()
    assert export.manifest()["tied"] == tied
    assert files(export) == sorted(f"tensors/{name}.bin" for name in names)


def test_a_model_without_tensors(export):
    outcome = export([]).done()
    assert export.manifest()["tensors"] == []
    assert outcome.lines[2].strip() == "0 of 0 tensors, 0 bytes"


def give_unknown_type(path, name):
    """Overwrite a tensor's type in the directory with one that nobody knows."""
    data = bytearray(path.read_bytes())
    at = data.index(len(name).to_bytes(8, "little") + name) + 8 + len(name)
    at += 4 + 8 * int.from_bytes(data[at : at + 4], "little")
    data[at : at + 4] = (99).to_bytes(4, "little")
    path.write_bytes(data)


def test_an_unknown_type_is_refused_only_when_it_is_exported(export):
    project = export.project
    export([tensor("a"), tensor("odd")]).done()
    give_unknown_type(project.gguf, b"odd")
    before = project.contents()
    line = project.run().refused(3)
    assert line == (
        "pipeline: tensor 'odd': expected a type of known size, found unknown type 99; leave the tensor out with "
        "`exclude`"
    )
    assert project.contents() == before
    project.write_manifest(steps=[{"tensors": {"exclude": ["odd"]}}])
    project.run().done()
    assert [entry["name"] for entry in export.manifest()["tensors"]] == ["a"]


@pytest.mark.parametrize("missing", [1, 40])
def test_a_file_cut_short(export, missing):
    """Found when the file is opened: before anything is written."""
    project = export.project
    write_tiny(project.gguf, body=[tensor("a"), tensor("last", ne=(64,))])
    project.gguf.write_bytes(project.gguf.read_bytes()[:-missing])
    project.write_manifest(steps=["tensors"])
    line = project.run().refused(3)
    assert "tensor 'last'" in line
    assert str(project.gguf.stat().st_size) in line
    assert project.names() == []


def test_bytes_are_read_in_pieces(export):
    """A tensor of several chunks and a rest, beside one of exactly one chunk."""
    sizes = {"big": 2 * CHUNK + 12, "one": CHUNK, "small": 4}
    export([tensor(name, GgmlType.F32, (size // 4,)) for name, size in sizes.items()]).done()
    for name, size in sizes.items():
        assert export.payload(f"tensors/{name}.bin") == blocks(name, size)


def test_another_model_with_other_names(export):
    export([tensor("a"), tensor("b")]).done()
    outcome = export([tensor("b"), tensor("c")]).done()
    assert "1 file is made by no step any more; `pipeline clean` removes what was not edited" in outcome.lines
    assert files(export) == ["tensors/a.bin", "tensors/b.bin", "tensors/c.bin"]
    assert [name for name in export.project.recorded() if "tensors/" in name] == [
        "tensors/b.bin",
        "tensors/c.bin",
    ]
