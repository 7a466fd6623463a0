"""`build.json`: complete, the same for the same build, and harmless however damaged it is."""

import json
import math
import shutil

import pytest
from command_line import call
from projects import Project, sha256
from tiny_model import N_TOKENS, write_tiny

from pipeline.runner.record import FILE_NAME, read_record
from pipeline.steps import DECLARATIONS


def test_every_file_is_listed_as_it_is(built):
    recorded = built.recorded()
    assert sorted([*recorded, FILE_NAME]) == built.names()
    for name, entry in recorded.items():
        data = (built.out / name).read_bytes()
        assert (entry["size"], entry["sha256"]) == (len(data), sha256(data))


def test_every_artifact_says_what_it_is_and_what_it_was_made_from(built):
    record = built.record()
    gguf = sha256(built.gguf.read_bytes())
    assert record["source"] == {
        "kind": "gguf",
        "name": "tiny.gguf",
        "gguf": {"sha256": gguf, "size": built.gguf.stat().st_size},
    }
    assert [step["step"] for step in record["steps"]] == list(built.states())
    for step in record["steps"]:
        declared = DECLARATIONS[step["step"]]
        assert list(step["inputs"]) == list(declared.reads)
        assert step["version"] == declared.version
        assert set(step["parameters"]) == {parameter.name for parameter in declared.parameters}
        names = [artifact["name"] for artifact in step["artifacts"]]
        assert names == sorted(names)
        for artifact in step["artifacts"]:
            known = declared.artifact(artifact["name"])
            assert artifact["layout"] == known.layout
            assert artifact["layout_version"] == known.version
            assert artifact["summary"] == known.summary
        if "model" in step["inputs"]:
            assert step["inputs"]["model"] == f"sha256:{gguf}"
    (image,) = [step for step in record["steps"] if step["step"] == "runtime_image"]
    tables = built.recorded()
    assert image["inputs"]["token_index.bin"] == f"sha256:{tables['token_index.bin']['sha256']}"


def test_two_builds_give_the_same_record(built, tmp_path_factory):
    other = Project(tmp_path_factory.mktemp("elsewhere"))
    other.run().done()
    text = (built.out / FILE_NAME).read_text("ascii")
    assert (other.out / FILE_NAME).read_text("ascii") == text
    assert str(built.root) not in text
    assert '"/' not in text


def test_it_does_not_depend_on_how_the_folder_came_to_be(built):
    """Step by step, in another order, and after detours: the same record as in one run."""
    good = (built.out / FILE_NAME).read_bytes()
    shutil.rmtree(built.out)
    for step in ("vocab_bin", "tokenizer", "ps_bundle", "runtime_image", "layers", "tensors", "inspect"):
        built.run("--only", step).done()
    built.run("--set", "steps.runtime_image.align=128").done()
    built.run().done()
    assert (built.out / FILE_NAME).read_bytes() == good


def test_it_reads_back_as_it_was_written(built):
    data = (built.out / FILE_NAME).read_bytes()
    assert read_record(data).document() == data


def damage(**parts):
    """Make a change of the record's first step."""
    return lambda document: document["steps"][0].update(parts)


DEEP = json.loads("[" * 300 + "]" * 300)
NOT_A_RECORD = {
    "empty": b"",
    "no JSON": b"{",
    "a list": b"[]",
    "null": b"null",
    "a number": b"1e400",
    "deep": b"[" * 100_000,
    "not UTF-8": b"\xff\xfe\x00",
    "NULs": bytes(4096),
    "another version": b'{"record_version": 2}',
    "no steps": b'{"record_version": 1, "source": {}}',
    "a digit too many": b'{"record_version": 1, "steps": [], "source": {}, "x": ' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("data", NOT_A_RECORD.values(), ids=NOT_A_RECORD.keys())
def test_what_is_no_record_counts_as_none_and_heals(built, data):
    good = built.contents()
    (built.out / FILE_NAME).write_bytes(data)
    assert set(map(tuple, built.reasons().values())) == {("not made yet",)}
    assert built.contents() == good
    assert built.reasons() == {}


DAMAGES = {
    "a version that is no number": damage(version="one"),
    "a version without end": damage(version=math.inf),
    "a version of nothing": damage(version=None),
    "a tool of two lines": damage(tool="a\nb"),
    "parameters that JSON lacks": damage(parameters={"align": math.nan}),
    "parameters without end": damage(parameters={"align": math.inf}),
    "deep parameters": damage(parameters={"align": DEEP}),
    "parameters that are none": damage(parameters=[1]),
    "inputs that are none": damage(inputs=None),
    "an input of two lines": damage(inputs={"model\x1b[2J": "x"}),
    "artifacts that are none": damage(artifacts=7),
    "an artifact that is none": damage(artifacts=["model.json"]),
    "steps that are none": lambda document: document.update(steps={"a": 1}),
    "a source that is none": lambda document: document.update(source=5),
    "a record version that is no number": lambda document: document.update(record_version="1"),
}


@pytest.mark.parametrize("change", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_record_counts_as_none_and_heals(built, change):
    good = built.contents()
    built.edit_record(change)
    assert set(map(tuple, built.reasons("--dry-run").values())) >= {("not made yet",)}
    assert built.run().done()
    assert built.contents() == good


def artifact(name, **changes):
    entry = {
        "name": name,
        "size": 1,
        "sha256": "0" * 64,
        "layout": "x",
        "layout_version": "1",
        "summary": "x",
    }
    return {**entry, **changes}


HOSTILE_NAMES = [
    "../victim",
    "/etc/passwd",
    "tensors/../../victim",
    "tensors/",
    "tensors",
    "",
    ".",
    "..",
    "a\0b",
    "\ud800",
    "a\nb",
    "x" * 5000,
    "tensors/" + "x" * 5000,
    ".pipeline/lock",
    "build.json",
    "C:\\victim",
    "vocab.bin",
]


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=ascii)
def test_a_record_that_lists_a_hostile_name_touches_nothing(built, name):
    good = built.contents()
    victim = built.root / "victim"
    victim.write_bytes(b"precious")

    def change(document):
        document["steps"][0]["artifacts"].append(artifact(name, sha256=sha256(b"precious"), size=8))

    built.edit_record(change)
    (reason,) = built.reasons("--dry-run")["inspect"]
    assert reason.startswith("the record lists ")
    assert reason.endswith(", which is no artifact of it")
    assert len(reason) < 200
    assert reason.isprintable()
    for command in ("verify", "dag"):
        outcome = call(command, built.out if command == "verify" else built.manifest)
        assert "Traceback" not in outcome.err
    built.clean("--force").done()
    assert victim.read_bytes() == b"precious"
    built.run().done()
    assert built.contents() == good
    assert victim.read_bytes() == b"precious"


@pytest.mark.parametrize(
    "name", ["tensors/../../victim", "tensors/..", "tensors//x", "tensors/a\nb", "tensors\\..\\x"]
)
def test_hostile_names_in_a_folder_of_artifacts(built, name):
    """The step may write any file in there, and nothing beside it."""
    victim = built.root / "victim"
    victim.write_bytes(b"precious")

    def change(document):
        (step,) = [step for step in document["steps"] if step["step"] == "tensors"]
        step["artifacts"].append(artifact(name, sha256=sha256(b"precious"), size=8))

    built.edit_record(change)
    assert built.reasons() == {"tensors": [f"the record lists {name!r}, which is no artifact of it"]}
    assert victim.read_bytes() == b"precious"


def test_a_record_without_a_needed_artifact(built):
    """Whatever removed it from the record: the step that makes it runs again, and what reads it goes on."""

    def change(document):
        for step in document["steps"]:
            step["artifacts"] = [entry for entry in step["artifacts"] if entry["name"] != "token_bytes.bin"]

    built.edit_record(change)
    assert built.reasons() == {"ps_bundle": ["the record lists no token_bytes.bin"]}
    assert "token_bytes.bin" in built.recorded()


def test_a_model_without_a_template_is_no_reason(project):
    write_tiny(project.gguf, {"tokenizer.chat_template": None})
    project.run().done()
    assert "chat_template.txt" not in project.names()
    assert project.reasons() == {}


def test_wrong_digests_in_the_record(built):
    """They are taken for an edit of the file, and the step is run again."""

    def change(document):
        document["steps"][0]["artifacts"][0]["sha256"] = "f" * 64

    built.edit_record(change)
    assert built.reasons() == {"inspect": ["model.json was edited"]}
    assert built.reasons() == {}


def test_steps_that_nobody_knows_are_dropped(built):
    good = built.contents()

    def change(document):
        document["steps"].append({**document["steps"][0], "step": "no_such_step"})

    built.edit_record(change)
    built.run().done()
    assert built.contents() == good


def test_the_record_is_no_file(built):
    path = built.out / FILE_NAME
    path.unlink()
    path.mkdir()
    line = built.run().refused(2)
    assert line == f"pipeline: {path}: expected a file, found a folder; move it away"
    assert not list(path.iterdir())


def test_sizes_of_artifacts_are_summed_up(built):
    total = sum((built.out / name).stat().st_size for name in built.names() if name != FILE_NAME)
    assert built.run().done().lines[-1] == f"8 fresh; 22 artifacts, {total:,} bytes in {built.out}"
    assert built.run("--json").objects[-1] == {
        "event": "done",
        "steps": built.states(),
        "artifacts": 22,
        "bytes": total,
        "orphans": [],
    }
    assert total > 100 * N_TOKENS
