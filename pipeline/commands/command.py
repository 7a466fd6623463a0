"""What a command is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Example:
    """A call with what it prints, for the help and the docs; the tests run it.

    The files it names are those of `manifests/qwen25.yaml`, built on the sample.

    Attributes:
        call: what is typed behind `pipeline`.
        output: what it prints.

    """

    call: str
    output: str

    def __str__(self) -> str:
        return f"$ pipeline {self.call}\n{self.output}".rstrip("\n")


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the command line.

    Attributes:
        name: as it is typed.
        summary: its line in the list of commands.
        description: the text of its own help.
        add_arguments: declares its arguments.
        run: does the work and returns the exit code; a PipelineError ends it with the code of its kind.
        examples: calls with what they print.

    """

    name: str
    summary: str
    description: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    examples: tuple[Example, ...] = ()

    @property
    def epilog(self) -> str:
        """The examples, for the help."""
        return "\n\n".join(["examples:", *map(str, self.examples)]) if self.examples else ""
