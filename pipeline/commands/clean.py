"""Remove the artifacts in a manifest's output folder that no step of the manifest makes any more.

Only files that this tool wrote, and that are still as it wrote them, are removed; an edited one is
named and kept, unless --force is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.commands.command import Command
from pipeline.commands.console import say
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
    from functools import partial

    from pipeline.runner.clean import clean_folder
    from pipeline.sources.errors import path_words

    manifest, graph = load(arguments)
    result = clean_folder(
        manifest.out,
        graph,
        dry_run=arguments.dry_run,
        force=arguments.force,
        wait=arguments.wait,
        on_wait=partial(say, flush=True),
    )
    for name in result.removed:
        say(f"{'would remove' if arguments.dry_run else 'removed'} {name}")
    for name in result.kept:
        say(f"kept {name}: it is not as this tool wrote it; --force removes it")
    would_be = "would be " if arguments.dry_run else ""
    say(f"{len(result.removed)} {would_be}removed, {len(result.kept)} kept in {path_words(manifest.out)}")
    return 0


COMMAND = Command("clean", "remove artifacts that no step makes any more", __doc__, add_arguments, run)
