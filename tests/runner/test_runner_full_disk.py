"""A disk that is full: one line, no half file, and after room was made the next run ends as a clean build does."""

import contextlib
import os
import resource
import subprocess
import sys

import pytest
from projects import Project, contents
from tiny_model import tensor, tensors, write_tiny

from formats.ggml_types import GgmlType

KIB = 1024
FULL = "No space left on device; make room and run again, nothing half-written is left"


def refuse_or_skip(reason):
    if os.environ.get("PIPELINE_REQUIRE_SHARED") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@contextlib.contextmanager
def disk(folder, options):
    """Mount a small disk of its own on a folder."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        refuse_or_skip(f"the full-disk tests need a user who may mount a tmpfs: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def used(folder):
    """Tell how many bytes of a disk are taken."""
    status = os.statvfs(folder)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def enlarge(folder, options="size=64m,nr_inodes=10k"):
    subprocess.run(["mount", "-o", f"remount,{options}", folder], check=True)


@pytest.fixture
def model(project):
    """A model whose tensors are some pages of the disk each, and what a clean build of it holds."""
    body = [*tensors(), *(tensor(f"big.{number}", GgmlType.F32, (64, 256)) for number in range(12))]
    write_tiny(project.gguf, body=body)
    project.run("--out", project.root / "good").done()
    return project, contents(project.root / "good")


def build_on(project, folder):
    """Run with the output on another disk."""
    return project.run("--out", folder)


def require_whole(folder, good):
    for name, digest in contents(folder).items():
        if name != "build.json":
            assert digest == good[name], name


@pytest.fixture
def need(model, tmp_path):
    """Tell how many bytes a disk needs for the finished build."""
    with disk(tmp_path / "large", "size=64m") as folder:
        build_on(model[0], folder).done()
        return used(folder)


# From a disk that does not even hold the first record to one on which only the last files are missing.
@pytest.mark.parametrize("percent", [2, 5, 12, 40, 70, 90, 95, 99])
def test_a_disk_too_small(model, need, tmp_path, percent):
    project, good = model
    with disk(tmp_path / "disk", f"size={need * percent // 100}") as folder:
        line = build_on(project, folder).refused(4)
        assert line.startswith(f"pipeline: {folder}")
        assert line.endswith(FULL)
        require_whole(folder, good)
        assert not (folder / ".pipeline" / "staging").exists()
        # Full is full, however often one tries.
        assert build_on(project, folder).refused(4).endswith(FULL)
        require_whole(folder, good)
        enlarge(folder)
        build_on(project, folder).done()
        assert contents(folder) == good


def test_different_sizes_stop_different_steps(model, need, tmp_path):
    project, _ = model
    stopped = set()
    for percent in (2, 5, 40, 93, 99):
        with disk(tmp_path / f"disk{percent}", f"size={need * percent // 100}") as folder:
            outcome = build_on(project, folder)
            outcome.refused(4)
            stopped |= {line.split()[0] for line in outcome.lines if " failed " in line}
    assert len(stopped) >= 3, stopped


@pytest.mark.parametrize("inodes", [4, 6, 12, 30])
def test_a_disk_without_inodes(model, tmp_path, inodes):
    project, good = model
    with disk(tmp_path / "disk", f"size=8m,nr_inodes={inodes}") as folder:
        assert build_on(project, folder).refused(4).endswith(FULL)
        require_whole(folder, good)
        enlarge(folder)
        build_on(project, folder).done()
        assert contents(folder) == good


def test_a_full_disk_while_a_build_is_replaced(model, tmp_path):
    """The old artifacts stay; every file is the old one or the new one."""
    project, _ = model
    with disk(tmp_path / "disk", "size=2m") as folder:
        build_on(project, folder).done()
        old = contents(folder)
        write_tiny(
            project.gguf,
            body=[tensor(f"big.{number}", GgmlType.F32, (64, 256), "new") for number in range(12)],
        )
        project.run("--out", project.root / "new").done()
        new = contents(project.root / "new")
        with (folder / "ballast").open("wb", buffering=0) as ballast, contextlib.suppress(OSError):
            while ballast.write(bytes(4 * KIB)):
                pass
        assert build_on(project, folder).refused(4).endswith(FULL)
        now = contents(folder)
        del now["ballast"], now["build.json"]
        assert all(digest in (old.get(name), new.get(name)) for name, digest in now.items())
        assert set(now) >= set(old) - {"build.json"}
        (folder / "ballast").unlink()
        build_on(project, folder).done()
        outcome = project.clean("--out", folder).done()
        assert outcome.lines[-1].startswith("8 removed, 0 kept")
        assert contents(folder) == new


def test_a_step_that_fails_gives_its_room_back(model, need, tmp_path):
    """With --keep-going the steps behind it need what its unfinished files took."""
    project, _ = model
    with disk(tmp_path / "disk", f"size={need * 60 // 100}") as folder:
        outcome = project.run("--out", folder, "--keep-going")
        assert outcome.refused(4).endswith(FULL)
        words = [line.split()[:2] for line in outcome.lines if line[:1] != " "][1:-1]
        assert words == [[step, "failed" if step == "tensors" else "made"] for step in project.states()]


def test_what_was_made_before_the_disk_was_full_is_found_fresh(model, need, tmp_path):
    project, _ = model
    with disk(tmp_path / "disk", f"size={need * 70 // 100}") as folder:
        build_on(project, folder).refused(4)
        enlarge(folder)
        lines = build_on(project, folder).done().lines
    assert lines[1:4] == ["inspect        fresh", "layers         fresh", "tokenizer      fresh"]
    assert lines[4].startswith("tensors        made ")


@pytest.mark.parametrize("limit_k", [1, 3, 20])
def test_a_limit_on_the_size_of_files(model, limit_k):
    project, good = model

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_k * KIB, limit_k * KIB))

    line = project.child(preexec_fn=limit).refused(4)
    assert line.startswith(f"pipeline: {project.out}")
    assert line.endswith(": File too large")
    require_whole(project.out, good)
    project.run().done()
    assert project.contents() == good


def test_too_few_files_may_be_open(model):
    """The interpreter itself needs some; what then fails first is the build."""
    project, good = model

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (6, 6))

    assert project.child(preexec_fn=limit).refused(4).endswith(": Too many open files")
    project.run().done()
    assert project.contents() == good


def test_the_cache_is_on_a_full_disk(model, tmp_path, monkeypatch):
    """It is never needed."""
    project, good = model
    with disk(tmp_path / "disk", "size=4k,nr_inodes=2") as folder:
        monkeypatch.setenv("PIPELINE_CACHE", str(folder / "cache"))
        project.run().done()
        assert project.contents() == good


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_the_sample_on_a_full_disk(tmp_path, alone, monkeypatch):
    project = Project(tmp_path)
    project.write_manifest(model={"sample": "qwen2.5"}, steps=["inspect"])
    with disk(tmp_path / "disk", "size=1m") as folder:
        monkeypatch.setenv("PIPELINE_CACHE", str(folder))
        line = project.run().refused(4)
    assert "the sample cannot be written: No space left on device; make room or set PIPELINE_CACHE" in line
