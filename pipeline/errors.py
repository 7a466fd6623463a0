"""Why a command stops: one line for the user, one exit code for the build that called it."""

from __future__ import annotations


class PipelineError(Exception):
    """Base of every refusal. `str()` is the one line that the user reads."""

    exit_code = 1


class CheckFailed(PipelineError):  # noqa: N818  (it is the outcome of a check, not a fault of ours)
    """A check was made and did not hold: exit 1."""

    exit_code = 1


class UsageError(PipelineError):
    """The manifest or the call is wrong: exit 2."""

    exit_code = 2


class ModelError(PipelineError):
    """The model is missing, broken or of a kind that is not served: exit 3."""

    exit_code = 3


class MachineError(PipelineError):
    """Disk, permission or a lock: the machine let us down. Exit 4."""

    exit_code = 4


class ConsoleError(MachineError):
    """Standard output cannot be written.

    Attributes:
        is_closed: whoever read it has gone, as `head` does; that is no news to tell.

    """

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output: {error.strerror or error}")
        self.is_closed = isinstance(error, BrokenPipeError)
