"""The manifest's JSON, field by field."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.sources.errors import StoreError, StoreFault
from pipeline.sources.manifest_json import LIST_MEDIA_TYPE, Layer, Manifest, Variant, parse_manifest

DIGEST = "sha256:" + "ab" * 32
LAYER = {"mediaType": "application/vnd.ollama.image.model", "digest": DIGEST, "size": 5}
CONFIG = {"mediaType": "application/vnd.docker.container.image.v1+json", "digest": DIGEST, "size": 0}
GOOD = {"schemaVersion": 2, "config": CONFIG, "layers": [LAYER]}


def dump(value):
    return json.dumps(value).encode()


def test_a_manifest_is_read_whole():
    layers = [
        {**LAYER, "from": "/a/b", "name": "n"},
        {
            **LAYER,
            "mediaType": "application/vnd.ollama.image.tensor; name=x",
            "digest": "sha256-" + "AB" * 32,
        },
        {**LAYER, "mediaType": "application/other"},
    ]
    config = Layer("application/vnd.docker.container.image.v1+json", DIGEST, 0)
    assert parse_manifest(dump({**GOOD, "layers": layers})) == Manifest(
        config,
        (
            Layer("model", DIGEST, 5, "/a/b", "n"),
            Layer("tensor", DIGEST, 5),
            Layer("application/other", DIGEST, 5),
        ),
    )


@pytest.mark.parametrize("more", [{"layers": None}, {"layers": []}, {}])
def test_a_cloud_model_has_no_layers(more):
    found = parse_manifest(dump({"schemaVersion": 2, "config": CONFIG, **more}))
    assert isinstance(found, Manifest)
    assert found.layers == ()


def test_a_list_holds_manifests_in_place_and_by_digest():
    members = [
        {"mediaType": "m", "digest": DIGEST, "runner": "MLX", "format": "safetensors"},
        {**GOOD, "runner": "llamacpp", "format": "gguf"},
    ]
    first, second = parse_manifest(
        dump({"schemaVersion": 2, "mediaType": LIST_MEDIA_TYPE, "manifests": members})
    )
    assert first == Variant("mlx", "safetensors", None, DIGEST)
    assert (second.runner, second.format, second.digest) == ("llamacpp", "gguf", "")
    assert second.manifest == parse_manifest(dump(GOOD))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "expected JSON, found Expecting property name"),
        (b"\xff{}", "expected UTF-8, found byte 0xFF at offset 0"),
        (b"\xef\xbb\xbf{}", "expected JSON, found"),
        (b"[" * 100_000, "expected JSON, found brackets nested too deep"),
        (b'{"schemaVersion": ' + b"9" * 5000 + b"}", "expected JSON, found Exceeds the limit"),
        (b"[]", "expected an object, found an array"),
        (b"null", "expected an object, found nothing"),
        (b"{}", "schemaVersion: expected 2, found nothing"),
        (dump({**GOOD, "schemaVersion": 1}), "schemaVersion: expected 2, found 1"),
        (dump({**GOOD, "schemaVersion": 2.0}), "schemaVersion: expected 2, found 2.0"),
        (dump({**GOOD, "schemaVersion": True}), "schemaVersion: expected 2, found True"),
        (dump({**GOOD, "config": None}), "config: expected an object, found nothing"),
        (
            dump({**GOOD, "config": {**CONFIG, "digest": ""}}),
            "config.digest: expected sha256: and 64 hex digits",
        ),
        (dump({**GOOD, "layers": {}}), "layers: expected an array, found an object"),
        (dump({**GOOD, "layers": [LAYER, 7]}), "layers[1]: expected an object, found 7"),
        (dump({**GOOD, "layers": [{**LAYER, "digest": "sha256:../../x"}]}), "found 'sha256:../../x'"),
        (
            dump({**GOOD, "layers": [{**LAYER, "digest": DIGEST + "\n"}]}),
            "layers[0].digest: expected sha256:",
        ),
        (
            dump({**GOOD, "layers": [{**LAYER, "digest": "md5:" + "0" * 64}]}),
            "layers[0].digest: expected sha256:",
        ),
        (
            dump({**GOOD, "layers": [{**LAYER, "size": -1}]}),
            "layers[0].size: expected a number of bytes, found -1",
        ),
        (
            dump({**GOOD, "layers": [{**LAYER, "size": 1 << 63}]}),
            "layers[0].size: expected a number of bytes",
        ),
        (
            dump({**GOOD, "layers": [{**LAYER, "size": 5.0}]}),
            "layers[0].size: expected a number of bytes, found 5.0",
        ),
        (dump({**GOOD, "layers": [{**LAYER, "size": True}]}), "layers[0].size: expected a number of bytes"),
        (
            dump({**GOOD, "layers": [{**LAYER, "size": "5"}]}),
            "layers[0].size: expected a number of bytes, found '5'",
        ),
        (dump({**GOOD, "layers": [{"digest": DIGEST, "size": 5}]}), "layers[0].mediaType: expected a text"),
        (dump({**GOOD, "layers": [{**LAYER, "from": 5}]}), "layers[0].from: expected a text, found 5"),
        (
            dump({**GOOD, "layers": [{**LAYER, "name": None}]}),
            "layers[0].name: expected a text, found nothing",
        ),
        (
            dump({"schemaVersion": 2, "mediaType": LIST_MEDIA_TYPE}),
            "manifests: expected an array, found nothing",
        ),
        (
            dump(
                {
                    "schemaVersion": 2,
                    "mediaType": LIST_MEDIA_TYPE,
                    "manifests": [{"mediaType": LIST_MEDIA_TYPE}],
                }
            ),
            "manifests[0]: expected a manifest, found a list inside the list",
        ),
        (
            dump(
                {
                    "schemaVersion": 2,
                    "mediaType": LIST_MEDIA_TYPE,
                    "manifests": [{"config": CONFIG, "layers": [1]}],
                }
            ),
            "manifests[0].layers[0]: expected an object, found 1",
        ),
    ],
)
def test_damage_is_named_with_its_field(data, message):
    with pytest.raises(StoreError) as caught:
        parse_manifest(data)
    assert caught.value.fault is StoreFault.DAMAGED_MANIFEST
    assert message in str(caught.value)
    assert str(caught.value).isprintable()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(DIGEST),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["schemaVersion", "mediaType", "config", "layers", "digest", "size", "manifests", "x"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from(["config", "layers", "mediaType", "manifests"]))
def test_any_json_is_read_or_refused_in_one_line(value, key):
    try:
        parse_manifest(dump({**GOOD, key: value}))
    except StoreError as error:
        refusal = str(error)
    else:
        refusal = ""
    assert refusal.isprintable()
