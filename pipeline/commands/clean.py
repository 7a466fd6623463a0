"""Remove the artifacts in a manifest's output folder that no step of the manifest makes any more.

Only files that this tool wrote, and that are still as it wrote them, are removed; an edited one is
named and kept, unless --force is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.commands.command import Command
from pipeline.commands.manifest_arguments import add_manifest_arguments, load

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_manifest_arguments(parser)
    parser.add_argument("--dry-run", action="store_true", help="name the files and keep them")
    parser.add_argument("--force", action="store_true", help="remove edited files too")
    parser.add_argument("--wait", action="store_true", help="wait for another run in the same folder")


def run(arguments: argparse.Namespace) -> int:
    """Remove the files."""
    from pipeline.runner.clean import clean_folder

    manifest, graph = load(arguments)
    result = clean_folder(
        manifest.out,
        graph,
        dry_run=arguments.dry_run,
        force=arguments.force,
        wait=arguments.wait,
        on_wait=print,
    )
    for name in result.removed:
        print(f"{'would remove' if arguments.dry_run else 'removed'} {name}")
    for name in result.kept:
        print(f"kept {name}: it was edited; --force removes it")
    print(f"{len(result.removed)} removed, {len(result.kept)} kept in {manifest.out}")
    return 0


COMMAND = Command("clean", "remove artifacts that no step makes any more", __doc__, add_arguments, run)
