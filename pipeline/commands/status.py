"""Tell which steps of a manifest are fresh and which would run, each with its reasons.

Exit code 0 when everything is fresh and as `expect` wants it, 1 when anything is not. Nothing is
written.
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
    parser.add_argument("--no-fallback", action="store_true", help="refuse the manifest's fallback")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="say of every step all that makes it run, or all that is as before",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def run(arguments: argparse.Namespace) -> int:
    """Judge every step."""
    from pipeline.commands.reporting import JsonReporter, TextReporter
    from pipeline.runner.reporter import State
    from pipeline.runner.run import RunOptions, run_manifest

    manifest, graph = load(arguments)
    options = RunOptions(
        dry_run=True, keep_going=True, fallback=not arguments.no_fallback, explain=arguments.explain
    )
    reporter = JsonReporter() if arguments.json else TextReporter()
    result = run_manifest(manifest, graph, options, reporter)
    return int(any(report.state is not State.FRESH for report in result.reports))


COMMAND = Command("status", "tell what would run, and why", __doc__, add_arguments, run)
