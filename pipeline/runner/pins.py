"""The manifest's `expect`: digests that artifacts must have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pipeline.errors import CheckFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipeline.manifest.load import Manifest


class _File(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def sha256(self) -> str: ...


def check_pins(manifest: Manifest, step: str, files: Iterable[_File]) -> None:
    """Hold a step's files against the manifest's `expect`, before they replace anything.

    Raises:
        CheckFailed: another digest.

    """
    for file in files:
        pin = manifest.expect.get(file.name)
        if pin is not None and pin != f"sha256:{file.sha256}":
            raise CheckFailed(
                f"{manifest.place('expect', file.name)}: expect: {file.name}: expected {pin}, "
                f"found sha256:{file.sha256} as step {step} makes it"
            )
