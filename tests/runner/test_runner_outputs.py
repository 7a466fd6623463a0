"""The output folder when it is not one, or cannot be written: one line, nothing lost, nothing elsewhere."""

import os

import pytest
from command_line import child, without_rights
from projects import WORK
from tiny_model import tensor, write_tiny

from formats.gguf.value_types import ValueType
from pipeline.runner.outputs import OutputFolder
from pipeline.runner.staging import Staging


@pytest.fixture
def elsewhere(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "keep").write_bytes(b"precious")
    return folder


def kept(elsewhere):
    assert [path.name for path in elsewhere.iterdir()] == ["keep"]
    assert (elsewhere / "keep").read_bytes() == b"precious"


def test_the_output_is_a_file(project):
    project.out.write_bytes(b"mine")
    line = project.run().refused(2)
    assert line == (f"pipeline: {project.out}: expected a folder for the output, found a file; move it away")
    assert project.out.read_bytes() == b"mine"
    assert project.status().code == 1


def test_a_file_stands_where_a_folder_above_the_output_should(project):
    (project.root / "build").write_bytes(b"mine")
    line = project.run("--out", project.root / "build" / "a" / "b").refused(2)
    assert line == (
        f"pipeline: {project.root / 'build'}: expected a folder for the output, found a file; move it away"
    )


def test_the_output_is_a_link_to_a_folder(project, elsewhere):
    """That is somebody's way to build on another disk."""
    project.out.symlink_to(elsewhere)
    project.run().done()
    assert (elsewhere / "build.json").exists()
    assert project.reasons() == {}


@pytest.mark.parametrize("target", ["nowhere", "out"])
def test_the_output_is_a_link_to_nothing_or_itself(project, target):
    project.out.symlink_to(project.root / target)
    assert str(project.out) in project.run().refused(2)
    assert not (project.root / "nowhere").exists()


def test_the_tools_own_folder_is_a_link(built, elsewhere):
    (elsewhere / "staging").mkdir()
    (elsewhere / "staging" / "000001").write_bytes(b"precious")
    work = built.out / WORK
    work.rename(built.root / "work")
    work.symlink_to(elsewhere)
    line = built.run().refused(2)
    assert line == f"pipeline: {work}: expected a folder, found a symbolic link; move it away"
    assert built.clean().refused(2) == line
    assert (elsewhere / "staging" / "000001").read_bytes() == b"precious"


def test_the_tools_own_folder_is_a_file(project):
    project.out.mkdir()
    (project.out / WORK).write_bytes(b"mine")
    line = project.run().refused(2)
    assert line == (
        f"pipeline: {project.out / WORK}: expected a folder for the output, found a file; move it away"
    )


def test_the_lock_is_a_link(built, elsewhere):
    lock = built.out / WORK / "lock"
    lock.unlink()
    lock.symlink_to(elsewhere / "keep")
    line = built.run().refused(4)
    assert line.startswith(f"pipeline: {lock}: ")
    kept(elsewhere)


def test_what_is_being_written_is_a_link(built, elsewhere):
    staging = built.out / WORK / "staging"
    staging.symlink_to(elsewhere)
    built.run("--force").refused(4)
    kept(elsewhere)


@pytest.mark.parametrize("name", ["tensors", "chat_templates"])
def test_a_folder_of_artifacts_is_a_link(project, elsewhere, name):
    write_tiny(project.gguf, {"tokenizer.chat_template.rag": (ValueType.STRING, "x")})
    project.out.mkdir()
    link = project.out / name
    link.symlink_to(elsewhere)
    for arguments in ((), ("--force",)):
        line = project.run(*arguments).refused(2)
        assert line == f"pipeline: {link}: expected a folder, found a symbolic link; move it away"
    kept(elsewhere)


def test_a_folder_of_artifacts_is_a_file(project):
    project.out.mkdir()
    (project.out / "tensors").write_bytes(b"mine")
    line = project.run("--force").refused(2)
    assert line == f"pipeline: {project.out / 'tensors'}: expected a folder, found a file; move it away"
    assert (project.out / "tensors").read_bytes() == b"mine"
    assert project.status().code == 1


@pytest.mark.parametrize("target", ["keep", "nothing"])
def test_an_artifact_is_a_link(project, elsewhere, target):
    """It is refused as a stranger's; --force replaces the link, never what it leads to."""
    project.out.mkdir()
    link = project.out / "vocab.bin"
    link.symlink_to(elsewhere / target)
    assert "that this tool did not write" in project.run().refused(2)
    assert link.is_symlink()
    project.run("--force").done()
    assert not link.is_symlink()
    kept(elsewhere)


def test_an_artifact_became_a_link(built, elsewhere):
    link = built.out / "vocab.bin"
    link.unlink()
    link.symlink_to(elsewhere / "keep")
    assert built.reasons() == {"vocab_bin": ["vocab.bin was edited"]}
    assert not link.is_symlink()
    kept(elsewhere)


@pytest.mark.parametrize("kind", ["a folder", "a device, pipe or socket"])
def test_an_artifact_is_no_file(project, kind, no_hang):
    project.out.mkdir()
    path = project.out / "vocab.bin"
    if kind == "a folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    for arguments in ((), ("--force",)):
        line = project.run(*arguments).refused(2)
        assert line == f"pipeline: {path}: expected a file, found {kind}; move it away"
    assert project.status().code == 1
    assert project.clean("--force").code == 0
    assert path.exists()


@pytest.mark.parametrize("name", ["build.json", f"{WORK}/files.json"])
def test_a_pipe_in_place_of_our_own_files_is_not_waited_for(built, name, no_hang):
    path = built.out / name
    path.unlink()
    os.mkfifo(path)
    if name == "build.json":
        line = built.run().refused(2)
        assert line == f"pipeline: {path}: expected a file, found a device, pipe or socket; move it away"
    else:
        built.run("--force").done()


def test_a_read_only_folder(project):
    project.out.mkdir(mode=0o555)
    line = project.child(preexec_fn=without_rights).refused(4)
    assert line == f"pipeline: {project.out / WORK}: Permission denied"
    assert list(project.out.iterdir()) == []


def test_a_read_only_folder_of_artifacts(built):
    """The rest of the folder can be written; what is there stays whole."""
    good = built.contents()
    folder = built.out / "tensors"
    folder.chmod(0o555)
    (built.out / "vocab.bin").unlink()
    built.gguf.unlink()
    write_tiny(built.gguf, body=[tensor("new")])
    line = built.child("--keep-going", preexec_fn=without_rights).refused(4)
    assert line == f"pipeline: {folder / 'new.bin'}: Permission denied"
    now = built.contents()
    assert {name: now[name] for name in now if name.startswith("tensors/")} == {
        name: good[name] for name in good if name.startswith("tensors/")
    }
    assert "vocab.bin" in now


def test_artifacts_that_cannot_be_read(built):
    path = built.out / "vocab.bin"
    path.write_bytes(b"edited")
    path.chmod(0)
    line = built.child(preexec_fn=without_rights).refused(4)
    assert line == f"pipeline: {path}: cannot be read: Permission denied"
    folder = built.out / "tensors"
    folder.chmod(0)
    outcome = child("status", built.manifest, preexec_fn=without_rights)
    folder.chmod(0o755)
    assert (outcome.code, outcome.err) == (1, "")
    first = folder / "blk.0.f16.weight.bin"
    assert f"tensors        failed    {first}: Permission denied" in outcome.lines


def test_a_name_too_long_for_the_system(project):
    line = project.run("--out", project.root / ("x" * 300)).refused(4)
    assert line.endswith(": File name too long")


def test_staged_files_are_dropped_with_what_a_killed_run_left(built):
    left = built.out / WORK / "staging"
    left.mkdir()
    (left / "000001").write_bytes(b"half")
    assert built.status().code == 0
    assert left.exists()
    built.run().done()
    assert not left.exists()


def test_commit_is_all_or_nothing_as_far_as_can_be_told_before(tmp_path):
    OutputFolder.prepare(tmp_path)
    (tmp_path / "b").mkdir()
    with OutputFolder(tmp_path) as folder:
        staged = []
        for name in ("a", "b", "c"):
            with folder.stage(name, staged) as file:
                file.write(b"x")
        with pytest.raises(Exception, match="expected a file, found a folder"):
            folder.commit(staged)
    assert sorted(path.name for path in tmp_path.iterdir()) == [WORK, "b"]
    assert not (tmp_path / WORK / "staging").exists()


def test_a_sync_that_fails_stops_the_commit(tmp_path, monkeypatch):
    """Some disks tell of being full only when the data reaches them."""
    from pipeline.runner import staging

    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(staging, "bring_to_disk", full)
    OutputFolder.prepare(tmp_path)
    with OutputFolder(tmp_path) as folder:
        staged = []
        with folder.stage("a", staged) as file:
            file.write(b"x")
        with pytest.raises(OSError, match="No space left"):
            folder.commit(staged)
    assert [path.name for path in tmp_path.iterdir()] == [WORK]


def test_a_file_is_hashed_and_counted_on_the_way(tmp_path):
    staging, staged = Staging(tmp_path / "staging"), []
    with staging.stage("a", staged, sync=True) as file:
        file.write(b"one ")
        file.write(memoryview(b"two"))
    (found,) = staged
    assert staging.settle(found)
    assert not staging.settle(found)
    assert (found.name, found.size, found.path.read_bytes()) == ("a", 7, b"one two")
    staging.clear()
    staging.close()
    assert list(tmp_path.iterdir()) == []


def test_everything_is_on_the_disk_at_the_end(project, monkeypatch):
    """Each file before it gets its name, the record at the latest at the end, then the folders."""
    from pipeline.runner import outputs, staging

    synced = []
    real = staging.bring_to_disk

    def noting(path):
        synced.append((path.resolve(), path.stat().st_ino))
        real(path)

    monkeypatch.setattr(staging, "bring_to_disk", noting)
    monkeypatch.setattr(outputs, "bring_to_disk", noting)
    project.run().done()
    inodes = {inode for _, inode in synced}
    assert {(project.out / name).stat().st_ino for name in project.names()} <= inodes
    folders = {path for path, _ in synced if path.is_dir()}
    assert folders == {project.out.resolve(), (project.out / "tensors").resolve()}


def test_a_child_says_the_same(project):
    project.out.write_bytes(b"mine")
    assert child("run", project.manifest).refused(2).startswith(f"pipeline: {project.out}: expected a folder")
