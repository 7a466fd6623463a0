"""Changes between two files, counted by section and field."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

ADDED, REMOVED, CHANGED = "added", "removed", "changed"


@dataclass(frozen=True)
class Change:
    """One thing that differs.

    Attributes:
        kind: added, removed or changed.
        section: the part of the file that it is in.
        path: the field, row or part.
        old, new: the values in words; empty where there is none.
        token: the token that the row is about, with its text; else empty.

    """

    kind: str
    section: str
    path: str
    old: str = ""
    new: str = ""
    token: str = ""

    @property
    def words(self) -> str:
        """The change on one line."""
        token = f" ({self.token})" if self.token else ""
        if self.kind == CHANGED:
            return f"{self.path}: {self.old} -> {self.new}{token}"
        value = self.new or self.old
        return f"{self.path}: {self.kind}{f' {value}' if value else ''}{token}"


@dataclass
class Changes:
    """All changes of a file. Every one is counted; the first few of a section are kept.

    Attributes:
        limit: changes that are kept of each section, or 0 for all.
        counts: by section and kind.
        fields: changed fields, by section and name.
        kept: in the order they were found.
        note: what can be said of the files in one line, though they are hardly comparable; or empty.

    """

    limit: int = 0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    fields: Counter[tuple[str, str]] = field(default_factory=Counter)
    kept: list[Change] = field(default_factory=list)
    note: str = ""
    _kept: Counter[str] = field(default_factory=Counter)

    def count(self, section: str, kind: str, number: int = 1, name: str = "") -> None:
        """Count changes, and of which field they are."""
        if number:
            self.counts[section, kind] += number
            if name:
                self.fields[section, name] += number

    def room(self, section: str) -> int:
        """Tell how many more changes of a section are kept."""
        return self.limit - self._kept[section] if self.limit else 1 << 62

    def keep(self, change: Change) -> None:
        """Keep a change, where there is room for it."""
        if self.room(change.section) > 0:
            self._kept[change.section] += 1
            self.kept.append(change)

    def add(self, change: Change, name: str = "") -> None:
        """Count a change and keep it."""
        self.count(change.section, change.kind, 1, name)
        self.keep(change)

    @property
    def total(self) -> int:
        """The number of all changes."""
        return sum(self.counts.values())

    def sections(self) -> list[str]:
        """List the sections with changes, in the order they were found."""
        return list(dict.fromkeys(section for section, _ in self.counts))

    def summary(self, section: str) -> str:
        """Give a section's counts in words: `1 removed, 3 changed (token_type 2, byte_length 1)`."""
        parts = [
            f"{self.counts[section, kind]:,} {kind}"
            for kind in (ADDED, REMOVED, CHANGED)
            if self.counts[section, kind]
        ]
        names = [f"{name} {number:,}" for (of, name), number in self.fields.items() if of == section]
        return ", ".join(parts) + (f" ({', '.join(names)})" if names else "")
