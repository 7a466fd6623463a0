"""Tell what the bytes of an artifact, or of an output folder, are spent on.

A file is measured by section and part, with each part's share; a folder by file. With --budget the exit
code is 1 where there are more bytes than that, and it is said by how much and where they go. The
manifest's `budget` does the same in a build, artifact by artifact.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.commands.command import Command, Example
from pipeline.commands.console import plain, say
from pipeline.commands.named_files import require_there
from pipeline.text_output import json_line

if TYPE_CHECKING:
    import argparse

    from pipeline.sizes import Share


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", metavar="FILE|DIR", help="an artifact or a GGUF, or an output folder")
    parser.add_argument("--budget", metavar="SIZE", help="bytes at the most: 64, 0x40, 64KiB, 6MiB")
    parser.add_argument("--json", action="store_true", help="print one JSON object for each part")


def run(arguments: argparse.Namespace) -> int:
    """Measure, and hold the size against the budget.

    Raises:
        CheckFailed: it is over the budget.

    """
    from pipeline.errors import CheckFailed, UsageError
    from pipeline.manifest.integers import size_in_bytes
    from pipeline.sizes import over_budget, total

    budget = None if arguments.budget is None else size_in_bytes(arguments.budget)
    if arguments.budget is not None and budget is None:
        raise UsageError(
            f"--budget: expected a size like 64, 0x40, 64KiB or 6MiB, found {plain(arguments.budget)}"
        )
    path = require_there(Path(arguments.path))
    parts = _parts(path)
    size = total(parts)
    name = plain(path.name or str(path))
    if arguments.json:
        for share in parts:
            say(
                json_line(
                    {"part": share.part, "size": share.size, "share": round(share.size / max(size, 1), 6)}
                )
            )
        say(json_line({"total": size, "budget": budget}))
    else:
        _print_text(name, parts, size, budget)
    if budget is not None and size > budget:
        raise CheckFailed(f"{name}: {over_budget(size, budget, parts)}")
    return 0


def _parts(path: Path) -> list[Share]:
    from pipeline.diff.folders import files_in
    from pipeline.sizes import Share, parts_of_file

    if not path.is_dir():
        return parts_of_file(path)
    found = [Share(name, file.stat().st_size) for name, file in files_in(path).items()]
    return sorted(found, key=lambda share: (-share.size, share.part))


def _print_text(name: str, parts: list[Share], size: int, budget: int | None) -> None:
    say(f"{name}: {size:,} bytes")
    width = max((len(plain(share.part)) for share in parts), default=0)
    digits = len(f"{size:,}")
    for share in parts:
        percent = 100 * share.size / max(size, 1)
        say(f"  {plain(share.part):<{width}}  {share.size:>{digits},}  {percent:5.1f} %")
    if budget is not None and size <= budget:
        say(f"budget {budget:,} bytes: {budget - size:,} left")


EXAMPLES = (
    Example(
        "size build/qwen25/q25_tokenizer.img --budget 6MiB",
        """\
q25_tokenizer.img: 5,667,200 bytes
  header                              256    0.0 %
  directory                           192    0.0 %
  sections.token_index          1,215,488   21.4 %
  sections.token_bytes            979,244   17.3 %
  sections.merge_table          2,422,192   42.7 %
  sections.byte_token_map           1,024    0.0 %
  sections.merge_pair_index     1,048,640   18.5 %
  sections.special_token_index        120    0.0 %
  padding                              44    0.0 %
budget 6,291,456 bytes: 624,256 left
""",
    ),
)

COMMAND = Command(
    "size",
    "tell what the bytes of an artifact or a folder are spent on",
    __doc__,
    add_arguments,
    run,
    examples=EXAMPLES,
)
