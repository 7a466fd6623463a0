"""What to tell a user whose text is not YAML: PyYAML's complaint in terms of what was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.errors import shown

if TYPE_CHECKING:
    import yaml

    from pipeline.manifest.place import ManifestError, Place
    from pipeline.manifest.source import Source

_BEGINS_WITH = frozenset(
    {
        "while scanning an alias",
        "while scanning an anchor",
        "while scanning a tag",
        "while parsing a tag",
        "while scanning a directive",
        "while scanning a block scalar",
    }
)
"""What PyYAML is about when a first character of YAML's own was meant as text."""
_OPENERS = frozenset("[{\"'")
_SAYS_INDENTATION = ("'<block mapping start>'", "'<block sequence start>'", "'<block entry>'", "'?'", "'-'")


def not_yaml(error: yaml.MarkedYAMLError, source: Source) -> ManifestError:
    """Make the refusal of a text that PyYAML cannot read.

    Args:
        error: from PyYAML's scanner or parser. Mistakes that people make often get words of ours;
            any other keeps PyYAML's.
        source: the text that was read.

    """
    problem, context = error.problem or "", error.context or ""
    mark = error.problem_mark or error.context_mark
    at = mark.index if mark else 0
    begun = error.context_mark.index if error.context_mark else at
    at, line = (
        _scanner_words(problem, context, source.text, at, begun)
        or _parser_words(problem, source, at, begun)
        or (at, _pyyaml_words(problem, context, source.place(begun) if begun != at else None))
    )
    return source.place(at).error(line)


def _scanner_words(problem: str, context: str, text: str, at: int, begun: int) -> tuple[int, str] | None:
    here, there = text[at : at + 1], text[begun : begun + 1]
    if here == "\t":
        return at, "a tab; use spaces to indent and to part words"
    if context in _BEGINS_WITH:
        return begun, f"text that begins with {there} needs quotes around it"
    if context == "while scanning a double-quoted scalar":
        return at, r"a \ in double quotes begins an escape, and this is none; use single quotes, or \\"
    if "cannot start any token" in problem:
        return at, f"text that begins with {here} needs quotes around it"
    if problem.startswith("mapping values are not allowed"):
        return at, (
            "a ':' in a place where no key can stand; check the indentation, "
            "or quote the text that the ':' belongs to"
        )
    if problem.startswith("sequence entries are not allowed"):
        return at, "a '- ' in a place where no list can stand; begin the list on a line of its own"
    if problem.startswith("could not find expected ':'"):
        return begun, "expected 'key: value', found text without ': ' behind it"
    return None


def _parser_words(problem: str, source: Source, at: int, begun: int) -> tuple[int, str] | None:
    here, there = source.text[at : at + 1], source.text[begun : begun + 1]
    if "end of stream" in problem or "'<stream end>'" in problem:
        if there in _OPENERS:
            return begun, f"this {there} is never closed"
        return at, "the text ends where a value was expected; is each [ and { closed?"
    if problem.startswith(("expected ',' or ']'", "expected ',' or '}'")):
        return at, f"{problem.partition(', but')[0]} here; is the {there} at {source.place(begun)} closed?"
    if problem.startswith("expected the node content"):
        return at, f"expected a value, found {here}"
    if problem.startswith("expected '<document start>'"):
        return at, "expected the end of the text; the value ends before this"
    if "expected <block end>" not in problem:
        return None
    if here in {"]", "}"}:
        return at, f"this {here} closes nothing"
    if problem.endswith(_SAYS_INDENTATION):
        return at, "the indentation fits none of the lines above"
    return at, "expected the line's end; quote the whole text if this belongs to it"


def _pyyaml_words(problem: str, context: str, begun: Place | None) -> str:
    line = problem if problem.isprintable() else shown(problem)
    return f"not YAML: {line} {context} from {begun}" if context and begun else f"not YAML: {line}"
