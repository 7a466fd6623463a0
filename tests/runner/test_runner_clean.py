"""`clean`: removes what was made and is made no more, and nothing else."""

import pytest
from projects import WORK
from tiny_model import STEPS, write_tiny

LAST = "tokenizer.bin"


@pytest.fixture
def shorter(built):
    """A build whose manifest has lost its last step."""
    built.write_manifest(steps=STEPS[:-1])
    return built


def test_it_removes_orphans(shorter):
    kept = {name: digest for name, digest in shorter.contents().items() if name not in (LAST, "build.json")}
    outcome = shorter.clean().done()
    assert outcome.lines == [f"removed {LAST}", f"1 removed, 0 kept in {shorter.out}"]
    assert {**shorter.contents(), "build.json": None} == {**kept, "build.json": None}
    assert LAST not in shorter.known()
    assert shorter.run().done().lines[-1].startswith("7 fresh; 21 artifacts")
    assert shorter.clean().done().lines == [f"0 removed, 0 kept in {shorter.out}"]


def test_a_dry_run_names_them_and_removes_nothing(shorter):
    before = shorter.stamps()
    outcome = shorter.clean("--dry-run").done()
    assert outcome.lines == [f"would remove {LAST}", f"1 would be removed, 0 kept in {shorter.out}"]
    assert shorter.stamps() == before


@pytest.mark.parametrize("looked_at_before", [False, True])
def test_an_edited_file_is_kept(shorter, looked_at_before):
    path = shorter.out / LAST
    path.write_bytes(b"edited")
    if looked_at_before:
        shorter.status()
        shorter.clean("--dry-run").done()
        shorter.run().done()
    outcome = shorter.clean().done()
    assert outcome.lines == [
        f"kept {LAST}: it is not as this tool wrote it; --force removes it",
        f"0 removed, 1 kept in {shorter.out}",
    ]
    assert path.read_bytes() == b"edited"
    assert shorter.clean("--force").done().lines[0] == f"removed {LAST}"
    assert not path.exists()


def test_folders_that_become_empty_go_too(built):
    built.write_manifest(steps=["inspect"])
    outcome = built.clean().done()
    assert outcome.lines[-1] == f"21 removed, 0 kept in {built.out}"
    assert built.names() == ["build.json", "model.json"]
    assert sorted(path.name for path in built.out.iterdir()) == [WORK, "build.json", "model.json"]


def test_a_folder_with_a_strangers_file_stays(built):
    (built.out / "tensors" / "notes.txt").write_bytes(b"mine")
    built.write_manifest(steps=["inspect"])
    built.clean().done()
    assert built.names() == ["build.json", "model.json", "tensors/notes.txt"]


def test_tensors_that_are_exported_no_more(built):
    built.write_manifest(steps=[*STEPS[:3], {"tensors": {"exclude": ["blk.*"]}}, *STEPS[4:]])
    outcome = built.run().done()
    assert (
        "7 files are made by no step any more; `pipeline clean` removes what was not edited" in outcome.lines
    )
    assert built.clean().done().lines[:-1] == [
        f"removed tensors/blk.0.{kind}.weight.bin"
        for kind in ("f16", "f32", "q4_0", "q4_k", "q5_0", "q6_k", "q8_0")
    ]
    assert [name for name in built.names() if "tensors/" in name] == ["tensors/token_embd.weight.bin"]


def test_tensors_of_another_model(built):
    write_tiny(built.gguf, body=[])
    built.run().done()
    built.clean().done()
    assert not (built.out / "tensors").exists()


def test_what_is_gone_already_is_forgotten(shorter):
    (shorter.out / LAST).unlink()
    assert shorter.clean().done().lines == [f"0 removed, 0 kept in {shorter.out}"]
    assert LAST not in shorter.known()


def test_a_folder_that_is_not_there_is_not_made(project):
    assert project.clean().done().lines == [f"0 removed, 0 kept in {project.out}"]
    assert not project.out.exists()


def test_a_folder_that_nothing_was_built_in_is_left_as_it_is(project):
    project.out.mkdir()
    (project.out / "vocab.bin").write_bytes(b"mine")
    assert project.clean("--force").done().lines == [f"0 removed, 0 kept in {project.out}"]
    assert [path.name for path in project.out.iterdir()] == ["vocab.bin"]


def test_behind_a_link_nothing_is_removed(built, tmp_path):
    """Somebody moved the tensors elsewhere and put a link in their place."""
    elsewhere = tmp_path / "elsewhere"
    (built.out / "tensors").rename(elsewhere)
    (built.out / "tensors").symlink_to(elsewhere)
    built.write_manifest(steps=["inspect"])
    line = built.clean().refused(2)
    link = built.out / "tensors"
    assert line == f"pipeline: {link}: expected a folder, found a symbolic link; move it away"
    assert len(list(elsewhere.iterdir())) == 8


def test_a_link_in_the_place_of_a_file_goes_and_what_it_leads_to_stays(shorter, tmp_path):
    path = shorter.out / LAST
    target = tmp_path / "target"
    path.rename(target)
    path.symlink_to(target)
    shorter.clean().done()
    assert not path.is_symlink()
    assert target.exists()


def test_a_broken_manifest_removes_nothing(built):
    before = built.names()
    built.manifest.write_text("version: 1\nsteps: []\n")
    outcome = built.clean()
    assert outcome.code == 2
    assert "Traceback" not in outcome.err
    assert built.names() == before
