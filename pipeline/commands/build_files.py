"""Print the folder of the files that a build tool includes to run this tool as one of its steps.

`q25_firmware_assets.cmake` defines a function of that name for CMake, `q25_firmware_assets.mk` a rule for
GNU Make; each says at its start how it is used.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.commands.command import Command
from pipeline.commands.console import say

if TYPE_CHECKING:
    import argparse

FOLDER = Path(__file__).resolve().parent.parent / "build_files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: none."""


def run(arguments: argparse.Namespace) -> int:  # noqa: ARG001
    """Print the folder."""
    say(FOLDER.as_posix())
    return 0


COMMAND = Command(
    "build-files", "print where the files for CMake and Make are", __doc__ or "", add_arguments, run
)
