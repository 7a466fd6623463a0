"""A model in an Ollama store: found, checked, and its layers resolved to files."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.sources.blobs import check_digest, check_size, find_blob, read_blob
from pipeline.sources.errors import StoreError, StoreFault, path_words
from pipeline.sources.files import read_up_to, require_file, stat_or_none
from pipeline.sources.lookup import find_manifest
from pipeline.sources.manifest_json import MANIFEST_LIMIT, Layer, Manifest, Variant, parse_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pipeline.sources.digests import DigestCache, FileDigest, Progress
    from pipeline.sources.lookup import ManifestFile
    from pipeline.sources.names import ModelName
    from pipeline.sources.roots import StoreRoot

TEXT_KINDS = ("license", "system", "params", "template", "messages")
TEXT_LIMIT = 4 << 20
"""Bytes of a text layer; licences have some ten thousand."""

_SOME = 6
_GGUF_RUNNERS = ("ollama", "llamacpp")


@dataclass(frozen=True, slots=True)
class StoredLayer:
    """A layer and the file that holds it; sizes agree, the digest is not checked yet."""

    kind: str
    digest: str
    size: int
    path: Path
    source: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class OllamaModel:
    """A model whose manifest is sound and whose blobs are all there, with the sizes stated.

    Attributes:
        name: in the case that the store has it.
        root: the store's folder.
        manifest: the manifest's file.
        manifest_digest: `sha256:...` of the manifest's own bytes: what Ollama calls the model's digest.
        config: the config layer.
        layers: every layer, in the manifest's order.
        model_layer: the layer with the GGUF: the last of kind `model`.

    """

    name: ModelName
    root: Path
    manifest: Path
    manifest_digest: str
    config: StoredLayer
    layers: tuple[StoredLayer, ...]
    model_layer: StoredLayer

    @property
    def model_blob(self) -> Path:
        """The GGUF's file."""
        return self.model_layer.path

    @property
    def size(self) -> int:
        """Bytes of the config and all layers, as `ollama list` counts them."""
        return self.config.size + sum(layer.size for layer in self.layers)


def find_model(name: ModelName, roots: Sequence[StoreRoot]) -> OllamaModel:
    """Find a model and check all but the bytes of its blobs.

    Raises NotInStore (no store, no such model), StoreError (every broken state, a cloud or a
    safetensors model) or StoreUnreadable.
    """
    return open_manifest(find_manifest(name, roots))


def check_model_blob(
    model: OllamaModel, digests: DigestCache, progress: Progress | None = None
) -> FileDigest:
    """Hold the GGUF blob's bytes against its name; the stamp shows later whether it changed."""
    layer = model.model_layer
    return check_digest(layer.path, layer.digest, model.name.short, digests, progress)


def read_text_layers(model: OllamaModel) -> dict[str, bytes]:
    """Read the licences, system text, parameters, template and messages, held against their digests.

    Keys are the layers' kinds, in the manifest's order. Several licences are `license`, `license-2`
    and so on; of any other kind the last layer counts, as it does for Ollama.
    """
    texts: dict[str, bytes] = {}
    licences = 0
    for layer in model.layers:
        if layer.kind not in TEXT_KINDS:
            continue
        key = layer.kind
        if key == "license":
            licences += 1
            key = key if licences == 1 else f"{key}-{licences}"
        texts[key] = read_blob(layer.path, layer.digest, TEXT_LIMIT, model.name.short)
    return texts


def open_manifest(file: ManifestFile) -> OllamaModel:
    """Read a manifest and find its blobs. Raises as `find_model` does."""
    short, root = file.name.short, file.root.path
    data = _read_manifest(file)
    manifest = _parse(data, file.path, short)
    if isinstance(manifest, tuple):
        manifest = _choose(manifest, file, short)
    model_layer = _model_layer(manifest, file.path, short)
    stored = {layer: _store(layer, root, short) for layer in (manifest.config, *manifest.layers)}
    return OllamaModel(
        name=file.name,
        root=root,
        manifest=file.path,
        manifest_digest=f"sha256:{hashlib.sha256(data).hexdigest()}",
        config=stored[manifest.config],
        layers=tuple(stored[layer] for layer in manifest.layers),
        model_layer=stored[model_layer],
    )


def _read_manifest(file: ManifestFile) -> bytes:
    path, short = file.path, file.name.short
    status = stat_or_none(path)
    if status is None:
        raise StoreError(
            StoreFault.BROKEN_LINK,
            f"{path_words(path)}: the manifest is a symbolic link to nothing; `ollama pull {short}`",
        )
    require_file(path, status)
    data = read_up_to(path, MANIFEST_LIMIT)
    if not data:
        raise StoreError(
            StoreFault.EMPTY_MANIFEST,
            f"{path_words(path)}: the manifest is empty; `ollama pull {short}` again",
        )
    if len(data) > MANIFEST_LIMIT:
        raise StoreError(
            StoreFault.MANIFEST_TOO_LARGE,
            f"{path_words(path)}: expected a manifest of at most {MANIFEST_LIMIT:,} bytes, found"
            f" {status.st_size:,}; `ollama pull {short}` again",
        )
    # In the newer layout the file is a link to a blob, whose name says what its bytes are.
    target = path.resolve().name if path.is_symlink() else ""
    found = hashlib.sha256(data).hexdigest()
    if target.startswith("sha256") and target[7:] != found:
        raise StoreError(
            StoreFault.BLOB_DIGEST,
            f"{path_words(path)}: expected the SHA-256 of the blob it links to, {path_words(target)}, found"
            f" {found}: its bytes have changed; delete that blob, then `ollama pull {short}`",
        )
    return data


def _parse(data: bytes, path: Path, short: str) -> Manifest | tuple[Variant, ...]:
    try:
        return parse_manifest(data)
    except StoreError as error:
        raise StoreError(
            error.fault, f"{path_words(path)}: damaged manifest: {error}; `ollama pull {short}` again"
        ) from None


def _choose(variants: tuple[Variant, ...], file: ManifestFile, short: str) -> Manifest:
    by_runner = {variant.runner: variant for variant in reversed(variants)}
    by_format = {variant.format: variant for variant in reversed(variants)}
    chosen = next((by_runner[r] for r in _GGUF_RUNNERS if r in by_runner), by_format.get("gguf"))
    if chosen is None:
        has = _some(variant.runner or variant.format or "unnamed" for variant in variants)
        raise _safetensors(file.path, short, f"a list of manifests for other runners ({has})")
    if chosen.manifest is not None:
        return chosen.manifest
    path, _ = find_blob(file.root.path, chosen.digest, short)
    inner = _parse(read_blob(path, chosen.digest, MANIFEST_LIMIT, short), path, short)
    if isinstance(inner, tuple):
        raise StoreError(
            StoreFault.DAMAGED_MANIFEST,
            f"{path_words(path)}: damaged manifest: expected a manifest, found a list inside the list;"
            f" `ollama pull {short}` again",
        )
    return inner


def _model_layer(manifest: Manifest, path: Path, short: str) -> Layer:
    kinds = {layer.kind: layer for layer in manifest.layers}  # of several model layers the last one wins
    if "model" in kinds:
        return kinds["model"]
    if not kinds:
        raise StoreError(
            StoreFault.CLOUD_MODEL,
            f"{path_words(path)}: {short} has no layers: a cloud model, whose weights are not on this"
            " machine; name a local model",
        )
    if "tensor" in kinds or "json" in kinds:
        raise _safetensors(path, short, "layers of kind " + _some(kinds))
    raise StoreError(
        StoreFault.NO_MODEL_LAYER,
        f"{path_words(path)}: expected a layer of kind model, found only {_some(kinds)};"
        " name a model with local weights",
    )


def _safetensors(path: Path, short: str, found: str) -> StoreError:
    return StoreError(
        StoreFault.SAFETENSORS,
        f"{path_words(path)}: expected a GGUF, found {found}: {short} is a safetensors model;"
        " pull or create it as GGUF",
    )


def _some(words: Iterable[str]) -> str:
    """Join a few foreign words for a message."""
    distinct = sorted(set(words))
    more = ["..."] if len(distinct) > _SOME else []
    return ", ".join([*map(path_words, distinct[:_SOME]), *more]) or "none"


def _store(layer: Layer, root: Path, short: str) -> StoredLayer:
    path, size = find_blob(root, layer.digest, short)
    check_size(path, size, layer.size, short)
    return StoredLayer(layer.kind, layer.digest, layer.size, path, layer.source, layer.name)
