"""Removing what earlier runs made and no step of the manifest makes any more."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.runner.known_files import WORK_FOLDER
from pipeline.runner.lock import locked
from pipeline.runner.outputs import OutputFolder, refusal
from pipeline.runner.record import BuildRecord
from pipeline.runner.record_file import load_record, orphans

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pipeline.runner.graph import Graph


@dataclass(frozen=True)
class CleanResult:
    """What a clean-up came to: names of files, relative to the folder.

    Attributes:
        removed: orphans that are gone now.
        kept: orphans that are not as this tool wrote them.

    """

    removed: tuple[str, ...]
    kept: tuple[str, ...]


def clean_folder(
    root: Path, graph: Graph, *, dry_run: bool, force: bool, wait: bool, on_wait: Callable[[str], None]
) -> CleanResult:
    """Remove orphans from an output folder.

    Args:
        root: the folder.
        graph: the manifest's steps.
        dry_run: only say what would be removed.
        force: remove files too that are not as this tool wrote them.
        wait: wait for another run in the folder.
        on_wait: told whom the wait is for.

    Raises:
        UsageError: a folder inside is a link by now.
        MachineError: the system refuses, or another run works in the folder.

    """
    if not (root / WORK_FOLDER).is_dir():
        return CleanResult((), ())
    removed, kept = [], []
    with ExitStack() as stack:
        try:
            if not dry_run:
                stack.enter_context(locked(OutputFolder.prepare(root), wait=wait, on_wait=on_wait))
            folder = stack.enter_context(OutputFolder(root, writable=not dry_run))
            record = load_record(folder)
            steps = {name: step for name, step in record.steps.items() if name in graph.nodes}
            for name in orphans(folder, BuildRecord(record.source, steps)):
                if folder.known.digest(name) is None:
                    folder.known.forget(name)
                elif not (force or folder.known.is_as_written(name)):
                    kept.append(name)
                else:
                    removed.append(name)
                    if not dry_run:
                        folder.remove(name)
            if not dry_run:
                folder.save_known()
        except OSError as error:
            raise refusal(error, root) from error
    return CleanResult(tuple(removed), tuple(kept))
