"""Write a page about a build: where its bytes lie, what it holds, and what it was made from.

The page is one HTML file that loads nothing and runs nothing. It has maps to scale of every packed file and
of the memory that files are loaded into, the sections with their shares and checksums, the tensors by type
and size, the vocabulary by kind, length and script, the parity table where the build has one, and the way
from the model's blob to each file and section. The same build gives the same page.

It is written beside the folder, as `build/qwen25.html`; --output names another place, `-` standard output.
A file of that name that is no such page is not replaced. Where a file of the build is missing or damaged, the
page says so, each fault is a line on standard error, and the exit code is 1.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.commands.command import Command, Example
from pipeline.commands.console import put, say
from pipeline.commands.named_files import require_there

if TYPE_CHECKING:
    import argparse

STANDARD_OUTPUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", metavar="DIR", help="an output folder")
    parser.add_argument("-o", "--output", metavar="FILE", help="the page (default: DIR.html)")


def run(arguments: argparse.Namespace) -> int:
    """Write the page, then name what is wrong with the build."""
    from pipeline.errors import UsageError
    from pipeline.report.build import open_build
    from pipeline.report.page import START, report_page
    from pipeline.runner.single_file import replace_file, require_replaceable
    from pipeline.sources.errors import path_words

    root = require_there(Path(arguments.folder))
    if not root.is_dir():
        raise UsageError(f"{path_words(root)}: expected the output folder of a build, found a file")
    target = None if arguments.output == STANDARD_OUTPUT else _target(root, arguments.output)
    if target is not None:
        require_replaceable(target, START.encode(), "page")
    build = open_build(root)
    page = report_page(build)
    if target is None:
        put(page.html.encode())
    else:
        replace_file(target, page.html.encode())
        say(f"{path_words(target)}: {', '.join(page.contents)}")
    for fault in build.faults:
        print(fault, file=sys.stderr)
    return int(bool(build.faults))


def _target(root: Path, output: str | None) -> Path:
    """Choose where the page goes.

    Raises:
        UsageError: beside the folder there is no place.

    """
    from pipeline.errors import UsageError

    if output is not None:
        return Path(output)
    # `.` and `..` have no name to put the suffix to.
    folder = root if root.name not in ("", "..") else root.resolve()
    if not folder.name:
        raise UsageError("--output: expected a file, found none; there is no place beside this folder")
    return folder.with_name(f"{folder.name}.html")


EXAMPLES = (
    Example(
        "report build/qwen25",
        """\
build/qwen25.html: 4 maps, 26 tensors, 151,936 tokens, 59 files
""",
    ),
)

COMMAND = Command("report", "write a page about a build", __doc__, add_arguments, run, examples=EXAMPLES)
