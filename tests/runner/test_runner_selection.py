"""Which steps a run is about: --only, --from, --force, --dry-run, --keep-going; --set and --out."""

import pytest
from projects import Project, stamp
from tiny_model import STEPS, write_tiny

ORDER = [
    "inspect",
    "layers",
    "tokenizer",
    "tensors",
    "ps_bundle",
    "vocab_bin",
    "tokenizer_bin",
    "runtime_image",
]
"""Of the steps of the tiny manifest."""
ALIGN = "steps.runtime_image.align=4096"


def all_of(state, steps=STEPS):
    return dict.fromkeys(steps, state)


def test_a_first_run_makes_everything_in_order(project):
    outcome = project.run().done()
    assert project.states() == all_of("fresh")
    assert [line.split()[0] for line in outcome.lines if line[15:20] == "made "] == ORDER
    assert outcome.lines[0].startswith("model: the file tiny.gguf (sha256:")
    assert "(not made yet)" in outcome.lines[1]
    assert outcome.lines[-1].startswith("8 made; 22 artifacts, ")
    assert outcome.lines[-1].endswith(f" bytes in {project.out}")


def test_only_runs_that_step(project):
    assert project.states("--only", "inspect") == {"inspect": "made"}
    assert project.names() == ["build.json", "model.json"]
    assert project.states("--only", "inspect", "--only", "layers") == {"inspect": "fresh", "layers": "made"}


def test_only_with_its_inputs_missing_is_refused(project):
    line = project.run("--only", "runtime_image").refused(2)
    assert line == (
        "pipeline: this run reads from steps that are out of date: tokenizer (not made yet), ps_bundle (not made "
        "yet); run them too: --only tokenizer --only ps_bundle --only runtime_image"
    )
    assert project.names() == []


def test_only_with_its_inputs_made_in_the_same_run(project):
    states = project.states("--only", "runtime_image", "--only", "ps_bundle", "--only", "tokenizer")
    assert states == all_of("made", ["tokenizer", "ps_bundle", "runtime_image"])


def test_from_runs_what_depends_on_it(built):
    states = built.states("--from", "ps_bundle", "--force")
    assert states == {"ps_bundle": "made", "runtime_image": "made"}
    assert built.states("--from", "runtime_image", "--set", ALIGN) == {"runtime_image": "made"}


def test_from_with_what_is_before_it_out_of_date_is_refused(built):
    before = built.contents()
    write_tiny(built.gguf, {"tokenizer.ggml.add_bos_token": None})
    line = built.run("--from", "runtime_image").refused(2)
    assert line.startswith(
        "pipeline: this run reads from steps that are out of date: tokenizer (the model changed ("
    )
    assert line.endswith("; run them too: --only tokenizer --only ps_bundle --only runtime_image")
    assert built.contents() == before


@pytest.mark.parametrize("option", ["--only", "--from"])
def test_a_step_that_the_manifest_does_not_name(built, option):
    line = built.run(option, "insp\nect").refused(2)
    assert line == f"pipeline: the manifest has no step 'insp\\nect'; its steps: {', '.join(ORDER)}"


def test_only_and_from_exclude_each_other(built):
    line = built.run("--only", "inspect", "--from", "inspect").refused(2)
    assert line == "pipeline: argument --from: not allowed with argument --only; see `pipeline run --help`"


def test_force_makes_again_and_leaves_equal_files_alone(built):
    before = built.stamps()
    assert built.reasons("--force") == {step: ["forced"] for step in ORDER}
    assert built.stamps() == before


def test_a_dry_run_writes_nothing_not_even_the_folder(project):
    outcome = project.run("--dry-run").done()
    assert not project.out.exists()
    assert [line for line in outcome.lines if "would run" in line] == [
        "inspect        would run not made yet",
        "layers         would run not made yet",
        "tokenizer      would run not made yet",
        "tensors        would run not made yet",
        "ps_bundle      would run not made yet",
        "vocab_bin      would run not made yet",
        "tokenizer_bin  would run not made yet",
        "runtime_image  would run after ps_bundle, which would run",
        "8 would run; 0 artifacts, 0 bytes in " + str(project.out),
    ]


def test_a_dry_run_of_a_stale_folder_touches_nothing(built):
    def everything():
        return {path: (path.stat().st_size, *stamp(path)) for path in built.out.rglob("*")}

    before = everything()
    reasons = built.reasons("--dry-run", "--set", ALIGN)
    assert reasons == {"runtime_image": ["align was 64, is 4096"]}
    assert everything() == before


def test_keep_going_does_what_does_not_depend_on_the_failure(project):
    """A model whose merges are no merges: tensors and inspect do not care."""
    write_tiny(project.gguf, merges=["c d", "x yz"])
    outcome = project.run("--keep-going", "--json")
    states = {event["step"]: event["state"] for event in outcome.objects if event["event"] == "step"}
    assert states == {
        "inspect": "made",
        "layers": "made",
        "tokenizer": "failed",
        "tensors": "made",
        "ps_bundle": "failed",
        "vocab_bin": "failed",
        "tokenizer_bin": "failed",
        "runtime_image": "skipped",
    }
    events = {event["step"]: event for event in outcome.objects if event["event"] == "step"}
    assert events["runtime_image"]["reasons"] == ["it reads from ps_bundle, which failed"]
    line = outcome.refused(3)
    assert "key 'tokenizer.ggml.merges'[1]" in line
    assert set(project.recorded()) == {name for name in project.names() if name != "build.json"}


def test_without_keep_going_the_first_failure_ends_the_run(project):
    write_tiny(project.gguf, merges=["c d", "x yz"])
    outcome = project.run()
    outcome.refused(3)
    assert [line.split()[:2] for line in outcome.lines if line.split()[1] in ("made", "failed")] == [
        ["inspect", "made"],
        ["layers", "made"],
        ["tokenizer", "failed"],
    ]
    assert project.names() == ["build.json", "model.json"]


def test_keep_going_gives_the_first_failures_exit_code(project):
    """A pin that does not hold (1) comes before vocab_bin's refusal (2) of a file that is not ours."""
    project.write_manifest(expect={"model.json": "sha256:" + "0" * 64})
    project.out.mkdir()
    (project.out / "vocab.bin").write_bytes(b"mine")
    outcome = project.run("--keep-going")
    assert "expect: model.json: expected sha256:000" in outcome.refused(1)
    assert "vocab.bin: there is a file of that name" in outcome.out
    assert (project.out / "vocab.bin").read_bytes() == b"mine"
    assert (project.out / "q25_tokenizer.img").exists()


def test_set_replaces_a_value(built):
    built.run("--set", ALIGN).done()
    (step,) = [step for step in built.record()["steps"] if step["step"] == "runtime_image"]
    assert step["parameters"] == {"align": 4096, "profile": "standard"}


def test_out_replaces_the_folder(built, tmp_path):
    other = tmp_path / "else" / "where"
    built.run("--out", other).done()
    assert Project(tmp_path, write=False).contents() == built.contents()
    assert sorted(path.name for path in other.iterdir()) == sorted(path.name for path in built.out.iterdir())


def test_out_is_relative_to_where_the_caller_stands_and_the_manifests_to_the_manifest(
    built, tmp_path, monkeypatch
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert built.states() == all_of("fresh")
    built.run("--out", "here", "--only", "inspect").done()
    assert (elsewhere / "here" / "model.json").exists()


def test_out_without_a_path(built):
    assert built.run("--out", "").refused(2) == "pipeline: --out: expected a folder, found an empty path"


def test_json_tells_everything(project):
    """The model, then each step as it begins and ends, then the sum."""
    write_tiny(project.gguf, {"tokenizer.ggml.pre": None})
    objects = project.run("--json").done().objects
    assert [event["event"] for event in objects] == ["source", *["started", "step"] * 8, "done"]
    assert [event["step"] for event in objects[1:-1]] == [step for step in ORDER for _ in "12"]
    recorded = project.recorded()
    written = [artifact for event in objects[2:-1:2] for artifact in event["artifacts"]]
    assert {artifact["name"]: artifact["sha256"] for artifact in written} == {
        name: entry["sha256"] for name, entry in recorded.items()
    }
    assert all(
        artifact["changed"] and artifact["size"] == recorded[artifact["name"]]["size"] for artifact in written
    )
    steps = {event["step"]: event for event in objects[2:-1:2]}
    assert {event["state"] for event in steps.values()} == {"made"}
    assert steps["inspect"]["reasons"] == ["not made yet"]
    assert steps["inspect"]["notes"] == ["12 key/values, 8 tensors, 4,672 parameters in 7,140 bytes"]
    (warning,) = steps["runtime_image"]["warnings"]
    assert "the model names no pre-tokenizer" in warning
    assert objects[0] == {"event": "source", **project.record()["source"], "notes": []}


def test_json_of_a_failure(project):
    """The step's event tells it; the line on standard error is the same as without --json."""
    write_tiny(project.gguf, merges=["x yz"])
    outcome = project.run("--json", "--only", "tokenizer")
    line = outcome.refused(3)
    last = outcome.objects[-1]
    assert (last["step"], last["state"], last["reasons"]) == (
        "tokenizer",
        "failed",
        [line.removeprefix("pipeline: ")],
    )
