"""From text to nodes, by PyYAML's events: one document, no tags, no anchors, no key twice.

Composing from events rather than with `yaml.compose` bounds the depth before anything recurses
and refuses an alias before anything is repeated.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml
from yaml import events

from formats.errors import shown
from pipeline.manifest.implicit import misread
from pipeline.manifest.nodes import Entry, Mapping, Node, Scalar, Sequence
from pipeline.manifest.place import Gather, Place
from pipeline.manifest.syntax import not_yaml

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipeline.manifest.source import Source

MAX_DEPTH = 20
"""Lists and mappings inside one another; a manifest needs six."""


def compose(source: Source) -> Node | None:
    """Read a checked text as one YAML document.

    Returns:
        The root; None for a text without any value.

    Raises:
        ManifestError: it is not YAML, or uses a part of YAML that manifests do without.

    """
    loader = yaml.SafeLoader(source.text)
    composer = _Composer(source, loader)
    root = None
    with composer.problems:
        try:
            root = composer.document()
        except yaml.MarkedYAMLError as error:
            raise not_yaml(error, source) from None
        except (ValueError, OverflowError):
            # PyYAML lets these through: "\UFFFFFFFF" is no character, %YAML 1.<5,000 digits> no number.
            place = source.place(loader.get_mark().index)
            raise place.error("not YAML: an escape or a number that is out of range") from None
        finally:
            loader.dispose()
    composer.problems.finish()
    return root


class _Composer:
    """Builds nodes from the events of one text.

    Attributes:
        problems: what was refused on the way while the tree could still be built.

    """

    def __init__(self, source: Source, loader: yaml.SafeLoader) -> None:
        self.problems = Gather()
        self._source = source
        self._next: Callable[[], Any] = loader.get_event
        self._check: Callable[[type[events.Event]], bool] = loader.check_event
        self._depth = 0

    def document(self) -> Node | None:
        """Build the one document."""
        self._next()  # the stream's start
        start = self._next()
        if isinstance(start, events.StreamEndEvent):
            return None
        at = start.start_mark.index
        if self._source.text[at : at + 1] == "%":
            self._refuse(start, "YAML directives (%YAML, %TAG) are not used in a manifest; delete the line")
        root = self._node()
        self._next()  # the document's end
        second = self._next()
        if isinstance(second, events.DocumentStartEvent):
            self._refuse(second, "a second document begins here; a manifest is one document")
        return root

    def _place(self, event: Any) -> Place:
        return self._source.place(event.start_mark.index)

    def _refuse(self, event: events.Event, message: str) -> None:
        self.problems.add(self._place(event).error(message))

    def _node(self) -> Node:
        event = self._next()
        place = self._place(event)
        if isinstance(event, events.AliasEvent):
            name = event.anchor or ""
            self._refuse(
                event,
                "YAML aliases are not used in a manifest: write the value out; "
                f"if the text is meant, quote it: {_quoted(f'*{name}')}",
            )
            return Scalar(place, name, plain=False)
        self._check_properties(event)
        if isinstance(event, events.ScalarEvent):
            return self._scalar(event)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise place.error(f"lists and mappings are nested more than {MAX_DEPTH} deep")
        if isinstance(event, events.SequenceStartEvent):
            items = []
            while not self._check(events.SequenceEndEvent):
                items.append(self._node())
            node: Node = Sequence(place, tuple(items))
        else:
            node = Mapping(place, tuple(self._entries()))
        self._next()  # the end of the list or mapping
        self._depth -= 1
        return node

    def _check_properties(self, event: Any) -> None:
        if event.anchor is not None:
            self._refuse(
                event,
                "YAML anchors are not used in a manifest: write the value out; "
                f"if the text is meant, quote it: {_quoted('&' + event.anchor)}",
            )
        if event.tag is not None:
            tag = re.sub("^tag:yaml.org,2002:", "!!", event.tag)
            self._refuse(
                event,
                f"YAML tags are not used in a manifest: delete {shown(tag)}; "
                "if the text is meant, put it in quotes",
            )

    def _scalar(self, event: Any) -> Scalar:
        plain = event.style is None
        if plain and event.start_mark.line != event.end_mark.line:
            self._refuse(
                event,
                "text without quotes goes on over a line's end; check indentation and brackets, or quote it",
            )
        if any("\ud800" <= character <= "\udfff" for character in event.value):
            self._refuse(event, r"an escape names half a character (\uD800 to \uDFFF)")
        return Scalar(self._place(event), event.value, plain=plain)

    def _entries(self) -> list[Entry]:
        entries: dict[str, Entry] = {}
        while not self._check(events.MappingEndEvent):
            key, value = self._node(), self._node()
            with self.problems:
                name = _checked_key(key)
                first = entries.get(name.text)
                if first:
                    raise name.place.error(
                        f"the key {shown(name.text)} is given twice; it stands at {first.key.place} already"
                    )
                entries[name.text] = Entry(name, value)
        return list(entries.values())


def _checked_key(key: Node) -> Scalar:
    if not isinstance(key, Scalar):
        raise key.place.error("expected a key, found a list or a mapping; keys are text")
    if key.plain and key.text == "<<":
        raise key.place.error("YAML merge keys (<<) are not used in a manifest; write the keys out")
    reading = misread(key.text) if key.plain else None
    if reading == "nothing":
        raise key.place.error("expected a key, found nothing")
    if reading:
        raise key.place.error(
            f"the key {key.text[:40]} is {reading} to YAML; keys are text, so quote it: {_quoted(key.text)}"
        )
    return key


def _quoted(text: str) -> str:
    return f'"{text}"' if len(text) <= 40 and text.isprintable() else '"..."'
