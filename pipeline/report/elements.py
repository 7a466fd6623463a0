"""HTML whose text is escaped by construction: what is no `Html` is text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_EMPTY = frozenset({"meta", "br"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


LINE = Html("\n")


def visible(text: str) -> str:
    r"""Write characters that do not print, or that turn the text around, as escapes.

    >>> visible("a\x1b[31m\u202e")
    'a\\x1b[31m\\u202e'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def tag(name: str, /, *inner: str | Iterable[str], **attributes: str | int | None) -> Html:
    """Write an element.

    Args:
        name: of the element.
        inner: texts, which are escaped, elements, and iterables of both.
        attributes: an attribute each, without a trailing `_` and with `-` for `_`; None leaves it out.

    >>> tag("a", "1 < 2", href="#x")
    '<a href="#x">1 &lt; 2</a>'
    """
    words = [name]
    for key, value in attributes.items():
        if value is not None:
            words.append(f'{key.rstrip("_").replace("_", "-")}="{escape(visible(str(value)))}"')
    start = f"<{' '.join(words)}>"
    return Html(start) if name in _EMPTY else Html(f"{start}{join(*inner)}</{name}>")


def join(*inner: str | Iterable[str]) -> Html:
    """Write texts and elements one behind the other."""
    return Html("".join(_parts(inner)))


def _parts(inner: Iterable[str | Iterable[str]]) -> Iterable[str]:
    for part in inner:
        if isinstance(part, Html):
            yield part
        elif isinstance(part, str):
            yield escape(visible(part))
        else:
            yield from _parts(part)


def table(
    caption: str, head: Sequence[str], rows: Iterable[Html], numbers: Iterable[int] = (), kind: str = ""
) -> Html:
    """Write a table that scrolls by itself where the page is narrower.

    Args:
        caption: what it lists.
        head: the columns' names.
        rows: elements `tr`.
        numbers: the columns that hold numbers.
        kind: a class for the style sheet.

    """
    right = frozenset(numbers)
    cells = [
        tag("th", name, scope="col", class_="n" if at in right else None) for at, name in enumerate(head)
    ]
    made = tag(
        "table", tag("caption", caption), LINE, tag("thead", tag("tr", cells)), LINE, tag("tbody", rows), LINE
    )
    return join(
        tag("div", made, class_=f"scroll {kind}".strip(), tabindex=0, role="region", aria_label=caption), LINE
    )


def row(*cells: str, numbers: Iterable[int] = (), **attributes: str | None) -> Html:
    """Write a row; its first cell heads it."""
    right = frozenset(numbers)
    first, *others = (
        tag("td" if at else "th", cell, scope=None if at else "row", class_="n" if at in right else None)
        for at, cell in enumerate(cells)
    )
    return join(LINE, tag("tr", first, others, **attributes))


def share_bar(part: int, whole: int) -> Html:
    """Draw a share as a bar with its percentage."""
    percent = 100 * part / whole if whole > 0 else 0.0
    width = f"width:{min(max(percent, 0.0), 100.0):.3f}%"
    bar = tag("span", tag("span", style=width), class_="bar", aria_hidden="true")
    return tag("span", bar, tag("span", share_words(part, whole), class_="percent"), class_="share")


def share_words(part: int, whole: int) -> str:
    """Write a share; what is not nothing does not look like it.

    >>> share_words(1, 10_000_000), share_words(1, 3), share_words(0, 3)
    ('< 0.1 %', '33.3 %', '0 %')
    """
    if not part or whole <= 0:
        return "0 %"
    percent = 100 * part / whole
    return "< 0.1 %" if percent < 0.05 else f"{percent:.1f} %"


def figure(name: str, value: str, more: str = "") -> Html:
    """Write a figure with its name, for a list of such."""
    return tag("div", tag("dt", name), tag("dd", value, tag("small", more) if more else ""))
