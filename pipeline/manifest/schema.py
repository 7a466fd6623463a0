"""The manifest's JSON Schema (2020-12), from the declarations that the loader reads by.

    python -m pipeline.manifest.schema                  print it
    python -m pipeline.manifest.schema --check [FILE]   compare a file with it; exit 1 when they differ

What JSON Schema cannot see, and the loader refuses besides: the text's own form (duplicate keys,
missing quotes, tabs, aliases, how a number is written), and the bounds of sizes with a unit.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.manifest.load import manifest_parameters
from pipeline.manifest.parameters import StepDeclaration, parameters_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COMMITTED = Path(__file__).parents[2] / "manifests" / "manifest.schema.json"
"""Where the schema is kept, for editors."""


def manifest_schema(declarations: Mapping[str, StepDeclaration]) -> dict[str, object]:
    """Make the schema.

    Args:
        declarations: the steps that there are, by name.

    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Manifest of a build",
        **parameters_schema(manifest_parameters(declarations)),
    }


def schema_text(declarations: Mapping[str, StepDeclaration]) -> str:
    """Write the schema as it is kept in a file."""
    return json.dumps(manifest_schema(declarations), indent=2, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the schema of the real steps, or compare a file with it."""
    import argparse

    from pipeline.steps import DECLARATIONS

    parser = argparse.ArgumentParser(prog="python -m pipeline.manifest.schema", description=main.__doc__)
    parser.add_argument("--check", nargs="?", type=Path, const=COMMITTED, metavar="FILE", help="compare FILE")
    check: Path | None = parser.parse_args(arguments).check
    text = schema_text(DECLARATIONS)
    if check is None:
        sys.stdout.write(text)
        return 0
    if check.exists() and check.read_text("utf-8") == text:
        return 0
    sys.stderr.write(
        f"{check}: not the schema of the present steps; write there what this prints without --check\n"
    )
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
