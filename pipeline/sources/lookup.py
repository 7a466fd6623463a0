"""From a model's name to the file of its manifest.

Manifests lie at `manifests/<host>/<namespace>/<model>/<tag>`. A newer layout, `manifests-v2`, comes
first where it has the name; in it the public registry is called `ollama.com`. The name is taken in
the case it was typed in, else in another case if exactly one model has it.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from pipeline.errors import PipelineError
from pipeline.sources.errors import NotInStore, StoreError, StoreFault, StoreUnreadable, path_words
from pipeline.sources.files import is_folder, names_in, stat_or_none
from pipeline.sources.names import PUBLIC_ALIAS, PUBLIC_HOST, ModelName, name_of_path
from pipeline.sources.roots import MANIFESTS, MANIFESTS_V2

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pipeline.sources.roots import StoreRoot

Trouble: TypeAlias = "tuple[Path, PipelineError]"
"""A folder that cannot be read, and why."""

_LEVELS = 4
_NEAREST = 3


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """A manifest's place in a store, under the name that its path gives it."""

    name: ModelName
    root: StoreRoot
    path: Path


def find_manifest(name: ModelName, roots: Sequence[StoreRoot]) -> ManifestFile:
    """Find a model's manifest in the first store that has it.

    Raises NotInStore where there is no store or no such model in any, StoreError where the name is
    ambiguous or its manifest is a broken link, StoreUnreadable where a store cannot be read.
    """
    stores, closed = [], None
    for root in roots:
        try:
            if not root.has_store():
                continue
        except StoreUnreadable as error:
            closed = closed or error
            continue
        found = _exact(name, root) or _other_case(name, root)
        if found is not None:
            return found
        stores.append(root)
    if closed is not None:  # it may hold the model, so nothing else may stand in for it
        raise closed
    raise _no_model(name, stores) if stores else _no_store(roots)


def manifests_in(
    root: StoreRoot, *, folded: ModelName | None = None, trouble: list[Trouble] | None = None
) -> Iterator[ManifestFile]:
    """Go through the manifests of a store, in the order of their paths, the newer layout first.

    Only files (or links) exactly four levels deep whose path is a model's name count; a name that
    the newer layout has is not repeated. `folded` asks only for names that are equal to it in lower
    case. A folder that cannot be read goes into `trouble`; without that list it raises StoreError
    or StoreUnreadable.
    """
    wanted = None
    if folded is not None:
        hosts = {PUBLIC_HOST, PUBLIC_ALIAS} if folded.host == PUBLIC_HOST else {folded.host}
        wanted = (hosts, {folded.namespace}, {folded.model}, {folded.tag})
    seen = set()
    for layout in (MANIFESTS_V2, MANIFESTS):
        paths = [root.path / layout]
        for level in range(_LEVELS):
            names = None if wanted is None else wanted[level]
            paths = [path for folder in paths for path in _below(folder, names, trouble)]
        for path in paths:
            name = name_of_path(path.parts[-_LEVELS:])
            if name is not None and name not in seen and not _is_real_folder(path):
                seen.add(name)
                yield ManifestFile(name, root, path)


def _exact(name: ModelName, root: StoreRoot) -> ManifestFile | None:
    broken = None
    for path in _paths(name, root):
        if stat_or_none(path) is not None:
            return ManifestFile(name, root, path)
        if broken is None and stat_or_none(path, follow=False) is not None:
            broken = path
    if broken is not None:
        raise StoreError(
            StoreFault.BROKEN_LINK,
            f"{path_words(broken)}: the manifest is a symbolic link to nothing; `ollama pull {name.short}`",
        )
    return None


def _other_case(name: ModelName, root: StoreRoot) -> ManifestFile | None:
    same = list(manifests_in(root, folded=name.folded))
    if len(same) > 1:
        both = ", ".join(f"{file.name.short} ({path_words(file.path)})" for file in same)
        raise StoreError(
            StoreFault.AMBIGUOUS,
            f"{name.short}: {len(same)} models differ from it only in case: {both};"
            " write one of them exactly",
        )
    return same[0] if same else None


def _paths(name: ModelName, root: StoreRoot) -> list[Path]:
    public = name.host == PUBLIC_HOST
    places = [(MANIFESTS_V2, PUBLIC_ALIAS if public else name.host), (MANIFESTS, name.host)]
    if public:
        places.append((MANIFESTS, PUBLIC_ALIAS))
    return [root.path / layout / host / name.namespace / name.model / name.tag for layout, host in places]


def _below(folder: Path, names: set[str] | None, trouble: list[Trouble] | None) -> list[Path]:
    try:
        found = names_in(folder) if is_folder(folder) else []
    except PipelineError as error:
        if trouble is None:
            raise
        trouble.append((folder, error))
        return []
    # No part of a name begins with a dot: .DS_Store and the like are nobody's folder.
    return [
        folder / name
        for name in found
        if not name.startswith(".") and (names is None or name.lower() in names)
    ]


def _is_real_folder(path: Path) -> bool:
    # A link stays in, wherever it leads: whoever reads the manifest says what is wrong with it.
    status = stat_or_none(path, follow=False)
    return status is not None and stat.S_ISDIR(status.st_mode)


def _no_store(roots: Sequence[StoreRoot]) -> NotInStore:
    if len(roots) == 1 and roots[0].origin == "OLLAMA_MODELS":
        message = (
            f"no Ollama store in {path_words(roots[0].path)}, where OLLAMA_MODELS points: expected a folder"
            " with `manifests` and `blobs`; correct or unset OLLAMA_MODELS"
        )
    else:
        tried = ", ".join(path_words(root.path) for root in roots) or "nowhere: the user has no home"
        message = f"no Ollama store on this machine (looked in {tried}); install Ollama or set OLLAMA_MODELS"
    return NotInStore(StoreFault.NO_STORE, message)


def _no_model(name: ModelName, stores: Sequence[StoreRoot]) -> NotInStore:
    import difflib

    tried = []
    for root in stores:
        newer, plain, *_ = _paths(name, root)
        tried += [path_words(newer)] if is_folder(root.path / MANIFESTS_V2) else []
        tried.append(path_words(plain))
    held = sorted({file.name.short for root in stores for file in manifests_in(root, trouble=[])})
    lower = {short.lower(): short for short in held}
    near = difflib.get_close_matches(name.short.lower(), lower, n=_NEAREST, cutoff=0.5)
    if near:
        rest = "nearest: " + ", ".join(lower[short] for short in near)
    else:
        rest = f"it holds {len(held)} others" if held else "it holds none"
    return NotInStore(
        StoreFault.NO_MODEL,
        f"no model {name.short} in the Ollama store (looked for {', '.join(tried)}; {rest});"
        f" `ollama pull {name.short}`",
    )
