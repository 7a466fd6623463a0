"""Ollama stores for the tests of steps and commands: real manifests and blobs around small models."""

import hashlib
import json
from pathlib import Path

IMAGE = "application/vnd.ollama.image."


def put(root, data):
    """Write a blob, and give its reference."""
    digest = hashlib.sha256(data).hexdigest()
    blobs = Path(root) / "blobs"
    blobs.mkdir(parents=True, exist_ok=True)
    (blobs / f"sha256-{digest}").write_bytes(data)
    return {"digest": f"sha256:{digest}", "size": len(data)}


def layer(root, kind, data):
    return {"mediaType": IMAGE + kind, **put(root, data)}


def make_model(root, gguf, name="registry.ollama.ai/library/tiny/latest", layers=()):
    """Write a model: the GGUF and other layers (kind, bytes); give its manifest's path."""
    config = {
        "mediaType": "application/vnd.docker.container.image.v1+json",
        **put(root, b'{"model_format":"gguf"}'),
    }
    document = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": config,
        "layers": [layer(root, "model", gguf), *(layer(root, kind, data) for kind, data in layers)],
    }
    path = Path(root) / "manifests" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path
