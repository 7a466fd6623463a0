"""Write a sample as an Ollama store: blobs named by their digests, and a manifest."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from formats.gguf.writer import write_gguf
from pipeline.errors import ModelError
from pipeline.sources.digests import hash_file
from pipeline.sources.manifest_json import IMAGE_PREFIX
from pipeline.sources.roots import BLOBS, MANIFESTS
from pipeline.sources.sample.body import key_values, tensors
from pipeline.sources.sample.texts import LICENSE, OLLAMA_TEMPLATE, PARAMS, SYSTEM
from pipeline.sources.sample.vocabulary import base_tokens, make_vocabulary, vocabulary_file

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.sources.sample.families import Family

_MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG_TYPE = "application/vnd.docker.container.image.v1+json"


def make_store(root: Path, family: Family) -> None:
    """Write the store into the empty folder `root`; takes a few seconds and some 30 MB.

    Raises ModelError where the vocabulary's package is missing or changed, or where what came out
    has not the digests that it must have; OSError where it cannot be written.
    """
    vocabulary = make_vocabulary(family, base_tokens(vocabulary_file()))
    (root / BLOBS).mkdir()
    unnamed = root / BLOBS / "unnamed"
    with unnamed.open("wb") as file:
        write_gguf(file, key_values(family, vocabulary), tensors(family))
    gguf = hash_file(unnamed)
    _require("GGUF", family, gguf.sha256, family.gguf_sha256)
    unnamed.rename(root / BLOBS / f"sha256-{gguf.sha256}")
    layers = [
        _reference(f"{IMAGE_PREFIX}model", gguf.sha256, gguf.stamp.size),
        _blob(root, f"{IMAGE_PREFIX}system", SYSTEM.encode("utf-8")),
        _blob(root, f"{IMAGE_PREFIX}template", OLLAMA_TEMPLATE.encode("utf-8")),
        _blob(root, f"{IMAGE_PREFIX}license", LICENSE.encode("utf-8")),
        _blob(root, f"{IMAGE_PREFIX}params", _json(PARAMS)),
    ]
    config = {
        "model_format": "gguf",
        "model_family": family.architecture,
        "model_families": [family.architecture],
        "model_type": "sample",
        "file_type": "Q4_K_M",
        "architecture": "amd64",
        "os": "linux",
        "rootfs": {"type": "layers", "diff_ids": [layer["digest"] for layer in layers]},
    }
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST_TYPE,
            "config": _blob(root, _CONFIG_TYPE, _json(config)),
            "layers": layers,
        }
    )
    _require("manifest", family, hashlib.sha256(manifest).hexdigest(), family.manifest_sha256)
    name = family.model_name
    path = root / MANIFESTS / name.host / name.namespace / name.model / name.tag
    path.parent.mkdir(parents=True)
    path.write_bytes(manifest)


def _blob(root: Path, media_type: str, data: bytes) -> dict[str, Any]:
    digest = hashlib.sha256(data).hexdigest()
    (root / BLOBS / f"sha256-{digest}").write_bytes(data)
    return _reference(media_type, digest, len(data))


def _reference(media_type: str, digest: str, size: int) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": size}


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _require(what: str, family: Family, found: str, expected: str) -> None:
    if found != expected:
        raise ModelError(
            f"sample {family.family}: expected a {what} with SHA-256 {expected}, made one with {found};"
            " this version of the tool cannot make its sample here: please report it"
        )
