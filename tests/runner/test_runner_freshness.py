"""When a step runs again, and why: each cause is named, and afterwards everything is as a clean build makes it."""

import os

import pytest
from command_line import child
from projects import contents, sha256
from tiny_model import STEPS, TEMPLATE, write_tiny

from formats.gguf.value_types import ValueType
from pipeline.runner import fingerprint, freshness, run
from pipeline.steps import DECLARATIONS

READ_MODEL = ["inspect", "tokenizer", "tensors", "ps_bundle", "vocab_bin", "tokenizer_bin", "runtime_image"]


def clean_build(project):
    """Build the same model and manifest in a fresh folder; give its files' digests."""
    folder = project.root / "clean build"
    project.run("--out", folder).done()
    return contents(folder)


def test_unchanged_everything_is_fresh_and_no_file_is_touched(built):
    before = built.stamps()
    outcome = built.run().done()
    assert outcome.lines[1:-1] == [f"{step:<14} fresh" for step in built.states()]
    assert built.stamps() == before
    assert outcome.lines[-1].startswith("8 fresh; 22 artifacts, ")


def test_once_settled_a_run_reads_no_artifact_and_writes_nothing(built, monkeypatch):
    """A file that is older than file systems' time stamps are coarse is known by its stamp alone."""
    from pipeline.runner import known_files

    now = known_files.time.time_ns
    monkeypatch.setattr(known_files.time, "time_ns", lambda: now() + 3_600_000_000_000)
    built.run().done()
    monkeypatch.setattr(known_files, "hash_file", None)
    everything = sorted(path for path in built.out.rglob("*") if path.name != "lock")
    before = [path.stat().st_mtime_ns for path in everything]
    assert built.states() == dict.fromkeys(built.states(), "fresh")
    assert [path.stat().st_mtime_ns for path in everything] == before


def test_only_align_changed_so_only_the_image_is_made_again(built):
    before = built.stamps()
    built.write_manifest(steps=[*STEPS[:5], {"runtime_image": {"align": 4096}}, *STEPS[6:]])
    assert built.reasons() == {"runtime_image": ["align was 64, is 4096"]}
    changed = {name for name, stamp in built.stamps().items() if before[name] != stamp}
    assert changed == {"q25_tokenizer.img", "q25_tokenizer.json", "build.json"}
    assert built.contents() == clean_build(built)


def test_another_model(built):
    old = built.record()["source"]["gguf"]["sha256"]
    write_tiny(built.gguf, {"tokenizer.chat_template": (ValueType.STRING, TEMPLATE + "x")})
    new = sha256(built.gguf.read_bytes())
    change = f"the model changed ({old[:12]} -> {new[:12]})"
    before = built.stamps()
    assert built.reasons() == {step: [change] for step in READ_MODEL}
    changed = {name for name, stamp in built.stamps().items() if before[name] != stamp}
    # The image names its source; the other tables are the same bytes and keep their files.
    assert changed == {
        "build.json",
        "chat_template.txt",
        "model.json",
        "q25_tokenizer.img",
        "q25_tokenizer.json",
        "tensor_payload_export_manifest.json",
    }
    assert built.contents() == clean_build(built)


def test_a_statement_of_the_pre_tokenizer(built):
    built.write_manifest(model={"gguf": "tiny.gguf", "pre": "deepseek-r1-qwen"})
    facts = ["tokenizer_facts.json changed"]
    reasons = built.reasons()
    assert reasons["tokenizer"] == ["model.pre changed"]
    assert [reason.partition(" (")[0] for reason in reasons["runtime_image"]] == facts
    assert list(reasons) == ["tokenizer", "runtime_image"]
    assert built.contents() == clean_build(built)


def test_another_tool(built, monkeypatch):
    was = fingerprint.tool_version()
    for module in (freshness, run):
        monkeypatch.setattr(module, "tool_version", lambda: "0.2.0+abc")
    before = built.stamps()
    assert built.reasons() == {
        step: [f"the tool was {was}, is 0.2.0+abc"] for step in built.states("--dry-run")
    }
    changed = {name for name, stamp in built.stamps().items() if before[name] != stamp}
    assert changed == {"build.json"}
    assert {step["tool"] for step in built.record()["steps"]} == {"0.2.0+abc"}


def test_another_version_of_a_step(built, monkeypatch):
    monkeypatch.setattr(type(DECLARATIONS["vocab_bin"]), "version", 2)
    assert built.reasons() == {"vocab_bin": ["the step's version was 1, is 2"]}
    assert built.reasons() == {}


def test_the_tool_is_known_by_its_sources():
    fingerprint.tool_version.cache_clear()
    version, plus, digits = fingerprint.tool_version().partition("+")
    assert version == fingerprint.VERSION
    assert plus
    assert len(digits) == 12
    int(digits, 16)


def test_the_tools_fingerprint_changes_with_any_source_and_not_with_line_ends(tmp_path, monkeypatch):
    for package in ("pipeline/runner", "formats"):
        (tmp_path / package).mkdir(parents=True)
    (tmp_path / "pipeline" / "a.py").write_bytes(b"a = 1\n")
    (tmp_path / "formats" / "b.py").write_bytes(b"b = 1\n")
    monkeypatch.setattr(fingerprint, "_PACKAGE", tmp_path / "pipeline")

    def version():
        fingerprint.tool_sources.cache_clear()
        fingerprint.tool_version.cache_clear()
        return fingerprint.tool_version()

    found = []
    for data in (b"b = 1\n", b"b = 1\r\n", b"b = 2\n"):
        (tmp_path / "formats" / "b.py").write_bytes(data)
        found.append(version())
    (tmp_path / "formats" / "b.py").rename(tmp_path / "formats" / "c.py")
    for data in (None, b"a text\n", b"another text\n"):
        if data is not None:
            (tmp_path / "pipeline" / "text.txt").write_bytes(data)
        found.append(version())
    monkeypatch.undo()
    assert version() not in found
    assert found[0] == found[1]
    assert len(set(found)) == 5


@pytest.mark.parametrize(
    "how", ["edited", "truncated", "emptied", "grown", "removed", "replaced by a folder of files"]
)
def test_an_artifact_that_is_not_as_it_was_made(built, how):
    good = built.contents()
    path = built.out / "token_index.bin"
    data = path.read_bytes()
    if how == "removed":
        path.unlink()
    elif how.startswith("replaced"):
        path.unlink()
        path.mkdir()
        assert built.status("--json").code == 1
        line = built.run().refused(2)
        assert line == f"pipeline: {path}: expected a file, found a folder; move it away"
        path.rmdir()
    else:
        changed = {
            "edited": data[:-1] + bytes([data[-1] ^ 1]),
            "truncated": data[:-1],
            "emptied": b"",
            "grown": data + b"\0",
        }
        path.write_bytes(changed[how])
    what = "was edited" if path.exists() else "is missing"
    assert built.reasons() == {"ps_bundle": [f"token_index.bin {what}"]}
    assert built.contents() == good
    assert built.reasons() == {}


def test_an_edit_that_keeps_size_and_mtime_is_noticed(built):
    """The change time and the inode tell."""
    path = built.out / "vocab.bin"
    status = path.stat()
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert built.reasons() == {"vocab_bin": ["vocab.bin was edited"]}


def test_many_reasons_are_counted_on_the_line_and_all_in_json(built):
    for path in (built.out / "tensors").iterdir():
        path.unlink()
    reasons = built.events("--dry-run")["tensors"]["reasons"]
    assert len(reasons) == 8
    lines = built.status().lines
    assert f"tensors        would run {'; '.join(reasons[:3])}; and 5 more" in lines


def test_early_cut_off_a_step_that_gives_the_same_bytes_leaves_what_reads_it_fresh(built):
    before = built.stamps()
    events = built.events("--only", "ps_bundle", "--force")
    assert events["ps_bundle"]["state"] == "made"
    assert [artifact["changed"] for artifact in events["ps_bundle"]["artifacts"]] == [False] * 3
    assert built.states()["runtime_image"] == "fresh"
    assert built.stamps() == before


def test_the_line_of_a_step_that_changed_some_of_its_files(built):
    built.gguf.unlink()
    write_tiny(built.gguf, {"tokenizer.chat_template": (ValueType.STRING, "other")})
    lines = built.run().done().lines
    (line,) = [line for line in lines if line.startswith("tokenizer ")]
    # The template names an end of turn, so the facts are others too.
    assert line.startswith("tokenizer      made      5 files, 3 as before in ")


def test_a_child_finds_fresh_what_this_process_made(built):
    outcome = child("run", built.manifest, "--json").done()
    assert {event["state"] for event in outcome.objects if event["event"] == "step"} == {"fresh"}


def test_a_dropped_step_and_back_again(built):
    """Its artifacts stay until `clean`, and are believed only after being made again."""
    built.write_manifest(steps=STEPS[:-1])
    outcome = built.run().done()
    assert "1 file is made by no step any more; `pipeline clean` removes what was not edited" in outcome.lines
    assert "tokenizer.bin" not in built.recorded()
    assert built.run("--json").objects[-1]["orphans"] == ["tokenizer.bin"]
    built.write_manifest()
    before = built.stamps()
    assert built.reasons() == {"tokenizer_bin": ["not made yet"]}
    assert built.stamps()["tokenizer.bin"] == before["tokenizer.bin"]


def test_a_parameter_that_came_or_went_is_named():
    """As a newer tool would have it."""
    named = list(freshness._parameter_reasons({"align": 64}, {"aligned": 64}))
    assert named == ["aligned was 64, is null", "align was null, is 64"]
