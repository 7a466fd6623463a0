"""Small Ollama stores for the tests, built file by file."""

import hashlib
import json

import pytest

from pipeline.sources.errors import StoreError
from pipeline.sources.names import parse_name
from pipeline.sources.roots import StoreRoot
from pipeline.sources.store import find_model

IMAGE = "application/vnd.ollama.image."
GGUF = b"GGUF\x03\x00\x00\x00" + bytes(range(200))


def sha(data):
    return hashlib.sha256(data).hexdigest()


class Store:
    """A store under `root`, the folder that OLLAMA_MODELS would name."""

    def __init__(self, root):
        self.root = root
        (root / "manifests").mkdir(parents=True)
        (root / "blobs").mkdir()

    def blob_path(self, data):
        return self.root / "blobs" / f"sha256-{sha(data)}"

    def blob(self, data, name=None):
        path = self.blob_path(data) if name is None else self.root / "blobs" / name
        path.write_bytes(data)
        return path

    def layer(self, kind, data, *, write=True, **more):
        if write:
            self.blob(data)
        return {"mediaType": IMAGE + kind, "digest": f"sha256:{sha(data)}", "size": len(data), **more}

    def config(self):
        data = b'{"model_format":"gguf","model_family":"qwen2"}'
        self.blob(data)
        return {
            "mediaType": "application/vnd.docker.container.image.v1+json",
            "digest": f"sha256:{sha(data)}",
            "size": len(data),
        }

    def manifest_path(self, name="registry.ollama.ai/library/qwen2.5/0.5b", layout="manifests"):
        return self.root / layout / name

    def write_manifest(self, value, name="registry.ollama.ai/library/qwen2.5/0.5b", layout="manifests"):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        path = self.manifest_path(name, layout)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def document(self, layers, **more):
        return {
            "schemaVersion": 2,
            "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": self.config(),
            "layers": layers,
            **more,
        }

    def model(self, name="registry.ollama.ai/library/qwen2.5/0.5b", data=GGUF, extra=(), layout="manifests"):
        layers = [self.layer("model", data), *extra]
        return self.write_manifest(self.document(layers), name, layout)


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
