"""The model of a manifest, found: which file it is, its digest, and how it was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pipeline.cache import cache_folder
from pipeline.errors import ModelError
from pipeline.sources.digests import DigestCache, check_unchanged
from pipeline.sources.errors import NotInStore, path_words
from pipeline.sources.names import parse_name
from pipeline.sources.roots import store_roots
from pipeline.sources.store import check_model_blob, find_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pipeline.manifest.model import ModelChoice
    from pipeline.sources.digests import FileDigest, FileStamp, Progress
    from pipeline.sources.store import OllamaModel


@dataclass(frozen=True)
class Source:
    """A model whose file was found and hashed.

    Attributes:
        kind: where it came from.
        name: the Ollama name, the file's name, or the sample's family.
        path: the GGUF's file.
        sha256: of the GGUF, 64 hex digits.
        stamp: the file's identity when it was hashed.
        pre: the manifest's `model.pre`, or None.
        ollama: the model in the store; also for the sample, which lies in one of its own.
        requested: the Ollama name that the fallback stands in for, or None.
        notes: lines for the user: why the fallback serves, what is not packed.

    """

    kind: Literal["ollama", "gguf", "sample"]
    name: str
    path: Path
    sha256: str
    stamp: FileStamp
    pre: str | None = None
    ollama: OllamaModel | None = None
    requested: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The source in words, for the console."""
        if self.kind == "sample":
            stands_in = f", in place of {self.requested}" if self.requested else ""
            return f"the sample of {self.name}{stands_in}: real vocabulary, synthetic weights"
        if self.kind == "ollama":
            return f"{self.name} in the Ollama store"
        return f"the file {path_words(self.name)}"

    def check_unchanged(self) -> None:
        """Refuse a model whose file is no longer the one that was hashed (InputChanged)."""
        check_unchanged(self.path, self.stamp)


def find_source(
    choice: ModelChoice,
    beside: Callable[[str], Path],
    *,
    fallback: bool = True,
    progress: Progress | None = None,
) -> Source:
    """Find a manifest's model and hold it against every digest that is known of it.

    Args:
        choice: the manifest's `model:`.
        beside: resolves a path that the manifest names.
        fallback: whether the choice's fallback may serve.
        progress: called while a big file is hashed.

    Raises:
        ModelError: no such model, a broken store, another digest than the manifest states.
        UsageError: a name that no store can have.
        MachineError: a file that cannot be read.

    """
    digests = DigestCache(cache_folder())
    if choice.kind == "sample":
        return _sample(choice.value, choice, digests)
    if choice.kind == "gguf":
        path = beside(choice.value)
        found = digests.sha256(path, progress)
        _check_pin(choice, found, str(path))
        return Source("gguf", path.name, path, found.sha256, found.stamp, choice.pre)
    name = parse_name(choice.value)
    try:
        model = find_model(name, store_roots())
    except NotInStore as error:
        if choice.fallback is None:
            raise
        if not fallback:
            raise ModelError(f"{error} (the manifest's fallback is refused by --no-fallback)") from error
        return _sample(choice.fallback, choice, digests, name.short, str(error))
    found = check_model_blob(model, digests, progress)
    _check_pin(choice, found, name.short)
    notes = _adapter_notes(model)
    return Source(
        "ollama", name.short, model.model_blob, found.sha256, found.stamp, choice.pre, model, notes=notes
    )


def _adapter_notes(model: OllamaModel) -> tuple[str, ...]:
    adapters = sum(layer.kind == "adapter" for layer in model.layers)
    if not adapters:
        return ()
    return (
        (
            f"{model.name.short} has {adapters} adapter layer{'s' * (adapters != 1)}; its GGUF is packed as it is, "
            "without, so its weights are not those that Ollama runs"
        ),
    )


def _sample(
    family: str, choice: ModelChoice, digests: DigestCache, requested: str | None = None, why: str = ""
) -> Source:
    from pipeline.sources.sample import ensure

    model = ensure(family, cache_folder())
    found = check_model_blob(model, digests)
    notes = (why,) if why else ()
    if requested is None:
        _check_pin(choice, found, f"the sample of {family}")
    return Source(
        "sample", family, model.model_blob, found.sha256, found.stamp, choice.pre, model, requested, notes
    )


def _check_pin(choice: ModelChoice, found: FileDigest, name: str) -> None:
    if choice.digest is not None and choice.digest != f"sha256:{found.sha256}":
        raise ModelError(
            f"{path_words(name)}: expected the GGUF with {choice.digest}, as the manifest's model.digest has it, "
            f"found sha256:{found.sha256}; correct the digest, or get that model"
        )
