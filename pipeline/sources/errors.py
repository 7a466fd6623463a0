"""What can be wrong with a store, each state with its own name."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from pipeline.errors import MachineError, ModelError

if TYPE_CHECKING:
    from pathlib import Path


class StoreFault(StrEnum):
    """The states of a store that stop a build."""

    NO_STORE = "no store"
    NO_MODEL = "no such model"
    AMBIGUOUS = "ambiguous name"
    NOT_A_FILE = "not a file"
    NOT_A_FOLDER = "not a folder"
    LINK_LOOP = "symlink loop"
    BROKEN_LINK = "broken link"
    EMPTY_MANIFEST = "empty manifest"
    DAMAGED_MANIFEST = "damaged manifest"
    MANIFEST_TOO_LARGE = "manifest too large"
    CLOUD_MODEL = "cloud model"
    SAFETENSORS = "safetensors model"
    NO_MODEL_LAYER = "no model layer"
    BLOB_MISSING = "blob missing"
    BLOB_PARTIAL = "blob partial"
    BLOB_SIZE = "blob size differs"
    BLOB_DIGEST = "blob digest differs"
    LAYER_TOO_LARGE = "layer too large"
    NO_PERMISSION = "no permission"
    READ_FAILED = "read failed"


class StoreError(ModelError):
    """The store, or the model in it, is broken or of a kind that is not served."""

    def __init__(self, fault: StoreFault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


class NotInStore(StoreError):  # noqa: N818  (an outcome; the one that a fallback may answer)
    """There is no store, or no such model in it: the only states that a fallback may serve."""


class StoreUnreadable(MachineError):  # noqa: N818  (named like the state it reports)
    """The system refused to read a file or folder: permission, or a failing disk."""

    def __init__(self, fault: StoreFault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


class InputChanged(ModelError):  # noqa: N818  (an outcome of a check)
    """A file is not the one that was read before: it changed during the run."""


def path_words(path: Path | str) -> str:
    r"""Write a path so that it stays on one line and drives no terminal.

    >>> path_words("models/a b"), path_words("a\nb")
    ('models/a b', "'a\\nb'")
    """
    text = str(path)
    return text if text.isprintable() else repr(text)
