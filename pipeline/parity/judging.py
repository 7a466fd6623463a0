"""Running a comparison from a model and its artifacts, and judging the exact encoder by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from formats.errors import shown
from pipeline.parity.assembly import EXACT
from pipeline.parity.comparison import Comparison
from pipeline.parity.document import make_document
from pipeline.parity.table import ids_words, percent
from pipeline.sources.errors import path_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipeline.parity.assembly import Assembly
    from pipeline.parity.comparison import Count, Difference
    from pipeline.parity.corpus import Corpus
    from pipeline.parity.parties import Party


@dataclass(frozen=True)
class Verdict:
    """What a comparison came to.

    Attributes:
        document: all of it.
        exact: the count of the exact encoder.
        first: its first difference, None where there is none.

    """

    document: dict[str, Any]
    exact: Count
    first: Difference | None

    def failure(self, fail_under: int) -> str | None:
        """Say in a line how the exact encoder falls short; None where it does not.

        Args:
            fail_under: the share of samples, in percent, in which it must equal the reference.

        """
        count, first = self.exact, self.first
        if count.equal * 100 >= fail_under * count.samples:
            return None
        assert first is not None  # noqa: S101  (a sample that is not equal has a difference)
        text = shown(first.data.decode("utf-8", "backslashreplace"))
        return (
            f"the exact encoder on the image gives the reference's ids for {count.equal} of {count.samples} samples, "
            f"{percent(count.equal, count.samples)}; at least {fail_under} % are wanted; the first that differs: "
            f"{path_words(first.group)}, sample {first.number}, byte {first.start}, {text}: "
            f"expected {ids_words(first.expected)}, found {ids_words(first.found)}"
        )


def compare(
    assembly: Assembly,
    parties: Sequence[Party],
    source_sha256: str,
    corpus: Corpus,
    *,
    listed: int,
    progress: Callable[[int], None] | None = None,
) -> Verdict:
    """Hold parties, the exact encoder among them, against the reference over a corpus.

    Args:
        assembly: the model's side.
        parties: whom to compare.
        source_sha256: SHA-256 of the model's GGUF, in hex.
        corpus: the texts.
        listed: differences to keep of each party and class; all are counted.
        progress: called now and then with the bytes done.

    Raises:
        PipelineError: the library is missing, a text cannot be read, or tables do not allow to encode it.

    """
    comparison = Comparison(assembly.reference, parties, assembly.tables, assembly.exact, listed)
    outcomes = comparison.run(corpus.samples(), progress)
    document = make_document(assembly, source_sha256, corpus, outcomes, listed)
    exact = outcomes[EXACT]
    return Verdict(document, exact.total, exact.first)
