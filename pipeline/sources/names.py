"""Names of models as Ollama reads them: `[scheme://][host/][namespace/]model[:tag]`.

| part | characters | length |
|---|---|---|
| host | letters, digits, `_`, then also `-`, `.`, `:` | 1..350 |
| namespace | letters, digits, `_`, then also `-` | 1..80 |
| model, tag | letters, digits, `_`, then also `-`, `.` | 1..80 |
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from formats.errors import shown
from pipeline.errors import UsageError

PUBLIC_HOST = "registry.ollama.ai"
PUBLIC_ALIAS = "ollama.com"
"""The public registry's other name; newer stores use it in their paths. It is the same registry."""
NAMESPACE = "library"
TAG = "latest"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_LATER = {"host": "-.:", "namespace": "-", "model": "-.", "tag": "-."}
_LONGEST = {"host": 350, "namespace": 80, "model": 80, "tag": 80}
_FORM = "[host/][namespace/]model[:tag]"


@dataclass(frozen=True, slots=True, order=True)
class ModelName:
    """A model's full name, in the case it was typed in or has in the store."""

    host: str
    namespace: str
    model: str
    tag: str

    def __str__(self) -> str:
        """Give the full form."""
        return f"{self.host}/{self.namespace}/{self.model}:{self.tag}"

    @property
    def short(self) -> str:
        """The form that people type: without the public host, and then without `library/`."""
        if self.host != PUBLIC_HOST:
            return str(self)
        if self.namespace != NAMESPACE:
            return f"{self.namespace}/{self.model}:{self.tag}"
        return f"{self.model}:{self.tag}"

    @property
    def folded(self) -> ModelName:
        """The name in lower case: two names that Ollama takes for one are equal in it."""
        return ModelName(self.host.lower(), self.namespace.lower(), self.model.lower(), self.tag.lower())


def parse_name(text: str) -> ModelName:
    """Read a name; what is left out is `registry.ollama.ai`, `library` and `latest`.

    >>> parse_name("qwen2.5:0.5b").short, str(parse_name("host:5000/ns/m"))
    ('qwen2.5:0.5b', 'host:5000/ns/m:latest')

    Raises UsageError with the part that is wrong and why.
    """
    if not text:
        raise UsageError(f"model name: expected {_FORM}, found an empty text")
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme else text
    if "@" in rest:
        raise _wrong(text, "a digest is not given in the name; pin it with `digest:` beside it")
    tag = None
    if rest.rfind(":") > rest.rfind("/"):
        rest, _, tag = rest.rpartition(":")
    parts = rest.split("/")
    if len(parts) > 3:
        raise _wrong(text, f"at most three parts are divided by '/', found {len(parts)}")
    *front, model = parts
    namespace = front.pop() if front else None
    host = front.pop() if front else None
    named = {"host": host, "namespace": namespace, "model": model, "tag": tag}
    for part, value in named.items():
        if value is not None and (reason := _fault(part, value)):
            raise _wrong(text, reason)
    return ModelName(_canonical_host(host or PUBLIC_HOST), namespace or NAMESPACE, model, tag or TAG)


def name_of_path(parts: tuple[str, ...]) -> ModelName | None:
    """Read the four folder names of a manifest's path; None where they are no model's name."""
    if len(parts) != 4 or any(_fault(part, value) for part, value in zip(_LATER, parts, strict=True)):
        return None
    host, namespace, model, tag = parts
    return ModelName(_canonical_host(host), namespace, model, tag)


def _canonical_host(host: str) -> str:
    return PUBLIC_HOST if host.lower() in {PUBLIC_HOST, PUBLIC_ALIAS} else host


def _fault(part: str, value: str) -> str | None:
    if not value:
        return f"the {part} is empty"
    if len(value) > _LONGEST[part]:
        return f"the {part} has {len(value)} characters, at most {_LONGEST[part]} are allowed"
    if not _is_word(value[0]):
        return f"the {part} begins with {shown(value[0])}, expected a letter, a digit or '_'"
    for char in value:
        if not (_is_word(char) or char in _LATER[part]):
            if part == "namespace" and char == ".":
                return f"the namespace {shown(value)} has a '.'; a host needs both: host/namespace/model"
            return f"the {part} holds {shown(char)}, which is not allowed there"
    return None


def _is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


def _wrong(text: str, reason: str) -> UsageError:
    return UsageError(f"model name {shown(text)}: {reason}")
