"""A store's blobs: files named by the SHA-256 of their bytes.

`blobs/sha256-<64 hex>`; older stores have `sha256:<hex>`. A download that is not finished lies
beside it as `<blob>-partial`, which has its full size from the start, and as `<blob>-partial-<n>`.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pipeline.sources.errors import StoreError, StoreFault, path_words
from pipeline.sources.files import names_in, read_up_to, require_file, stat_or_none
from pipeline.sources.roots import BLOBS

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.sources.digests import DigestCache, FileDigest, Progress


def find_blob(root: Path, digest: str, name: str) -> tuple[Path, int]:
    """Find the file of a digest: its path and its size in bytes. Nothing is read.

    `name` is the model's short name, for the message. Raises StoreError where the blob is missing,
    half downloaded or no file.
    """
    plain = digest.replace(":", "-")
    for filename in (plain, digest):
        path = root / BLOBS / filename
        status = stat_or_none(path)
        if status is not None:
            require_file(path, status)
            return path, status.st_size
    path = root / BLOBS / plain
    if stat_or_none(path, follow=False) is not None:
        raise StoreError(
            StoreFault.BROKEN_LINK,
            f"{path_words(path)}: a symbolic link to nothing; bring its target back or `ollama pull {name}`",
        )
    partial = [
        file for file in names_in(root / BLOBS) if file.startswith((f"{plain}-partial", f"{digest}-partial"))
    ]
    if partial:
        raise StoreError(
            StoreFault.BLOB_PARTIAL,
            f"{path_words(path)}: only its unfinished download is there ({path_words(partial[0])});"
            f" finish it with `ollama pull {name}`",
        )
    raise StoreError(
        StoreFault.BLOB_MISSING,
        f"{path_words(path)}: the manifest of {name} names this blob, but it is missing;"
        f" `ollama pull {name}` fetches it",
    )


def check_size(path: Path, found: int, expected: int, name: str) -> None:
    """Refuse a blob whose size is not the one that the manifest states."""
    if found != expected:
        raise StoreError(
            StoreFault.BLOB_SIZE,
            f"{path_words(path)}: expected {expected:,} bytes as the manifest of {name} states, found"
            f" {found:,}; {_renew(name)}",
        )


def check_digest(
    path: Path, digest: str, name: str, digests: DigestCache, progress: Progress | None = None
) -> FileDigest:
    """Hash a blob and hold it against its name. Raises StoreError where they differ, or as `sha256` does."""
    found = digests.sha256(path, progress)
    _check_hex(path, found.sha256, digest, name)
    return found


def read_blob(path: Path, digest: str, limit: int, name: str) -> bytes:
    """Read a blob of at most `limit` bytes and hold it against its name. Raises StoreError."""
    data = read_up_to(path, limit)
    if len(data) > limit:
        raise StoreError(
            StoreFault.LAYER_TOO_LARGE,
            f"{path_words(path)}: expected at most {limit:,} bytes of text or JSON, found more;"
            f" this is no blob that Ollama made for {name}",
        )
    _check_hex(path, hashlib.sha256(data).hexdigest(), digest, name)
    return data


def _check_hex(path: Path, found: str, digest: str, name: str) -> None:
    expected = digest.removeprefix("sha256:")
    if found != expected:
        raise StoreError(
            StoreFault.BLOB_DIGEST,
            f"{path_words(path)}: expected the SHA-256 of its name, found {found}: its bytes have changed;"
            f" {_renew(name)}",
        )


def _renew(name: str) -> str:
    # Ollama takes a file that has the right name for good, so a pull alone would not renew it.
    return f"delete the file, then `ollama pull {name}`"
