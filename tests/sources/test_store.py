"""A model found in a store, whichever layout it has, and its text layers."""

import os

import pytest
from store_builder import GGUF, Store, find, refusal, sha

from pipeline.sources.digests import DigestCache
from pipeline.sources.errors import StoreError, StoreFault
from pipeline.sources.manifest_json import LIST_MEDIA_TYPE
from pipeline.sources.names import parse_name
from pipeline.sources.roots import StoreRoot
from pipeline.sources.store import TEXT_LIMIT, check_model_blob, find_model, read_text_layers


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "models")


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
