"""What parity.json must be: its keys, counts that add up, and differences that are some."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from formats.errors import FormatError, shown
from pipeline.parity.causes import Cause
from pipeline.parity.document import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COUNTS = (
    "samples",
    "equal",
    "returned",
    "tokens",
    "reference_tokens",
    "reference_tokens_differing",
    "differences",
)
"""What adds up from the groups of a party to the party."""

_CLASSES = {str(cause) for cause in Cause}


def check_parity(data: bytes, file: str) -> None:
    """Check a parity.json.

    Raises:
        FormatError: it is no JSON, of another version, or contradicts itself, with the place in it.

    """
    check = _Check(file)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise check.error("", "a JSON document", shown(data)) from None
    check.document(document)


class _Check:
    def __init__(self, file: str) -> None:
        self._file = file

    def error(self, path: str, expected: str, found: str) -> FormatError:
        return FormatError(expected, found, path=path, file=self._file)

    def need(self, value: Any, path: str, kind: type, words: str) -> Any:
        """Refuse a value of another kind; true and false are no numbers."""
        wrong = isinstance(value, bool) or value < 0 if kind is int and isinstance(value, int) else False
        if wrong or not isinstance(value, kind):
            raise self.error(path, words, shown(json.dumps(value)))
        return value

    def member(self, value: Any, path: str, key: str, kind: type, words: str) -> Any:
        """Take a key out of an object."""
        self.need(value, path, dict, "an object")
        if key not in value:
            raise self.error(f"{path}.{key}".lstrip("."), words, "nothing")
        return self.need(value[key], f"{path}.{key}".lstrip("."), kind, words)

    def number(self, value: Any, path: str, key: str) -> int:
        return int(self.member(value, path, key, int, "a whole number from 0 on"))

    def items(self, value: Any, path: str, key: str) -> Iterator[tuple[str, Any]]:
        """Give each item of a list with its place."""
        found = self.member(value, path, key, list, "a list")
        name = f"{path}.{key}".lstrip(".")
        return ((f"{name}[{index}]", item) for index, item in enumerate(found))

    def equal(self, path: str, expected: object, found: object, why: str) -> None:
        if expected != found:
            raise self.error(path, f"{shown(expected)}, {why}", shown(found))

    def document(self, document: Any) -> None:
        version = self.number(document, "", "parity_version")
        self.equal("parity_version", VERSION, version, "the version that is known here")
        corpus = self.member(document, "", "corpus", dict, "an object")
        groups = {}
        for path, group in self.items(corpus, "corpus", "groups"):
            groups[self.member(group, path, "name", str, "a name")] = self.number(group, path, "samples")
            self.number(group, path, "bytes")
        samples = self.number(corpus, "corpus", "samples")
        self.equal("corpus.samples", sum(groups.values()), samples, "the sum of its groups")
        listed = self.number(document, "", "listed_differences")
        parties = {
            self.member(party, path, "party", str, "a name"): self._party(path, party, groups)
            for path, party in self.items(document, "", "parties")
        }
        found = [
            self._difference(path, entry, parties, groups)
            for path, entry in self.items(document, "", "differences")
        ]
        for party, classes in parties.items():
            for name, count in classes.items():
                expected, held = min(count, listed), found.count((party, name))
                self.equal("differences", expected, held, f"listed of {shown(party)} and {shown(name)}")

    def _party(self, path: str, party: Any, groups: dict[str, int]) -> dict[str, int]:
        """Check a party; returns how many differences of each class it has."""
        total = self._count(path, party)
        names, sums = [], dict.fromkeys(COUNTS, 0)
        classes: dict[str, int] = {}
        for place, group in self.items(party, path, "groups"):
            name = self.member(group, place, "name", str, "a name")
            names.append(name)
            count = self._count(place, group)
            self.equal(f"{place}.samples", groups.get(name), count["samples"], "as the corpus has it")
            for key in COUNTS:
                sums[key] += count[key]
            for key, number in group["classes"].items():
                classes[key] = classes.get(key, 0) + number
        self.equal(f"{path}.groups", list(groups), names, "the groups of the corpus")
        for key in COUNTS:
            self.equal(f"{path}.{key}", sums[key], total[key], "the sum of its groups")
        self.equal(f"{path}.classes", classes, dict(party["classes"]), "the sum of its groups")
        return classes

    def _count(self, path: str, count: Any) -> dict[str, int]:
        found = {key: self.number(count, path, key) for key in COUNTS}
        for key in ("equal", "returned"):
            if found[key] > found["samples"]:
                raise self.error(f"{path}.{key}", f"at most {found['samples']}, the samples", str(found[key]))
        if found["reference_tokens_differing"] > found["reference_tokens"]:
            place = f"{path}.reference_tokens_differing"
            expected = f"at most {found['reference_tokens']}, the reference's tokens"
            raise self.error(place, expected, str(found["reference_tokens_differing"]))
        classes = self.member(count, path, "classes", dict, "an object")
        self._known(f"{path}.classes", classes)
        numbers = [self.number(classes, f"{path}.classes", name) for name in classes]
        self.equal(f"{path}.differences", sum(numbers), found["differences"], "the sum of its classes")
        if (found["equal"] == found["samples"]) != (found["differences"] == 0):
            raise self.error(
                f"{path}.equal", "all samples exactly where there are no differences", str(found["equal"])
            )
        return found

    def _difference(
        self, path: str, entry: Any, parties: dict[str, dict[str, int]], groups: dict[str, int]
    ) -> tuple[str, str]:
        """Check a difference; returns its party and the class that it counts for."""
        party = self.member(entry, path, "party", str, "a name")
        if party not in parties:
            raise self.error(f"{path}.party", "one of the parties", shown(party))
        group = self.member(entry, path, "group", str, "a name")
        number = self.number(entry, path, "sample")
        if group not in groups or not 1 <= number <= groups[group]:
            raise self.error(f"{path}.sample", "a sample of the corpus", f"{shown(group)}, {number}")
        size = self.number(entry, path, "end") - self.number(entry, path, "start")
        digits = self.member(entry, path, "bytes", str, "bytes in hex")
        self.equal(f"{path}.bytes", 2 * size, len(digits), "two digits a byte")
        classes = self.member(entry, path, "classes", list, "a list")
        self._known(f"{path}.classes", classes)
        if not classes:
            raise self.error(f"{path}.classes", "at least one class", "none")
        sides = [self._tokens(f"{path}.{side}", entry, side, path) for side in ("reference", "found")]
        if sides[0] == sides[1]:
            raise self.error(f"{path}.found", "other ids than the reference's", "the same")
        return party, classes[0]

    def _tokens(self, place: str, entry: Any, side: str, path: str) -> list[int]:
        tokens = self.member(entry, path, side, dict, "an object")
        ids = [self.need(item, at, int, "a token id") for at, item in self.items(tokens, place, "ids")]
        pieces = [self.need(item, at, str, "a text") for at, item in self.items(tokens, place, "pieces")]
        self.equal(f"{place}.pieces", len(ids), len(pieces), "one for each id")
        return ids

    def _known(self, path: str, classes: Iterable[Any]) -> None:
        for name in classes:
            if not isinstance(name, str) or name not in _CLASSES:
                raise self.error(path, "known classes", shown(name))
