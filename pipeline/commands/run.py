"""Make every artifact of a manifest that is missing, edited or out of date.

A step runs when what it depends on changed: its inputs' digests, its parameters, its version, or the
tool. Artifacts are written under a temporary name and renamed; one whose bytes did not change keeps
its file, with its time of change. One run at a time works in an output folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.commands.command import Command
from pipeline.commands.manifest_arguments import add_manifest_arguments, load

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_manifest_arguments(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--only", metavar="STEP", action="append", default=[], help="run this step alone; may be repeated"
    )
    which.add_argument("--from", metavar="STEP", dest="start", help="run this step and what depends on it")
    parser.add_argument(
        "--force",
        action="store_true",
        help="run steps that are fresh too, and replace files that this tool did not write",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would run and why; write nothing")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="as --dry-run, and say of every step all that makes it run, or all that is as before",
    )
    parser.add_argument(
        "--keep-going", action="store_true", help="after a failure go on with what does not depend on it"
    )
    parser.add_argument(
        "--no-fallback", action="store_true", help="refuse the manifest's fallback; for firmware builds"
    )
    parser.add_argument("--wait", action="store_true", help="wait for another run in the same folder")
    parser.add_argument(
        "--depfile",
        metavar="FILE",
        help="write what the run depends on as a rule of Make: the manifest, the model, this tool",
    )
    parser.add_argument(
        "--depfile-target", metavar="NAME", help="the rule's target; the file itself where it is not given"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def run(arguments: argparse.Namespace) -> int:
    """Run the manifest."""
    from pipeline.commands.reporting import JsonReporter, TextReporter
    from pipeline.runner.run import RunOptions, run_manifest

    manifest, graph = load(arguments)
    dry_run = arguments.dry_run or arguments.explain
    options = RunOptions(
        only=tuple(arguments.only),
        start=arguments.start,
        force=arguments.force,
        dry_run=dry_run,
        keep_going=arguments.keep_going,
        fallback=not arguments.no_fallback,
        wait=arguments.wait,
        explain=arguments.explain,
    )
    reporter = JsonReporter() if arguments.json else TextReporter()
    result = run_manifest(manifest, graph, options, reporter)
    reporter.done(result, manifest.out)
    if result.failure is not None:
        raise result.failure
    if arguments.depfile is not None and not dry_run:
        from pipeline.runner.depfile import inputs_of, write_depfile

        target = arguments.depfile_target or arguments.depfile
        write_depfile(Path(arguments.depfile), target, inputs_of(manifest, graph, result.source))
    return 0


COMMAND = Command("run", "make what a manifest names", __doc__, add_arguments, run)
