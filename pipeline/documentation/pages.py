"""Each generated page as Markdown."""

from __future__ import annotations

import argparse
import inspect
from typing import TYPE_CHECKING

from pipeline.__main__ import build_parser
from pipeline.commands import COMMANDS
from pipeline.documentation.parity_page import parity_page_parts
from pipeline.manifest.describe import describe
from pipeline.schema.tables import markdown_page, markdown_table
from pipeline.steps import DECLARATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pipeline.steps.step import Step

NOTICE = "<!-- Made from the code by `make docs`; do not edit. -->"


def formats_page() -> str:
    """Describe every binary layout, as `pipeline schema --markdown` does."""
    return _page([markdown_page()])


def manifest_page() -> str:
    """Describe the manifest's keys."""
    return _page(["# The manifest", describe(DECLARATIONS)])


def steps_page() -> str:
    """Describe what each step reads and writes."""
    parts = [
        "# Steps and artifacts",
        (
            "Steps run in the order that follows from what they read and write. A step that reads `model` depends "
            "on the GGUF's bytes; its artifacts are made again when the GGUF's SHA-256, a parameter, the step's "
            "version or the tool changes, or when an artifact is missing or edited."
        ),
    ]
    for step in DECLARATIONS.values():
        parts += list(_step_parts(step))
    return _page(parts)


def _step_parts(step: Step) -> Iterator[str]:
    yield f"## {step.name}"
    yield inspect.cleandoc(type(step).__doc__ or "")
    reads = [f"`{name}`" for name in step.reads] or ["the artifacts that its parameters name"]
    yield f"Reads: {', '.join(reads)}."
    if step.uses or step.files:
        made = [f"`{name}` where the manifest makes it" for name in step.uses]
        yield "Reads too: " + ", ".join([*made, *(f"what `{name}` names" for name in step.files)]) + "."
    rows = [(f"`{a.name}`", f"{a.layout} {a.version}", a.summary) for a in step.writes]
    yield markdown_table(("artifact", "layout", "holds"), rows)


def commands_page() -> str:
    """Describe each command and its arguments."""
    parser = build_parser()
    subparsers = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    parts = ["# Commands", str(parser.description), "```\n" + str(parser.epilog) + "\n```"]
    examples = {command.name: command.examples for command in COMMANDS}
    for name, command in subparsers.choices.items():
        parts += [f"## {name}", inspect.cleandoc(command.description or "")]
        rows = [(_argument(action), action.help or "") for action in command._actions]
        parts.append(markdown_table(("argument", "meaning"), rows))
        parts += [f"```\n{example}\n```" for example in examples[name]]
    return _page(parts)


def _argument(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    options = ", ".join(action.option_strings)
    value = action.metavar or ("|".join(action.choices) if action.choices else "")
    return f"`{options} {value}`" if value and action.nargs != 0 else f"`{options}`"


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join([NOTICE, *(part.strip() for part in parts)]) + "\n"


def parity_page() -> str:
    """Show what the command `parity` says of the built-in texts."""
    return _page(parity_page_parts())


PAGES = {
    "formats.md": formats_page,
    "manifest.md": manifest_page,
    "steps.md": steps_page,
    "commands.md": commands_page,
    "parity.md": parity_page,
}
"""The pages by file name."""
