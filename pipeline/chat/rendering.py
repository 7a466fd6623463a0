"""Rendering chats with a model's template, in a process of its own that a hostile template cannot hold up."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from formats.errors import shown
from pipeline.errors import MachineError, ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LIBRARY = "jinja2"
SECONDS = 10
"""Of the processor; by the clock it may be three times as many."""
MEMORY = 256 << 20
"""Bytes of data, Python's own among them."""
CHARACTERS = 1 << 20
"""Of one rendered chat; those that are rendered here have some thousand."""

_OUT_OF_TIME = -getattr(signal, "SIGXCPU", sys.maxsize)  # Windows has no such signal
_CHILD = Path(__file__).resolve().with_name("render_child.py")


def require_library() -> None:
    """Refuse to go on where Jinja is not installed (MachineError)."""
    if importlib.util.find_spec(LIBRARY) is None:
        raise MachineError(
            f"chat templates need the package {LIBRARY}, which is not installed: pip install '.[chat]'"
        )


def render(
    name: str, template: str, chats: Sequence[Mapping[str, Any]], date: str | None = None
) -> list[str | ModelError]:
    """Render chats.

    Args:
        name: what the template is called in messages.
        template: in Jinja's language.
        chats: the template's variables, for each chat.
        date: what `strftime_now` goes by, as 2024-07-26; without it a template that asks is refused.

    Returns:
        for each chat its text; the first one that the template refuses ends the list, with the reason.

    Raises:
        MachineError: Jinja is not installed, or cannot be started.
        ModelError: the template cannot be read, or takes too long.

    """
    require_library()
    request = {
        "template": template,
        "date": date,
        "characters": CHARACTERS,
        "seconds": SECONDS,
        "memory": MEMORY,
        "chats": list(chats),
    }
    code, out, complaint = _run(json.dumps(request))
    if code is None or code == _OUT_OF_TIME:
        raise ModelError(
            f"{name}: expected chats to be rendered within {SECONDS} s, found none: it does not end"
        )
    if code < 0:
        raise ModelError(
            f"{name}: expected rendered chats, found that the process was ended by signal {-code}"
        )
    if code:
        raise MachineError(f"{name}: the process that renders chats ends with {code}: {shown(complaint)}")
    answer = json.loads(out)
    if "error" in answer:
        raise ModelError(f"{name}: expected a template in Jinja, found {shown(answer['error'])}")
    return [
        found["text"] if "text" in found else ModelError(shown(found["refusal"]))
        for found in answer["rendered"]
    ]


def _run(request: str) -> tuple[int | None, str, str]:
    """Run the child; give its exit code, None where it did not end, its answer and its last complaint."""
    try:
        done = subprocess.run(  # noqa: S603  (this Python, a module of ours)
            [sys.executable, "-P", str(_CHILD)],
            input=request,
            capture_output=True,
            encoding="utf-8",
            timeout=3 * SECONDS,
            # The order of a set's elements is the same each time.
            env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, "", ""
    except OSError as error:
        raise MachineError(f"{sys.executable}: cannot be started: {error.strerror or error}") from error
    lines = done.stderr.strip().splitlines()
    return done.returncode, done.stdout, lines[-1] if lines else ""
