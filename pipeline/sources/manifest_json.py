"""The JSON of an Ollama manifest, checked field by field.

A manifest is `{schemaVersion: 2, mediaType, config, layers}`; config and every layer are
`{mediaType, digest, size, from?, name?}`. Newer stores also have lists: `{schemaVersion: 2,
mediaType: ...manifest.list.v2+json, manifests}`, whose members are manifests with a `runner` and
a `format`, in place or by the digest of a blob.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from formats.errors import shown
from pipeline.sources.errors import StoreError, StoreFault

MANIFEST_LIMIT = 4 << 20
"""Bytes. A safetensors model has a layer a tensor, some hundred kilobytes; nothing comes near this."""

LIST_MEDIA_TYPE = "application/vnd.ollama.manifest.list.v2+json"
IMAGE_PREFIX = "application/vnd.ollama.image."

_DIGEST = re.compile(r"sha256[:-]([0-9a-fA-F]{64})")
_SIZE_LIMIT = 1 << 63


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer, or the config.

    Attributes:
        kind: the media type's last word: `model`, `template`, ...; the whole type where it is no
            image type of Ollama's.
        digest: `sha256:` and 64 lower-case hex digits.
        size: bytes.
        source: `from`, where the layer was taken from; or empty.
        name: a tensor's or a file's name; or empty.

    """

    kind: str
    digest: str
    size: int
    source: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A model's config and layers, in the manifest's order; no layers for a cloud model."""

    config: Layer
    layers: tuple[Layer, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """One member of a manifest list: in place, or the digest of the blob that holds it."""

    runner: str
    format: str
    manifest: Manifest | None
    digest: str


def parse_manifest(data: bytes) -> Manifest | tuple[Variant, ...]:
    """Read a manifest or a list of them.

    Raises StoreError (DAMAGED_MANIFEST) with the field, what was expected and what was found; the
    caller knows the file's name and puts it in front.
    """
    try:
        value = json.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _damaged("", "UTF-8", f"byte 0x{data[error.start]:02X} at offset {error.start}") from None
    except RecursionError:
        raise _damaged("", "JSON", "brackets nested too deep") from None
    except ValueError as error:
        raise _damaged("", "JSON", str(error)) from None
    fields = _object(value, "")
    version = fields.get("schemaVersion")
    if type(version) is not int or version != 2:
        raise _damaged("schemaVersion", "2", _found(version))
    if fields.get("mediaType") == LIST_MEDIA_TYPE:
        members = _list(fields.get("manifests"), "manifests")
        return tuple(_variant(member, f"manifests[{i}]") for i, member in enumerate(members))
    return _manifest(fields, "")


def _manifest(fields: dict[str, object], place: str) -> Manifest:
    dot = f"{place}." if place else ""
    config = _layer(fields.get("config"), f"{dot}config")
    layers = fields.get("layers")
    if layers is None:
        return Manifest(config, ())
    members = _list(layers, f"{dot}layers")
    return Manifest(config, tuple(_layer(member, f"{dot}layers[{i}]") for i, member in enumerate(members)))


def _variant(value: object, place: str) -> Variant:
    fields = _object(value, place)
    if fields.get("mediaType") == LIST_MEDIA_TYPE:
        raise _damaged(place, "a manifest", "a list inside the list")
    runner = _text(fields.get("runner", ""), f"{place}.runner").lower()
    weights = _text(fields.get("format", ""), f"{place}.format").lower()
    if "digest" in fields:
        return Variant(runner, weights, None, _digest(fields["digest"], f"{place}.digest"))
    return Variant(runner, weights, _manifest(fields, place), "")


def _layer(value: object, place: str) -> Layer:
    fields = _object(value, place)
    # Parameters may follow the type: "...image.tensor; name=...".
    kind = _text(fields.get("mediaType"), f"{place}.mediaType").partition(";")[0].strip()
    size = fields.get("size")
    if type(size) is not int or not 0 <= size < _SIZE_LIMIT:
        raise _damaged(f"{place}.size", "a number of bytes", _found(size))
    return Layer(
        kind.removeprefix(IMAGE_PREFIX),
        _digest(fields.get("digest"), f"{place}.digest"),
        size,
        _text(fields.get("from", ""), f"{place}.from"),
        _text(fields.get("name", ""), f"{place}.name"),
    )


def _digest(value: object, place: str) -> str:
    match = _DIGEST.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise _damaged(place, "sha256: and 64 hex digits", _found(value))
    return f"sha256:{match[1].lower()}"


def _object(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _damaged(place, "an object", _found(value))
    return value


def _list(value: object, place: str) -> list[object]:
    if not isinstance(value, list):
        raise _damaged(place, "an array", _found(value))
    return value


def _text(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise _damaged(place, "a text", _found(value))
    return value


def _found(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "an array"
    return shown(value)


def _damaged(place: str, expected: str, found: str) -> StoreError:
    where = f"{place}: " if place else ""
    return StoreError(StoreFault.DAMAGED_MANIFEST, f"{where}expected {expected}, found {found}")
