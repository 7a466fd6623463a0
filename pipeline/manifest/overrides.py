"""`--set KEY=VALUE`: the command line's word against the manifest's, before anything is read from it.

A `--set` writes a key as if it stood in the manifest, so the rules for its value are the manifest's:
YAML's for one value, paths from the manifest's folder. Later ones win over earlier ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from formats.errors import shown
from pipeline.manifest.compose import compose
from pipeline.manifest.kinds import nearest
from pipeline.manifest.model import SOURCES
from pipeline.manifest.nodes import Entry, Mapping, Node, Scalar, Sequence, child, found
from pipeline.manifest.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST_SHOWN = 100
"""Characters of a `--set` that its refusal repeats."""


def apply_overrides(root: Mapping, overrides: Iterable[str]) -> tuple[Mapping, tuple[str, ...]]:
    """Put values of the command line into a manifest.

    Args:
        root: the manifest.
        overrides: `KEY=VALUE` each. KEY is a path with dots: `out`, `model.ollama`,
            `expect.ARTIFACT`, `budget.ARTIFACT`, `steps.STEP`, `steps.STEP.PARAMETER`.

    Returns:
        The manifest with them, and a line for each one that made other keys void.

    Raises:
        ManifestError: no `KEY=VALUE`, a value that is not YAML, a key below one that holds a
            single value, or a parameter of a step that the manifest does not have. Whether key and
            value are known and right is for the readers of the manifest.

    """
    notes: list[str] = []
    for override in overrides:
        keys, value = _parse(override)
        if len(keys) == 2 and keys[0] == "model" and keys[1] in SOURCES:
            root = _drop_other_model(root, keys[1], value, notes)
        root = _assign(root, keys, value, "")
    return root, tuple(notes)


def _parse(override: str) -> tuple[list[str], Node]:
    key, equals, text = override.partition("=")
    label = override if len(override) <= _LONGEST_SHOWN else f"{override[:_LONGEST_SHOWN]}..."
    source = Source(f"--set {label}", text, in_file=False)
    place = source.place(0)
    keys = _split(key)
    if not equals or not all(keys):
        raise place.error("expected KEY=VALUE, such as out=build or steps.STEP.PARAMETER=VALUE")
    source.check_characters()
    value = compose(source) or Scalar(place, "")
    if isinstance(value, Scalar) and value.plain and value.text != text.strip():
        raise place.error("the value has a comment (#) in it; put it in quotes, inside those of the shell")
    return keys, value


def _split(key: str) -> list[str]:
    """Split at dots, but not inside names that may have some: artifacts, and keys of a parameter."""
    splits = {"expect": 1, "budget": 1, "steps": 3}.get(key.partition(".")[0], -1)
    return key.split(".", splits)


def _assign(node: Mapping, keys: list[str], value: Node, path: str) -> Mapping:
    """Set one key below a mapping; those on the way are made where they are missing."""
    name, rest = keys[0], keys[1:]
    given = node.get(name)
    if not rest:
        return _with(node, Entry(_new_key(name, value), value))
    path = child(path, name)
    held = given.value if given else Scalar(value.place, "")
    if isinstance(held, Scalar) and held.is_null:
        held = Sequence(value.place, ()) if path == "steps" else Mapping(value.place, ())
    if path == "steps" and isinstance(held, Sequence):
        inner: Node = _assign_step(held, keys[1:], value)
    elif isinstance(held, Mapping):
        inner = _assign(held, rest, value, path)
    else:
        raise value.place.error(
            f"{path} holds no keys to set: it is {found(held)}, which stands at {held.place}"
        )
    return _with(node, Entry(given.key if given else _new_key(name, value), inner))


def _assign_step(steps: Sequence, keys: list[str], value: Node) -> Sequence:
    """Set a whole step, which adds it where it is missing, or one parameter of a step that is there."""
    name = keys[0]
    items = [_as_step(item) for item in steps.items]
    for index, item in enumerate(items):
        if item and item.get(name):
            changed = _assign(item, keys, value, "steps")
            return replace(steps, items=(*steps.items[:index], changed, *steps.items[index + 1 :]))
    if len(keys) > 1:
        near = nearest(name, tuple(item.entries[0].key.text for item in items if item))
        hint = f"did you mean {near}?" if near else f"{child('steps', name)}={{}} adds it"
        raise value.place.error(f"the manifest has no step {shown(name)}; {hint}")
    added = Mapping(value.place, (Entry(_new_key(name, value), value),))
    return replace(steps, items=(*steps.items, added))


def _as_step(item: Node) -> Mapping | None:
    """See an item of `steps:` as one name and its parameters; None for what is no step."""
    if isinstance(item, Scalar):
        return Mapping(item.place, (Entry(item, Scalar(item.place, "")),))
    return item if isinstance(item, Mapping) and len(item.entries) == 1 else None


def _new_key(name: str, value: Node) -> Scalar:
    return Scalar(value.place, name, plain=False)


def _with(node: Mapping, entry: Entry) -> Mapping:
    """Put an entry in the place of the one with its key, or at the end."""
    entries = {given.key.text: given for given in node.entries}
    entries[entry.key.text] = entry
    return replace(node, entries=tuple(entries.values()))


def _drop_other_model(root: Mapping, source: str, value: Node, notes: list[str]) -> Mapping:
    """Take off what the manifest says of the model that a `--set` replaces.

    Its digest and pre-tokenizer are facts about that very model, and a fallback goes with `ollama`
    only. What a `--set` itself gives stays, in whatever order they come.
    """
    model = root.get("model")
    if not model or not isinstance(model.value, Mapping):
        return root
    same = model.value.get(source)
    if same and same.value == replace(value, place=same.value.place):
        return root
    void = {"digest", "pre"} if source == "ollama" else {"digest", "pre", "fallback"}
    dropped = [
        entry.key.text
        for entry in model.value.entries
        if entry.key.text in void and not entry.key.place.is_override
    ]
    if dropped:
        names = ", ".join(f"model.{name}" for name in dropped)
        notes.append(f"{value.place}: another model; left out, as about the manifest's own: {names}")
    gone = {*SOURCES, *dropped}
    entries = tuple(entry for entry in model.value.entries if entry.key.text not in gone)
    return _with(root, Entry(model.key, replace(model.value, entries=entries)))
