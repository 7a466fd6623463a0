"""Check an artifact, or a whole output folder.

A folder is held against its build record: every artifact's size and SHA-256, and what its layout
demands. A file is checked by its layout, and by the record of the folder it lies in. Every fault is a
line: file, section, index, field, offset, what was expected, what was found.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.commands.command import Command
from pipeline.commands.console import say
from pipeline.commands.named_files import require_there
from pipeline.text_output import json_line

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", metavar="FILE|DIR", help="an artifact, or an output folder")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Check, and name the faults."""
    from pipeline.sources.errors import path_words
    from pipeline.verification.folder import verify_file, verify_folder

    path = require_there(Path(arguments.path))
    verdict = verify_folder(path) if path.is_dir() else verify_file(path)
    if arguments.json:
        say(json_line({"checked": list(verdict.checked), "faults": list(verdict.faults)}))
    else:
        for fault in verdict.faults:
            print(fault, file=sys.stderr)
        count = len(verdict.checked)
        good = count - len(verdict.faults)
        say(f"{good} of {count} file{'s' * (count != 1)} verified in {path_words(path)}")
    return int(bool(verdict.faults))


COMMAND = Command("verify", "check an artifact or an output folder", __doc__, add_arguments, run)
