"""A model found in a store, and every state of a store that stops a build."""

import errno
import os
import shutil
from pathlib import Path

import pytest
from store_builder import GGUF, Store, sha

from pipeline.errors import MachineError
from pipeline.sources.digests import DigestCache
from pipeline.sources.errors import InputChanged, NotInStore, StoreError, StoreFault, StoreUnreadable
from pipeline.sources.files import failure
from pipeline.sources.manifest_json import LIST_MEDIA_TYPE, MANIFEST_LIMIT
from pipeline.sources.names import parse_name
from pipeline.sources.roots import StoreRoot, store_roots
from pipeline.sources.store import TEXT_LIMIT, check_model_blob, find_model, read_text_layers

QWEN = "registry.ollama.ai/library/qwen2.5/0.5b"


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "models")


def find(store, name="qwen2.5:0.5b"):
    return find_model(parse_name(name), [StoreRoot(store.root, "test")])


def refusal(store, fault, *words, name="qwen2.5:0.5b", kind=StoreError):
    """Check that the model is refused for `fault`, on one line with `words`; give the error back."""
    with pytest.raises(kind) as caught:
        find(store, name)
    error = caught.value
    assert error.fault is fault
    assert str(error).isprintable()
    for word in words:
        assert str(word) in str(error)
    return error


# What is found


def test_a_model_with_all_its_layers(store):
    extra = [
        store.layer("template", b"{{ .Prompt }}"),
        store.layer("system", b"You are small.", **{"from": "/somewhere", "name": "sys"}),
    ]
    path = store.model(extra=extra)
    model = find(store)
    assert model.name.short == "qwen2.5:0.5b"
    assert (model.root, model.manifest) == (store.root, path)
    assert model.manifest_digest == f"sha256:{sha(path.read_bytes())}"
    assert [layer.kind for layer in model.layers] == ["model", "template", "system"]
    assert model.model_blob == store.blob_path(GGUF)
    assert model.model_layer.digest == f"sha256:{sha(GGUF)}"
    assert model.model_layer.size == len(GGUF)
    assert (model.layers[2].source, model.layers[2].name) == ("/somewhere", "sys")
    assert model.size == sum(path.stat().st_size for path in (store.root / "blobs").iterdir())


def test_each_name_reaches_its_own_blob(store):
    blobs = {}
    for index, path in enumerate(
        [
            "registry.ollama.ai/library/m/latest",
            "host:5000/ns/m/latest",
            "hf.co/Org/Repo/Q4_K_M",
            "registry.ollama.ai/ns/m/latest",
            "registry.ollama.ai/library/m/1b",
        ]
    ):
        blobs[path] = GGUF + bytes([index])
        store.model(path, blobs[path])
    for name, path in {
        "m": "registry.ollama.ai/library/m/latest",
        "host:5000/ns/m": "host:5000/ns/m/latest",
        "http://host:5000/ns/m:latest": "host:5000/ns/m/latest",
        "hf.co/Org/Repo:Q4_K_M": "hf.co/Org/Repo/Q4_K_M",
        "ns/m": "registry.ollama.ai/ns/m/latest",
        "library/m:1b": "registry.ollama.ai/library/m/1b",
    }.items():
        assert find(store, name).model_blob.read_bytes() == blobs[path], name


def test_the_last_model_layer_wins(store):
    store.write_manifest(store.document([store.layer("model", b"GGUF old"), store.layer("model", GGUF)]))
    assert find(store).model_blob.read_bytes() == GGUF


def test_blobs_of_older_stores_have_a_colon(store):
    store.model()
    store.blob_path(GGUF).rename(store.root / "blobs" / f"sha256:{sha(GGUF)}")
    assert find(store).model_blob.name == f"sha256:{sha(GGUF)}"


def test_a_blob_may_be_a_link_to_another_disk(store, tmp_path):
    store.model()
    elsewhere = tmp_path / "elsewhere"
    store.blob_path(GGUF).rename(elsewhere)
    store.blob_path(GGUF).symlink_to(elsewhere)
    model = find(store)
    assert check_model_blob(model, DigestCache(None)).sha256 == sha(GGUF)


def test_another_case_is_found_if_it_is_the_only_one(store):
    store.model("hf.co/Org/Repo/Q4_K_M")
    assert find(store, "HF.co/org/repo:q4_k_m").name.short == "hf.co/Org/Repo:Q4_K_M"


def test_the_exact_case_comes_first(store):
    store.model("registry.ollama.ai/library/Qwen2.5/0.5b", GGUF + b"1")
    store.model("registry.ollama.ai/library/qwen2.5/0.5b", GGUF + b"2")
    assert find(store).model_blob.read_bytes() == GGUF + b"2"
    assert find(store, "Qwen2.5:0.5b").model_blob.read_bytes() == GGUF + b"1"
    refusal(store, StoreFault.AMBIGUOUS, "2 models", "Qwen2.5:0.5b (", "qwen2.5:0.5b (", name="QWEN2.5:0.5b")


def test_the_first_root_with_the_model_serves(tmp_path):
    first, second = Store(tmp_path / "first"), Store(tmp_path / "second")
    second.model()
    roots = [StoreRoot(tmp_path / "none", "a"), StoreRoot(first.root, "b"), StoreRoot(second.root, "c")]
    name = parse_name("qwen2.5:0.5b")
    assert find_model(name, roots).root == second.root
    first.model()
    assert find_model(name, roots).root == first.root
    first.blob_path(GGUF).unlink()
    with pytest.raises(StoreError) as caught:  # a broken model is not passed over
        find_model(name, roots)
    assert caught.value.fault is StoreFault.BLOB_MISSING


# The newer layout


def link_manifest(store, name="ollama.com/library/qwen2.5/0.5b", data=GGUF):
    """Write a model as newer stores do: the manifest is a blob, its name a link to it."""
    plain = store.model("made.up/x/y/z", data)
    blob = store.blob(plain.read_bytes())
    plain.unlink()
    path = store.manifest_path(name, "manifests-v2")
    path.parent.mkdir(parents=True)
    path.symlink_to(os.path.relpath(blob, path.parent))
    return path, blob


def test_the_newer_layout_is_read_first(store):
    store.model(data=GGUF + b"old")
    link_manifest(store)
    assert find(store).model_blob.read_bytes() == GGUF
    assert find(store, "ollama.com/library/qwen2.5:0.5b").model_blob.read_bytes() == GGUF


def test_the_newer_layout_may_hold_copies(store):
    store.model("hf.co/Org/Repo/Q4_K_M", layout="manifests-v2")
    assert find(store, "hf.co/Org/Repo:Q4_K_M").model_blob.read_bytes() == GGUF


def test_the_public_hosts_other_name_serves_in_the_older_layout_too(store):
    store.model("ollama.com/library/qwen2.5/0.5b")
    assert find(store).model_blob.read_bytes() == GGUF


def test_a_dangling_link_gives_way_to_the_older_layout(store):
    path, blob = link_manifest(store)
    blob.unlink()
    refusal(store, StoreFault.BROKEN_LINK, path, "a symbolic link to nothing", "ollama pull qwen2.5:0.5b")
    store.model(data=GGUF + b"old")
    assert find(store).model_blob.read_bytes() == GGUF + b"old"


def test_a_dangling_link_in_another_case(store):
    _, blob = link_manifest(store)
    blob.unlink()
    refusal(store, StoreFault.BROKEN_LINK, "ollama pull qwen2.5:0.5b", name="QWEN2.5:0.5b")


def test_a_linked_manifest_is_held_against_its_blobs_name(store):
    path, blob = link_manifest(store)
    blob.write_bytes(blob.read_bytes() + b" ")
    refusal(store, StoreFault.BLOB_DIGEST, path, sha(blob.read_bytes()))


def manifest_list(store, *members):
    document = {"schemaVersion": 2, "mediaType": LIST_MEDIA_TYPE, "manifests": list(members)}
    return store.write_manifest(document)


def member(store, data, runner, weights):
    blob = store.blob(store.model("made.up/x/y/z", data).read_bytes())
    return {"mediaType": "m", "digest": blob.name.replace("-", ":"), "runner": runner, "format": weights}


@pytest.mark.parametrize(
    ("runners", "expected"),
    [
        (["mlx", "llamacpp", "ollama"], 2),
        (["mlx", "llamacpp"], 1),
        (["other", "mlx"], 0),
    ],
)
def test_of_a_list_the_gguf_is_taken(store, runners, expected):
    formats = ["safetensors" if runner == "mlx" else "gguf" for runner in runners]
    members = [
        member(store, GGUF + bytes([i]), *pair) for i, pair in enumerate(zip(runners, formats, strict=True))
    ]
    path = manifest_list(store, *members)
    model = find(store)
    assert model.model_blob.read_bytes() == GGUF + bytes([expected])
    assert model.manifest_digest == f"sha256:{sha(path.read_bytes())}"


def test_a_list_with_a_manifest_in_place(store):
    manifest_list(store, {**store.document([store.layer("model", GGUF)]), "runner": "ollama"})
    assert find(store).model_blob.read_bytes() == GGUF


def test_lists_that_do_not_serve(store):
    path = manifest_list(store, member(store, GGUF, "mlx", "safetensors"))
    refusal(store, StoreFault.SAFETENSORS, path, "other runners (mlx)")
    manifest_list(store)
    refusal(store, StoreFault.SAFETENSORS, "other runners (none)")
    reference = member(store, GGUF, "ollama", "gguf")
    manifest_list(store, reference)
    blob = store.root / "blobs" / reference["digest"].replace(":", "-")
    blob.write_bytes(b"{}")
    refusal(store, StoreFault.BLOB_DIGEST, blob)
    blob.unlink()
    refusal(store, StoreFault.BLOB_MISSING, blob)
    inner = store.blob(manifest_list(store, reference).read_bytes())
    manifest_list(store, {"digest": inner.name, "runner": "ollama"})
    refusal(store, StoreFault.DAMAGED_MANIFEST, inner, "found a list inside the list")


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


# Text layers


def test_text_layers_in_order(store):
    extra = [
        store.layer("license", b"first"),
        store.layer("template", b"old"),
        store.layer("license", b"second"),
        store.layer("params", b'{"stop":["x"]}'),
        store.layer("template", "neu\r\n\u2581".encode()),
        store.layer("messages", b"[]"),
        store.layer("projector", b"GGUF"),
        store.layer("license", b"third"),
    ]
    store.model(extra=extra)
    assert list(read_text_layers(find(store)).items()) == [
        ("license", b"first"),
        ("template", "neu\r\n\u2581".encode()),
        ("license-2", b"second"),
        ("params", b'{"stop":["x"]}'),
        ("messages", b"[]"),
        ("license-3", b"third"),
    ]


def test_a_text_layer_is_held_against_its_digest(store):
    store.model(extra=[store.layer("system", b"abc")])
    store.blob_path(b"abc").write_bytes(b"abd")
    with pytest.raises(StoreError) as caught:
        read_text_layers(find(store))
    assert caught.value.fault is StoreFault.BLOB_DIGEST


def test_a_text_layer_has_a_limit(store):
    data = bytes(TEXT_LIMIT + 1)
    store.model(extra=[store.layer("system", data)])
    with pytest.raises(StoreError, match="at most 4,194,304 bytes") as caught:
        read_text_layers(find(store))
    assert caught.value.fault is StoreFault.LAYER_TOO_LARGE
