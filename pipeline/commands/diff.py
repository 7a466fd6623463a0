"""Tell what differs between two artifacts of one kind, or between two output folders.

Files are compared by section, record and field: what was added, removed and changed. Rows that were put
in or left out are found, and what only follows from that, as an offset or a rank, is no change. The
counts come first, then the changes, of each section as many as --limit says. Exit code 1 where anything
differs, 0 where nothing does.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.commands.command import Command, Example
from pipeline.commands.console import plain, say
from pipeline.commands.named_files import require_there
from pipeline.text_output import json_line

if TYPE_CHECKING:
    import argparse

    from pipeline.diff.changes import Changes

LIMIT = 20
BYTES = "tensor_payload"
"""The format of bytes that nothing more is known of."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("first", metavar="A", help="a file or an output folder")
    parser.add_argument("second", metavar="B", help="another one of the same kind")
    parser.add_argument("--format", metavar="NAME", help="the files' format, where nothing tells it")
    parser.add_argument(
        "--limit",
        metavar="N",
        type=int,
        default=LIMIT,
        help=f"changes that are shown of each section (default: {LIMIT}; 0: all)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object for each count and change")


def run(arguments: argparse.Namespace) -> int:
    """Compare, and say what differs."""
    from pipeline.errors import UsageError

    first, second = require_there(Path(arguments.first)), require_there(Path(arguments.second))
    if arguments.limit < 0:
        raise UsageError(f"--limit: expected 0 or more, found {arguments.limit}")
    if first.is_dir() != second.is_dir():
        raise UsageError("diff: expected two files or two folders, found one of each")
    if first.is_dir():
        return int(_folders(first, second, arguments))
    return int(_files(first, second, "", arguments))


def _folders(first: Path, second: Path, arguments: argparse.Namespace) -> bool:
    from pipeline.diff.folders import files_in, same_bytes

    old, new = files_in(first), files_in(second)
    differ = 0
    for name in sorted({*old, *new}):
        if name not in new or name not in old:
            differ += 1
            kind = "removed" if name in old else "added"
            say(json_line({"file": name, "kind": kind}) if arguments.json else f"{plain(name)}: {kind}")
        elif not same_bytes(old[name], new[name]):
            differ += _files(old[name], new[name], name, arguments)
    if not arguments.json:
        say(f"{differ} of {len({*old, *new})} files differ")
    return bool(differ)


def _files(first: Path, second: Path, name: str, arguments: argparse.Namespace) -> bool:
    """Compare two files, and tell whether they differ; in a folder, a file of no known format is bytes.

    Raises:
        UsageError: nothing tells a format, or the two have different ones.

    """
    from pipeline.artifact_files import candidates, open_artifact, start_of
    from pipeline.diff.compare import compare_files
    from pipeline.errors import UsageError

    known = arguments.format
    if name and not known and not candidates(first, start_of(first)):
        known = BYTES
    one, other = open_artifact(first, known), open_artifact(second, known)
    title = name or second.name
    if one.format is not other.format:
        if not name:
            words = f"{one.format.name} and {other.format.name}"
            raise UsageError(f"diff: expected two files of one format, found {words}")
        one, other = open_artifact(first, BYTES), open_artifact(second, BYTES)
    changes = compare_files(one, other, arguments.limit)
    if arguments.json:
        _print_json(title, changes)
    else:
        _print_text(title, changes)
    sys.stdout.flush()
    for fault in (*one.walk.faults, *other.walk.faults):
        print(fault, file=sys.stderr)
    return bool(changes.total)


def _print_text(title: str, changes: Changes) -> None:
    if not changes.total:
        say(f"{plain(title)}: no difference")
        return
    say(f"{plain(title)}: {changes.total:,} {'change' if changes.total == 1 else 'changes'}")
    if changes.note:
        say(f"  {changes.note}")
    for section in changes.sections():
        say(f"  {section}: {changes.summary(section)}")
    for change in changes.kept:
        say(f"{change.words}")
    hidden = changes.total - len(changes.kept)
    if hidden > 0:
        say(f"{hidden:,} more; --limit 0 shows all")


def _print_json(title: str, changes: Changes) -> None:
    if changes.note:
        say(json_line({"file": title, "note": changes.note}))
    for (section, kind), number in changes.counts.items():
        fields = {name: count for (of, name), count in changes.fields.items() if of == section}
        say(json_line({"file": title, "section": section, "kind": kind, "count": number, "fields": fields}))
    for change in changes.kept:
        say(
            json_line(
                {
                    "file": title,
                    "change": change.kind,
                    "section": change.section,
                    "path": change.path,
                    "old": change.old,
                    "new": change.new,
                    "token": change.token,
                }
            )
        )


EXAMPLES = (
    Example(
        "diff build/qwen25/token_types.bin build/other/token_types.bin",
        """\
token_types.bin: 1 change
  token_types: 1 changed (token_type 1)
token_types[151657].token_type: 4 user_defined -> 3 control (token 151657 '<tool_call>')
""",
    ),
)

COMMAND = Command(
    "diff",
    "tell what differs between two artifacts or folders",
    __doc__,
    add_arguments,
    run,
    examples=EXAMPLES,
)
