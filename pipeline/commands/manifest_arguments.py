"""What the commands that take a manifest have in common."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from pipeline.manifest.load import Manifest
    from pipeline.runner.graph import Graph


def add_manifest_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare MANIFEST, --set and --out."""
    parser.add_argument("manifest", metavar="MANIFEST", help="the manifest, a YAML file")
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        dest="overrides",
        action="append",
        default=[],
        help="replace a value of the manifest, as in --set steps.runtime_image.align=4096; may be repeated",
    )
    parser.add_argument("--out", metavar="DIR", help="write there, instead of the manifest's `out`")


def load(arguments: argparse.Namespace) -> tuple[Manifest, Graph]:
    """Read the manifest that the arguments name, and put its steps in order.

    Raises:
        ManifestError: it cannot be followed.
        UsageError: --out without a path.

    """
    from dataclasses import replace

    from pipeline.errors import UsageError
    from pipeline.manifest.load import load_manifest
    from pipeline.runner.graph import Graph
    from pipeline.steps import DECLARATIONS

    if arguments.out == "":
        raise UsageError("--out: expected a folder, found an empty path")

    manifest = load_manifest(arguments.manifest, DECLARATIONS, arguments.overrides)
    if arguments.out is not None:
        manifest = replace(manifest, out=Path(arguments.out))
    return manifest, Graph(manifest, DECLARATIONS)
