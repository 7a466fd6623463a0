"""The list of what stores hold: complete, and never a crash."""

import errno
import os
from pathlib import Path

import pytest
from store_builder import GGUF, Store

from pipeline.sources.listing import list_models
from pipeline.sources.roots import StoreRoot


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "models")


def names(lines):
    return [line.name for line in lines]


def test_every_model_by_name_the_broken_ones_with_their_reason(store):
    store.model("registry.ollama.ai/library/qwen2.5/0.5b")
    store.model("registry.ollama.ai/library/Big/latest", GGUF + b"1")
    store.model("hf.co/Org/Repo/Q4_K_M", GGUF + b"2")
    store.model("host:5000/ns/m/latest", GGUF + b"3")
    store.blob_path(GGUF + b"3").unlink()
    store.write_manifest(b"", "registry.ollama.ai/ns/empty/latest")
    store.write_manifest(store.document(None), "registry.ollama.ai/library/gpt-oss/120b-cloud")
    lines = list_models([StoreRoot(store.root, "test")])
    assert names(lines) == [
        "Big:latest",
        "gpt-oss:120b-cloud",
        "hf.co/Org/Repo:Q4_K_M",
        "host:5000/ns/m:latest",
        "ns/empty:latest",
        "qwen2.5:0.5b",
    ]
    good = {line.name: line.model for line in lines if line.model is not None}
    assert list(good) == ["Big:latest", "hf.co/Org/Repo:Q4_K_M", "qwen2.5:0.5b"]
    assert good["qwen2.5:0.5b"].size == len(GGUF) + 46
    assert good["qwen2.5:0.5b"].model_blob.read_bytes() == GGUF
    problems = {line.name: line.problem for line in lines if line.model is None}
    assert "a cloud model" in problems["gpt-oss:120b-cloud"]
    assert "it is missing" in problems["host:5000/ns/m:latest"]
    assert "the manifest is empty" in problems["ns/empty:latest"]
    assert all(line.problem == "" for line in lines if line.model is not None)
    assert all(line.root == store.root for line in lines)


def test_junk_is_skipped(store):
    store.model()
    manifests = store.root / "manifests"
    for junk in (
        ".DS_Store",
        "desktop.ini",
        "registry.ollama.ai/.DS_Store",
        "registry.ollama.ai/library/qwen2.5/._x",
    ):
        (manifests / junk).write_bytes(b"junk")
    (manifests / "registry.ollama.ai/library/qwen2.5/deeper/still").mkdir(parents=True)
    (manifests / "registry.ollama.ai/library/qwen2.5/bad name").write_bytes(b"junk")
    assert names(list_models([StoreRoot(store.root, "test")])) == ["qwen2.5:0.5b"]


def test_links_that_lead_nowhere_are_listed(store):
    folder = store.model().parent
    (folder / "gone").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    (store.root / "manifests" / "circle").symlink_to("circle")
    lines = {line.name: line.problem for line in list_models([StoreRoot(store.root, "test")])}
    assert lines["qwen2.5:0.5b"] == ""
    assert "a symbolic link to nothing" in lines["qwen2.5:gone"]
    assert "lead in a circle" in lines["qwen2.5:loop"]
    assert "lead in a circle" in lines[str(store.root / "manifests" / "circle")]


def test_both_layouts_and_several_stores(tmp_path):
    first, second = Store(tmp_path / "first"), Store(tmp_path / "second")
    first.model("ollama.com/library/m/latest", GGUF + b"new", layout="manifests-v2")
    first.model("registry.ollama.ai/library/m/latest", GGUF + b"old")
    first.model("registry.ollama.ai/library/n/latest")
    second.model("registry.ollama.ai/library/m/latest")
    second.model("registry.ollama.ai/library/o/latest")
    roots = [StoreRoot(tmp_path / "none", "x"), StoreRoot(first.root, "y"), StoreRoot(second.root, "z")]
    lines = list_models(roots)
    assert [(line.name, line.root.name) for line in lines] == [
        ("m:latest", "first"),
        ("n:latest", "first"),
        ("o:latest", "second"),
    ]
    assert lines[0].model.model_blob.read_bytes() == GGUF + b"new"


@pytest.mark.parametrize(("private", "expected"), [(False, 2), (True, 1)])
def test_a_folder_that_cannot_be_read_is_a_line(store, tmp_path, monkeypatch, private, expected):
    store.model()
    closed = tmp_path / "closed"
    real = Path.stat

    def refusing(self, **kwargs):
        if closed in self.parents:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(self))
        return real(self, **kwargs)

    monkeypatch.setattr(Path, "stat", refusing)
    lines = list_models([StoreRoot(store.root, "test"), StoreRoot(closed, "closed", private=private)])
    assert len([line for line in lines if line.model is not None]) == 1
    assert len({line.problem for line in lines}) == expected
    assert all("no permission" in line.problem for line in lines if line.model is None)


def test_no_store_is_an_empty_list(tmp_path):
    assert list_models([StoreRoot(tmp_path, "test")]) == []
    assert list_models([]) == []
