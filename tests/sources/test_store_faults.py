"""Every state of a store that stops a build: its own words, path and way out."""

import errno
import os
import shutil
from pathlib import Path

import pytest
from store_builder import GGUF, Store, find, refusal, sha

from pipeline.errors import MachineError
from pipeline.sources.digests import DigestCache
from pipeline.sources.errors import InputChanged, NotInStore, StoreError, StoreFault, StoreUnreadable
from pipeline.sources.files import failure
from pipeline.sources.manifest_json import MANIFEST_LIMIT
from pipeline.sources.names import parse_name
from pipeline.sources.roots import StoreRoot, store_roots
from pipeline.sources.store import check_model_blob, find_model, read_text_layers


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "models")


# Nothing there: the states that a fallback may answer


def test_no_store_at_all(tmp_path):
    roots = [StoreRoot(tmp_path / "a", "a"), StoreRoot(tmp_path / "b", "b")]
    with pytest.raises(NotInStore) as caught:
        find_model(parse_name("m"), roots)
    assert caught.value.fault is StoreFault.NO_STORE
    assert f"looked in {tmp_path / 'a'}, {tmp_path / 'b'}" in str(caught.value)
    assert caught.value.exit_code == 3
    with pytest.raises(NotInStore, match="the user has no home"):
        find_model(parse_name("m"), [])


def test_ollama_models_points_to_no_store(tmp_path):
    (tmp_path / "empty").mkdir()
    roots = store_roots({"OLLAMA_MODELS": str(tmp_path / "empty"), "HOME": str(tmp_path)}, "linux")
    with pytest.raises(NotInStore, match="where OLLAMA_MODELS points") as caught:
        find_model(parse_name("m"), roots)
    assert str(tmp_path / "empty") in str(caught.value)


def test_no_such_model(store):
    error = refusal(store, StoreFault.NO_MODEL, store.manifest_path(), "it holds none", kind=NotInStore)
    assert "`ollama pull qwen2.5:0.5b`" in str(error)
    for name in ("qwen2.5/1.5b", "qwen2/0.5b", "llama/8b"):
        store.model(f"registry.ollama.ai/library/{name}")
    (store.root / "manifests-v2").mkdir()
    words = (store.manifest_path("ollama.com/library/qwen2.5/0.5b", "manifests-v2"), store.manifest_path())
    refusal(store, StoreFault.NO_MODEL, *words, "; nearest: qwen2.5:1.5b, qwen2:0.5b)", kind=NotInStore)
    refusal(store, StoreFault.NO_MODEL, "it holds 3 others", name="zzz/zzz", kind=NotInStore)


def test_a_host_longer_than_a_file_name(store):
    refusal(store, StoreFault.NO_MODEL, name="h" * 350 + "/n/m", kind=NotInStore)


def test_the_tag_alone_decides(store):
    store.model()
    refusal(store, StoreFault.NO_MODEL, "nearest: qwen2.5:0.5b", name="qwen2.5", kind=NotInStore)


# Broken manifests


@pytest.mark.parametrize(
    ("data", "fault", "word"),
    [
        (b"", StoreFault.EMPTY_MANIFEST, "the manifest is empty"),
        (b"{", StoreFault.DAMAGED_MANIFEST, "damaged manifest: expected JSON"),
        (b"\x00" * 20, StoreFault.DAMAGED_MANIFEST, "damaged manifest: expected JSON"),
        (
            b" " * (MANIFEST_LIMIT + 1),
            StoreFault.MANIFEST_TOO_LARGE,
            "at most 4,194,304 bytes, found 4,194,305",
        ),
    ],
)
def test_broken_manifests(store, data, fault, word):
    path = store.write_manifest(data)
    refusal(store, fault, f"{path}: ", word, "ollama pull qwen2.5:0.5b")


def test_a_manifest_that_is_no_file(store):
    path = store.manifest_path()
    path.mkdir(parents=True)
    refusal(store, StoreFault.NOT_A_FILE, path, "found a folder")
    path.rmdir()
    os.mkfifo(path)
    refusal(store, StoreFault.NOT_A_FILE, path, "found a device, pipe or socket")
    path.unlink()
    path.symlink_to(path.name)
    refusal(store, StoreFault.LINK_LOOP, path, "lead in a circle")


def test_a_file_where_a_folder_belongs(store):
    (store.root / "manifests" / "registry.ollama.ai").write_bytes(b"")
    refusal(store, StoreFault.NOT_A_FOLDER, store.root / "manifests" / "registry.ollama.ai", "found a file")


@pytest.mark.parametrize(
    ("layers", "fault", "word"),
    [
        (None, StoreFault.CLOUD_MODEL, "a cloud model, whose weights are not on this machine"),
        ([], StoreFault.CLOUD_MODEL, "a cloud model"),
        (
            ["tensor", "json"],
            StoreFault.SAFETENSORS,
            "layers of kind json, tensor: qwen2.5:0.5b is a safetensors",
        ),
        (["license", "template"], StoreFault.NO_MODEL_LAYER, "found only license, template"),
        ([f"kind{i}" for i in range(9)], StoreFault.NO_MODEL_LAYER, "kind5, ...;"),
    ],
)
def test_models_without_a_gguf(store, layers, fault, word):
    members = None if layers is None else [store.layer(kind, kind.encode()) for kind in layers]
    path = store.write_manifest(store.document(members))
    refusal(store, fault, path, word)


def test_a_model_layer_beside_json_layers_serves(store):
    store.model(extra=[store.layer("json", b"{}")])
    assert find(store).model_blob.read_bytes() == GGUF


# Broken blobs


def test_a_missing_blob(store):
    store.model()
    store.blob_path(GGUF).unlink()
    refusal(store, StoreFault.BLOB_MISSING, store.blob_path(GGUF), "`ollama pull qwen2.5:0.5b` fetches it")
    (store.root / "blobs").rename(store.root / "gone")
    refusal(store, StoreFault.BLOB_MISSING)


def test_a_missing_blob_of_a_small_layer(store):
    store.model(extra=[store.layer("template", b"t", write=False)])
    refusal(store, StoreFault.BLOB_MISSING, sha(b"t"))


@pytest.mark.parametrize("suffix", ["-partial", "-partial-0", "-partial-12"])
def test_only_a_partial_download(store, suffix):
    store.model()
    blob = store.blob_path(GGUF)
    partial = blob.with_name(blob.name + suffix)
    blob.rename(partial)
    refusal(store, StoreFault.BLOB_PARTIAL, blob, partial.name, "finish it with `ollama pull qwen2.5:0.5b`")


def test_a_partial_file_beside_the_blob_does_no_harm(store):
    store.model()
    blob = store.blob_path(GGUF)
    shutil.copy(blob, blob.with_name(blob.name + "-partial"))
    assert find(store).model_blob == blob


def test_a_blob_of_another_size(store):
    store.model()
    store.blob_path(GGUF).write_bytes(GGUF[:-40])
    refusal(
        store,
        StoreFault.BLOB_SIZE,
        store.blob_path(GGUF),
        "expected 208 bytes",
        "found 168",
        "delete the file",
    )


def test_one_changed_byte(store):
    store.model()
    blob = store.blob_path(GGUF)
    model = find(store)
    assert check_model_blob(model, DigestCache(None)).sha256 == sha(GGUF)
    changed = bytearray(GGUF)
    changed[100] ^= 1
    blob.write_bytes(changed)
    with pytest.raises(StoreError) as caught:
        check_model_blob(find(store), DigestCache(None))
    assert caught.value.fault is StoreFault.BLOB_DIGEST
    assert str(blob) in str(caught.value)
    assert f"found {sha(changed)}" in str(caught.value)
    assert "delete the file, then `ollama pull qwen2.5:0.5b`" in str(caught.value)


def test_a_blob_that_is_no_file(store):
    store.model()
    blob = store.blob_path(GGUF)
    blob.unlink()
    blob.mkdir()
    refusal(store, StoreFault.NOT_A_FILE, blob, "found a folder")
    blob.rmdir()
    blob.symlink_to(blob.name)
    refusal(store, StoreFault.LINK_LOOP, blob, "lead in a circle")
    blob.unlink()
    blob.symlink_to("nowhere")
    refusal(store, StoreFault.BROKEN_LINK, blob, "a symbolic link to nothing")


# What the system refuses


def deny(monkeypatch, method, target, number=errno.EACCES):
    """Let the system refuse one path: mode 000 would not stop root."""
    real = getattr(Path, method)

    def refusing(self, *args, **kwargs):
        if self == target:
            raise OSError(number, os.strerror(number), str(self))
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, method, refusing)


@pytest.mark.parametrize("method", ["stat", "open"])
@pytest.mark.parametrize("what", ["manifest", "blob", "template"])
def test_no_permission(store, monkeypatch, method, what):
    template = store.layer("template", b"t")
    manifest = store.model(extra=[template])
    target = {"manifest": manifest, "blob": store.blob_path(GGUF), "template": store.blob_path(b"t")}[what]
    deny(monkeypatch, method, target)

    def use():
        model = find(store)
        read_text_layers(model)
        check_model_blob(model, DigestCache(None))

    with pytest.raises(StoreUnreadable) as caught:
        use()
    assert caught.value.fault is StoreFault.NO_PERMISSION
    assert isinstance(caught.value, MachineError)
    assert str(caught.value).startswith(f"{target}: no permission to read it; ")


def test_an_unreadable_store_is_not_passed_over(tmp_path, monkeypatch):
    user, service = Store(tmp_path / "user"), Store(tmp_path / "service")
    roots = [StoreRoot(user.root, "user"), StoreRoot(service.root, "service")]
    deny(monkeypatch, "stat", service.root / "manifests")
    with pytest.raises(StoreUnreadable, match="no permission"):  # it may hold the model
        find_model(parse_name("qwen2.5:0.5b"), roots)
    user.model()
    assert find_model(parse_name("qwen2.5:0.5b"), roots).root == user.root


def test_a_folder_that_cannot_be_listed_is_not_passed_over(store, monkeypatch):
    store.model("registry.ollama.ai/library/Qwen2.5/0.5b")
    deny(monkeypatch, "iterdir", store.root / "manifests" / "registry.ollama.ai")
    refusal(store, StoreFault.NO_PERMISSION, kind=StoreUnreadable)


@pytest.mark.parametrize(
    ("number", "kind", "fault"),
    [
        (errno.EACCES, StoreUnreadable, StoreFault.NO_PERMISSION),
        (errno.EPERM, StoreUnreadable, StoreFault.NO_PERMISSION),
        (errno.EIO, StoreUnreadable, StoreFault.READ_FAILED),
        (errno.ESTALE, StoreUnreadable, StoreFault.READ_FAILED),
        (errno.ELOOP, StoreError, StoreFault.LINK_LOOP),
        (errno.ENOTDIR, StoreError, StoreFault.NOT_A_FOLDER),
        (errno.ENOENT, InputChanged, None),
    ],
)
def test_every_refusal_of_the_system_has_its_error(tmp_path, number, kind, fault):
    error = failure(tmp_path / "x", OSError(number, os.strerror(number)))
    assert type(error) is kind
    assert getattr(error, "fault", None) is fault
    assert str(tmp_path) in str(error)


def test_a_path_cannot_drive_the_terminal(tmp_path):
    store = Store(tmp_path / "a\x1b[31m\nb")
    store.model()
    store.blob_path(GGUF).unlink()
    refusal(store, StoreFault.BLOB_MISSING, r"a\x1b[31m\nb")
