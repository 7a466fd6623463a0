"""Every party against the reference, sample by sample, and every difference with its causes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import TYPE_CHECKING

from pipeline.errors import ModelError
from pipeline.parity.alignment import Cuts, Region
from pipeline.parity.causes import Cause, explain
from pipeline.parity.passage import Passage, Span
from pipeline.sources.errors import path_words

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from pipeline.bpe.encoder import Encoder
    from pipeline.parity.causes import Mended
    from pipeline.parity.corpus import Sample
    from pipeline.parity.model_tables import ModelTables
    from pipeline.parity.parties import Party
    from pipeline.parity.reference import Reference

BATCH = 1 << 18
"""Characters that the reference is asked about at a time."""

_TRACES = 24
"""Traces of a sample that are kept while its differences are explained; more would be made again."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A stretch of a sample that a party cuts otherwise than the reference.

    Attributes:
        group, number: the sample.
        start, end: the stretch, as byte offsets in the sample.
        data: its bytes.
        expected: the reference's ids.
        found: the party's ids.
        causes: the classes that explain it, in order; the first is the one that it counts for.

    """

    group: str
    number: int
    start: int
    end: int
    data: bytes
    expected: tuple[int, ...]
    found: tuple[int, ...]
    causes: tuple[Cause, ...]


@dataclass
class Count:
    """What came of some samples.

    Attributes:
        samples: how many there were.
        equal: how many had the reference's ids.
        returned: how many whose ids' bytes are the sample, or the sample in NFC.
        size: their bytes.
        tokens: the ids that they were encoded to.
        expected: the reference's ids.
        wrong: those of the reference's ids that lie in differences.
        causes: how many differences there are of each class.

    """

    samples: int = 0
    equal: int = 0
    returned: int = 0
    size: int = 0
    tokens: int = 0
    expected: int = 0
    wrong: int = 0
    causes: Counter[Cause] = field(default_factory=Counter)

    @property
    def differences(self) -> int:
        """How many differences there are."""
        return self.causes.total()

    def __add__(self, other: Count) -> Count:
        """Count the samples of both."""
        names = (name.name for name in fields(self))
        return Count(*(getattr(self, name) + getattr(other, name) for name in names))


@dataclass
class Outcome:
    """What came of one party.

    Attributes:
        key, title, artifact: as in `Party`.
        groups: the count of each group, in the corpus's order.
        differences: the first of each class, as many as were asked for.
        kept: how many those are, by class.
        first: the first difference, however many were asked for; None where there is none.

    """

    key: str
    title: str
    artifact: str
    groups: dict[str, Count]
    differences: list[Difference] = field(default_factory=list)
    kept: Counter[Cause] = field(default_factory=Counter)
    first: Difference | None = None

    @property
    def total(self) -> Count:
        """The count of all groups."""
        return sum(self.groups.values(), Count())


REFERENCE = "reference"


class Comparison:
    """Holds parties against the reference.

    Args:
        reference: the reference.
        parties: whom to compare.
        tables: the model's vocabulary.
        exact: the model's exact encoder.
        listed: differences to keep of each party and class; all are counted.

    Attributes:
        outcomes: what came of the reference itself, by the key `REFERENCE`, and of each party.

    """

    def __init__(
        self,
        reference: Reference,
        parties: Sequence[Party],
        tables: ModelTables,
        exact: Encoder,
        listed: int,
    ) -> None:
        self._reference = reference
        self._parties = parties
        self._tables = tables
        self._exact = exact
        self._listed = listed
        self.outcomes: dict[str, Outcome] = {
            REFERENCE: Outcome(REFERENCE, "tokenizers, set up from the model", "", {})
        }
        for party in parties:
            self.outcomes[party.key] = Outcome(party.key, party.title, party.artifact, {})

    def run(
        self, samples: Iterable[Sample], progress: Callable[[int], None] | None = None
    ) -> Mapping[str, Outcome]:
        """Compare all samples.

        Args:
            samples: the samples; those of a group follow each other.
            progress: called now and then with the bytes done.

        Raises:
            PipelineError: a sample that cannot be read, or that a party's tables do not allow.

        """
        done = 0
        for batch in _batches(samples):
            encoded = self._reference.encode_all([sample.text for sample in batch])
            for sample, expected in zip(batch, encoded, strict=True):
                done += self._compare(sample, expected)
            if progress is not None:
                progress(done)
        return self.outcomes

    def _compare(self, sample: Sample, expected: list[int]) -> int:
        """Compare one sample; returns its bytes."""
        data = sample.text.encode()
        passage = Passage(self._exact.stretches(sample.text), nfc=self._tables.nfc)
        forms = (data, passage.data)
        self._count(REFERENCE, sample.group, forms, expected, expected)
        cuts: Cuts | None = None
        explained: dict[Hashable, list[Difference]] = {}
        for party in self._parties:
            try:
                found = party.encode(sample.text)
            except ModelError as error:
                place = f"{party.key}: {path_words(sample.group)}, sample {sample.number}"
                raise ModelError(f"{place}: {error}") from error
            count = self._count(party.key, sample.group, forms, expected, found)
            if found == expected:
                continue
            if cuts is None:
                cuts = Cuts(self._spans(passage, expected), len(data))
            outcome = self.outcomes[party.key]
            manner = party.manner(sample.text)
            if manner not in explained:
                explained[manner] = _differences(party, sample, data, cuts)
            # Stages that together give other ids than the party itself explain nothing.
            unexplained = Region(0, len(data), tuple(expected), tuple(found))
            for difference in explained[manner] or [_difference(sample, data, unexplained, (Cause.OTHER,))]:
                count.wrong += len(difference.expected)
                count.causes[difference.causes[0]] += 1
                outcome.first = outcome.first or difference
                if outcome.kept[difference.causes[0]] < self._listed:
                    outcome.kept[difference.causes[0]] += 1
                    outcome.differences.append(difference)
        return len(data)

    def _count(
        self, key: str, group: str, forms: tuple[bytes, bytes], expected: list[int], found: list[int]
    ) -> Count:
        """Count a sample, whose text and its normal form are given, for a party."""
        count = self.outcomes[key].groups.setdefault(group, Count())
        joined = b"".join(map(self._tables.token_bytes, found))
        count.samples += 1
        count.equal += found == expected
        count.returned += joined in forms
        count.size += len(forms[0])
        count.tokens += len(found)
        count.expected += len(expected)
        return count

    def _spans(self, passage: Passage, ids: Sequence[int]) -> list[Span]:
        """Give the places of the reference's ids: their bytes, joined, are the normal text."""
        spans = []
        at, size = 0, len(passage.data)
        for token in ids:
            end = min(at + len(self._tables.token_bytes(token)), size)
            spans.append(passage.span(token, at, end))
            at = end
        return spans


def _batches(samples: Iterable[Sample]) -> Iterator[list[Sample]]:
    batch: list[Sample] = []
    size = 0
    for sample in samples:
        batch.append(sample)
        size += len(sample.text)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _differences(party: Party, sample: Sample, data: bytes, expected: Cuts) -> list[Difference]:
    """List the differences of a sample that is encoded otherwise, each with its causes."""

    @lru_cache(_TRACES)
    def cuts(mended: Mended) -> Cuts:
        return Cuts(party.trace(sample.text, mended), len(data))

    regions = expected.differences(cuts(frozenset()))

    def holds(number: int, mended: Mended) -> bool:
        region = regions[number]
        return cuts(mended).ids(region.start, region.end) == region.expected

    causes = explain(range(len(regions)), party.stages, party.likely(sample.text), holds)
    return [_difference(sample, data, region, causes[number]) for number, region in enumerate(regions)]


def _difference(sample: Sample, data: bytes, region: Region, causes: tuple[Cause, ...]) -> Difference:
    start, end, expected, found = region
    return Difference(sample.group, sample.number, start, end, data[start:end], expected, found, causes)
