"""A page of a build, taken apart with Python's own parser."""

import html.parser
from collections import Counter

EMPTY = {"meta", "br"}
EVERYWHERE = {
    "class",
    "id",
    "style",
    "href",
    "aria-label",
    "aria-hidden",
    "aria-labelledby",
    "role",
    "tabindex",
}
KNOWN = EVERYWHERE | {"charset", "name", "content", "http-equiv", "lang", "scope", "open"}


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, dict(attributes), parent
        self.inner = []

    @property
    def text(self):
        return "".join(part if isinstance(part, str) else part.text for part in self.inner)

    def all(self, tag=None, **attributes):
        """Give the elements inside, of a tag and with attributes; a class need be one of several."""
        for part in self.inner:
            if isinstance(part, Element):
                classes = part.attributes.get("class", "").split()
                fits = all(
                    value in classes if key == "class_" else part.attributes.get(key) == value
                    for key, value in attributes.items()
                )
                if fits and tag in (None, part.tag):
                    yield part
                yield from part.all(tag, **attributes)

    def one(self, tag=None, **attributes):
        (found,) = self.all(tag, **attributes)
        return found


class Page(html.parser.HTMLParser):
    """Builds the tree; what is not closed, or closed in another order, fails."""

    def __init__(self, text):
        super().__init__()
        assert text.startswith('<!DOCTYPE html>\n<html lang="en">\n')
        assert all(char.isprintable() or char == "\n" for char in text)
        self.root = self.at = Element("", {}, None)
        self.feed(text)
        assert self.at is self.root

    def handle_starttag(self, tag, attrs):
        names = Counter(name for name, _ in attrs)
        assert set(names) <= KNOWN, names
        assert all(count == 1 for count in names.values())
        made = Element(tag, attrs, self.at)
        self.at.inner.append(made)
        if tag not in EMPTY:
            self.at = made

    def handle_endtag(self, tag):
        assert tag == self.at.tag
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.inner.append(data)

    @property
    def text(self):
        return self.root.text

    def headings(self):
        return [heading.text for heading in self.root.all("h2")]

    def table(self, caption):
        """Give a table's rows as lists of texts, without its head."""
        table = next(table for table in self.root.all("table") if table.one("caption").text == caption)
        return [
            [cell.text for cell in row.inner if isinstance(cell, Element)]
            for row in table.one("tbody").all("tr")
        ]

    def figures(self):
        """Give the figures by name."""
        return {
            box.one("dt").text: box.one("dd").inner[0]
            for boxes in self.root.all("dl", class_="figures")
            for box in boxes.inner
        }


def number(text):
    return int(text.replace(",", ""), 0)
