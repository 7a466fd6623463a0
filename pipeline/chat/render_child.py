"""Renders chats with a template, as a program of its own; `pipeline.chat.rendering` starts it and bounds it.

A template comes with the model, so it is foreign code: it runs in Jinja's sandbox, which keeps it from
Python's objects, and in a process whose time and memory are limited, which keeps it from holding up a build.
Standard input and output carry one JSON document each.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2.environment import Template
    from jinja2.sandbox import ImmutableSandboxedEnvironment

_SPACE = 16


def main() -> None:
    """Answer the request on standard input."""
    request = json.load(sys.stdin)
    _limit(request["seconds"], request["memory"])
    json.dump(answer(request), sys.stdout)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Render every chat.

    Args:
        request: template; date for `strftime_now`, or None; characters that a chat may have; chats, a
            mapping of the template's variables each.

    Returns:
        `error`, where the template cannot be read; else `rendered`, a list with the `text` of each, which a
        `refusal` ends.

    """
    from jinja2 import TemplateError

    try:
        template = environment(request["date"]).from_string(request["template"])
    except (TemplateError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        return {"error": (f"line {line}: " if line else "") + (str(error) or type(error).__name__)}
    rendered = []
    for chat in request["chats"]:
        rendered.append(_render(template, chat, request["characters"]))
        if "refusal" in rendered[-1]:
            break
    return {"rendered": rendered}


def environment(date: str | None) -> ImmutableSandboxedEnvironment:
    """Set Jinja up as chat libraries do, without what would make two runs differ."""
    from jinja2 import TemplateError, nodes
    from jinja2.ext import Extension
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        """The block `generation`, which marks answers for training; here only its body counts."""

        tags = {"generation"}  # noqa: RUF012  (Jinja's interface)

        def parse(self, parser: Any) -> nodes.Node:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return nodes.Scope(body).set_lineno(line)

    def raise_exception(message: object) -> NoReturn:
        raise TemplateError(str(message))

    def strftime_now(form: str) -> str:
        if date is None:
            raise TemplateError(
                "it writes the day's date; state the date that firmware shall have with `date`"
            )
        return dt.datetime.fromisoformat(date).strftime(form)

    def no_chance(*_: object) -> NoReturn:
        raise TemplateError("it draws at random, so that no two chats need be alike")

    def tojson(value: object, indent: int | None = None, **more: Any) -> str:
        return json.dumps(value, ensure_ascii=False, indent=indent, **more)

    made = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", Generation]
    )
    functions: tuple[Callable[..., object], ...] = (raise_exception, strftime_now)
    made.globals.update({function.__name__: function for function in functions}, lipsum=no_chance)
    made.filters.update(tojson=tojson, random=no_chance)
    return made


def _render(template: Template, variables: dict[str, Any], limit: int) -> dict[str, str]:
    parts, size = [], 0
    try:
        for part in template.generate(**variables):
            parts.append(part)
            size += len(part)
            if size > limit:
                return {"refusal": f"it writes more than {limit:,} characters"}
    except MemoryError:
        parts.clear()
        return {"refusal": "it needs too much memory"}
    except Exception as error:  # noqa: BLE001  (whatever a foreign template raises is its refusal)
        return {"refusal": str(error) or type(error).__name__}
    return {"text": "".join(parts)}


def _limit(seconds: int, memory: int) -> None:
    """Bound the time and memory of this process, where the system can; the one who waits bounds time too."""
    try:
        import resource
    except ImportError:  # Windows
        return
    # Data is what the process may write to; the address space has mapped files in it too, of any size.
    limits = (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_AS, _SPACE * memory),
    )
    for what, wanted in limits:
        try:
            _, hard = resource.getrlimit(what)
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(what, (most, hard))
        except (OSError, ValueError):  # a system that knows the limit, and does not set it
            continue


if __name__ == "__main__":
    main()
