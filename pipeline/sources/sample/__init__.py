"""The sample: a model for machines that have no Ollama, made once and read like any other.

It is an Ollama store in the cache, in a folder that carries its manifest's digest. It has the real
Qwen vocabulary and a small synthetic body; the package with the vocabulary is an extra.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.errors import MachineError
from pipeline.sources.digests import DigestCache
from pipeline.sources.errors import InputChanged, StoreError, path_words
from pipeline.sources.roots import StoreRoot
from pipeline.sources.sample.families import family_of
from pipeline.sources.store import check_model_blob, find_model

if TYPE_CHECKING:
    from pipeline.sources.sample.families import Family
    from pipeline.sources.store import OllamaModel

_UNFINISHED = ".unfinished-"
_STALE_S = 3600
"""Seconds after which an unfinished folder is nobody's: making one takes a few."""


def ensure(family: str, cache: Path | None) -> OllamaModel:
    """Open the sample `qwen2.5` or `qwen3`, making it first where it is missing or damaged.

    The model's blob is checked against its digest. Any number of processes may call this at once,
    and be killed at any time: a sample has its folder's name only when it is whole.

    Raises UsageError for another family, ModelError where the extra `sample` is not installed,
    MachineError where there is no place to write it.
    """
    made = family_of(family)
    if cache is None:
        raise MachineError("the sample needs a cache folder and this user has no home: set PIPELINE_CACHE")
    folder = cache / "samples" / f"{made.family}-{made.manifest_sha256[:16]}"
    try:
        _sweep(folder.parent)
        model = _open(made, folder, cache)
        if model is None:
            _make(made, folder, cache)
            model = _open(made, folder, cache)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise MachineError(
            f"{path_words(folder)}: the sample cannot be written: {reason}; make room or set PIPELINE_CACHE"
        ) from error
    if model is None:
        raise MachineError(f"{path_words(folder)}: the sample was changed right after it was made; run again")
    return model


def _open(made: Family, folder: Path, cache: Path) -> OllamaModel | None:
    """Open a sample; None where it is missing or not as it must be."""
    try:
        model = find_model(made.model_name, [StoreRoot(folder, "the sample")])
        check_model_blob(model, DigestCache(cache))
    except (StoreError, InputChanged):
        return None
    return model if model.manifest_digest == f"sha256:{made.manifest_sha256}" else None


def _make(made: Family, folder: Path, cache: Path) -> None:
    """Write a sample under another name and rename it; a damaged one is put aside for it."""
    from pipeline.sources.sample.making import make_store

    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.parent))
    try:
        store = unfinished / "store"
        store.mkdir()
        make_store(store, made)
        while True:
            try:
                store.rename(folder)
            except OSError:
                if not folder.exists():
                    raise
            else:
                return
            if _open(made, folder, cache) is not None:
                return  # another process was faster
            with contextlib.suppress(FileNotFoundError):  # likewise
                folder.rename(Path(tempfile.mkdtemp(dir=unfinished)) / "damaged")
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _sweep(folder: Path) -> None:
    """Remove what killed processes left."""
    for path in folder.glob(f"{_UNFINISHED}*"):
        try:
            age = time.time() - path.stat().st_mtime
        except OSError:
            continue  # another process was faster
        if age > _STALE_S:
            shutil.rmtree(path, ignore_errors=True)
