"""The manifest's reference in Markdown, from the declarations that the loader reads by."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pipeline.manifest.containers import MapOf
from pipeline.manifest.fields import Fields
from pipeline.manifest.kinds import any_of
from pipeline.manifest.load import manifest_parameters
from pipeline.manifest.model import SOURCES, Model
from pipeline.manifest.parameters import Parameter, StepDeclaration, as_json
from pipeline.manifest.source import LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


_RULES = f"""\
A manifest is one YAML document in UTF-8, at most {LIMIT // 1024} KiB.

- Paths are parted by `/` and start at the manifest's folder, never at the current one: `out: ../build`
  in `manifests/a.yaml` is `build` beside `manifests`. `..` is resolved by name, links are not followed.
- Text that some reader of YAML takes for a number, a date, true or false, or nothing needs quotes:
  `"no"`, `"010"`, `"1.10"`, `"12:30"`, `"2024-01-01"`. `qwen2.5:7b` needs none.
- Numbers are written in base 10, or in base 16 with `0x`, without quotes. Sizes may have one of the
  units `KiB`, `MiB` and `GiB`. No number is rounded.
- Keys stand once; in the tables below `NAME` is one of your own. Tabs, anchors, aliases, tags, merge keys
  and further documents are refused.
- `--set KEY=VALUE` writes a key as if it stood in the manifest: `out`, `model.ollama`,
  `expect.ARTIFACT`, `budget.ARTIFACT`, `steps.STEP`, `steps.STEP.PARAMETER`. VALUE is read as YAML, and a path
  in it starts at the manifest's folder. Of two for one key the later holds. `--set model.ollama=...` (or
  `gguf`, `sample`) replaces the model that the manifest names, and voids its `digest`, `pre` and, where
  the new one is not from Ollama, its `fallback`, unless they are set too; that is said on the console."""


def describe(declarations: Mapping[str, StepDeclaration]) -> str:
    """Write the rules, a table of the manifest's keys, one of the model's, and one for each step.

    Args:
        declarations: the steps that there are, by name.

    Returns:
        Markdown; headings begin at the second level.

    """
    parts = [
        "## How a manifest is read",
        _RULES,
        "## Keys of the manifest",
        _table(manifest_parameters(declarations)),
        "## Keys of `model`",
        f"Exactly one of {any_of(tuple(f'`{source}`' for source in SOURCES))} names the model.",
        _table(Model.parameters),
        "## Steps",
    ]
    for step in declarations.values():
        parts += [f"### {step.name}", step.summary]
        parts.append(_table(step.parameters) if step.parameters else "No parameters.")
    return "\n\n".join(parts) + "\n"


def _table(parameters: Iterable[Parameter]) -> str:
    rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for name, parameter in _with_inner(parameters):
        cells = (f"`{name}`", parameter.kind.words(), _default(parameter), parameter.doc)
        rows.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(rows)


def _with_inner(parameters: Iterable[Parameter], outer: str = "") -> Iterator[tuple[str, Parameter]]:
    """Give each key and, behind one whose value is a mapping, the keys of that; NAME stands for a free one."""
    for parameter in parameters:
        name, kind = outer + parameter.name, parameter.kind
        yield name, parameter
        if isinstance(kind, MapOf):
            name, kind = f"{name}.NAME", kind.kind
        if isinstance(kind, Fields):
            yield from _with_inner(kind.parameters, f"{name}.")


def _default(parameter: Parameter) -> str:
    if parameter.is_required:
        return "required"
    if parameter.default is None:
        return ""
    return f"`{json.dumps(as_json(parameter.default), ensure_ascii=False)}`"
