"""What a command is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the command line.

    Attributes:
        name: as it is typed.
        summary: its line in the list of commands.
        description: the text of its own help.
        add_arguments: declares its arguments.
        run: does the work and returns the exit code; a PipelineError ends it with the code of its kind.

    """

    name: str
    summary: str
    description: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
