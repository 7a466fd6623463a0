"""From a manifest file and the command line's `--set`s to the values that a run follows."""

from __future__ import annotations

import os.path
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pipeline.manifest.containers import MapOf
from pipeline.manifest.integers import Size, read_whole
from pipeline.manifest.kinds import Digest, FilePath, RelativePath
from pipeline.manifest.model import Model, ModelChoice
from pipeline.manifest.nodes import Mapping, Node, Scalar, Sequence, refusal
from pipeline.manifest.parameters import Parameter, StepDeclaration, read_parameters
from pipeline.manifest.place import Place
from pipeline.manifest.source import Source, decode, read_source
from pipeline.manifest.steps import StepList, StepRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Mapping as MappingOf

VERSION = 1
"""Version of the manifest's language that this tool reads."""


@dataclass(frozen=True)
class Manifest:
    """A manifest that was read and found to be in order.

    Attributes:
        path: of the file, as the caller gave it.
        version: of the manifest's language.
        model: what is built from.
        out: folder of the artifacts: `out:` as seen from the manifest's folder, `..` resolved by name.
        expect: digests that artifacts must have (`sha256:...`), by their names inside `out`.
        budget: bytes that artifacts may have at the most, by their names inside `out`.
        steps: what is asked for, in the manifest's order.
        notes: what a `--set` made void, in words for the user.
        places: where each given key stands; `place()` looks them up.

    """

    path: Path
    version: int
    model: ModelChoice
    out: Path
    expect: MappingOf[str, str]
    budget: MappingOf[str, int]
    steps: tuple[StepRequest, ...]
    notes: tuple[str, ...] = ()
    places: MappingOf[tuple[str, ...], Place] = field(default_factory=dict, repr=False, compare=False)

    def beside(self, path: str) -> Path:
        """Resolve a path of the manifest: relative ones start at the manifest's folder."""
        return _beside(self.path, path)

    def place(self, *keys: str) -> Place:
        """Tell where a key stands, so that a later check can report it.

        Args:
            keys: from the outside in: `"expect", "vocab.bin"` or `"steps", "tensors", "include"`,
                and behind the key of a list the text of one of its items.

        Returns:
            The key's place; where it is not given, that of what should hold it.

        """
        while keys:
            if keys in self.places:
                return self.places[keys]
            keys = keys[:-1]
        return Place(str(self.path), 1, 1)


class Version:
    """The version of the manifest's language."""

    def read(self, node: Node, path: str) -> int:
        """Read the number; any but ours is refused."""
        number = read_whole(node, path, self.words())
        if number != VERSION:
            raise refusal(node, path, self.words(), "use a newer tool" if number > VERSION else "")
        return number

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema."""
        return {"const": VERSION}

    def words(self) -> str:
        """Describe it in words."""
        return f"{VERSION}, the version that this tool reads"


def manifest_parameters(declarations: MappingOf[str, StepDeclaration]) -> tuple[Parameter, ...]:
    """List the manifest's own keys.

    Args:
        declarations: the steps that there are, by name.

    """
    return (
        Parameter("version", Version(), doc="Version of the manifest's language."),
        Parameter("model", Model(), doc="The model that everything is built from."),
        Parameter(
            "out",
            FilePath(),
            doc="Folder of the artifacts; relative to the manifest's folder (never to the current one), "
            "or absolute.",
        ),
        Parameter(
            "expect",
            MapOf(Digest(), RelativePath()),
            MappingProxyType({}),
            "Digests that artifacts must have, by their names inside `out`; any other fails the run.",
        ),
        Parameter(
            "budget",
            MapOf(Size(1, 1 << 48), RelativePath()),
            MappingProxyType({}),
            "Bytes that artifacts may have at the most, by their names inside `out`; more fails the run.",
        ),
        Parameter("steps", StepList(declarations), doc="What to make, in any order, each at most once."),
    )


def load_manifest(
    path: str | Path, declarations: MappingOf[str, StepDeclaration], overrides: Iterable[str] = ()
) -> Manifest:
    """Read a manifest file.

    Args:
        path: of the file.
        declarations: the steps that there are, by name.
        overrides: `KEY=VALUE` of each `--set`, in the order of the command line.

    Raises:
        ManifestError: the file or a `--set` cannot be followed; every problem with its place.
        MachineError: the file cannot be read.

    """
    return _read(read_source(path), Path(path), declarations, overrides)


def parse_manifest(
    data: bytes,
    path: str | Path,
    declarations: MappingOf[str, StepDeclaration],
    overrides: Iterable[str] = (),
) -> Manifest:
    """Read a manifest's bytes as `load_manifest` reads those of the file `path`."""
    return _read(decode(data, str(path)), Path(path), declarations, overrides)


def _read(
    source: Source,
    path: Path,
    declarations: MappingOf[str, StepDeclaration],
    overrides: Iterable[str],
) -> Manifest:
    # PyYAML is imported when there is a manifest to read, not with the declarations of the steps.
    from pipeline.manifest.compose import compose
    from pipeline.manifest.overrides import apply_overrides

    root = compose(source)
    if root is None:
        raise source.place(0).error("the manifest is empty")
    parameters = manifest_parameters(declarations)
    if not isinstance(root, Mapping):
        raise refusal(root, "", f"a mapping with {', '.join(parameter.name for parameter in parameters)}")
    root, notes = apply_overrides(root, overrides)
    version = root.get("version")
    if version:
        # Alone, and first: the keys of another version may be others.
        Version().read(version.value, "version")
    values: dict[str, Any] = read_parameters(root, "", parameters, root.place)
    return Manifest(
        **{**values, "out": _beside(path, values["out"])},
        path=path,
        notes=notes,
        places=dict(_places(root)),
    )


def _beside(manifest: Path, path: str) -> Path:
    # normpath keeps messages short: build/qwen25, not manifests/../build/qwen25.
    return Path(os.path.normpath(manifest.parent / path))


def _places(node: Node, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Place]]:
    if isinstance(node, Mapping):
        for entry in node.entries:
            keys = (*at, entry.key.text)
            yield keys, entry.key.place
            yield from _places(entry.value, keys)
    elif isinstance(node, Sequence):
        for item in node.items:
            if isinstance(item, Scalar):
                yield (*at, item.text), item.place
            else:
                yield from _places(item, at)
