"""The commands, one module each; a module's docstring is its help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.commands.build_files import COMMAND as BUILD_FILES
from pipeline.commands.clean import COMMAND as CLEAN
from pipeline.commands.dag import COMMAND as DAG
from pipeline.commands.decode import COMMAND as DECODE
from pipeline.commands.diff import COMMAND as DIFF
from pipeline.commands.dump import COMMAND as DUMP
from pipeline.commands.encode import COMMAND as ENCODE
from pipeline.commands.inspect import COMMAND as INSPECT
from pipeline.commands.models import COMMAND as MODELS
from pipeline.commands.parity import COMMAND as PARITY
from pipeline.commands.report import COMMAND as REPORT
from pipeline.commands.run import COMMAND as RUN
from pipeline.commands.schema import COMMAND as SCHEMA
from pipeline.commands.size import COMMAND as SIZE
from pipeline.commands.status import COMMAND as STATUS
from pipeline.commands.verify import COMMAND as VERIFY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.commands.command import Command

COMMANDS: Sequence[Command] = (
    RUN,
    STATUS,
    DAG,
    INSPECT,
    MODELS,
    SCHEMA,
    DUMP,
    DIFF,
    SIZE,
    REPORT,
    VERIFY,
    CLEAN,
    ENCODE,
    DECODE,
    PARITY,
    BUILD_FILES,
)
"""In the order of the help."""
