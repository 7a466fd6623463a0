"""The tokenizers that are held against the reference.

Each can encode a text as it does, and trace it with some of its stages mended: done as the reference does
them. Mended at all its stages a tokenizer is the exact one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pipeline.bpe.nfc import is_nfc
from pipeline.parity.causes import Cause
from pipeline.parity.passage import Passage, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from pipeline.bpe.encoder import Encoder
    from pipeline.parity.causes import Mended


class Party(Protocol):
    """A tokenizer."""

    @property
    def key(self) -> str:
        """Its short name."""

    @property
    def title(self) -> str:
        """What it is, in a line."""

    @property
    def artifact(self) -> str:
        """The artifact whose tables it uses."""

    @property
    def stages(self) -> Sequence[Cause]:
        """The stages at which it can be mended, in the order of `Cause`."""

    def manner(self, text: str) -> Hashable:
        """Give what is the same for parties that trace a text alike, whatever is mended."""

    def likely(self, text: str) -> Sequence[Cause]:
        """List those of its stages that are worth trying on a text, in order."""

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text.

        Raises:
            PipelineError: its tables do not allow that.

        """

    def trace(self, text: str, mended: Mended) -> list[Span]:
        """Return the tokens of a text, with some stages mended, and what each was made from."""


@dataclass(frozen=True)
class StagedParty:
    """A tokenizer in the four stages of byte-level BPE; each may be missing, or its own.

    Attributes:
        key, title, artifact: as in `Party`.
        exact: the model's exact encoder, which lends its stages.
        encode: encodes a text, all stages at once.
        stretches: parts a text at special tokens, as `Encoder.stretches`.
        nfc: whether ordinary parts are brought to NFC.
        split: cuts an ordinary part into pieces.
        merge: gives the ids of a piece.
        token_bytes: gives the bytes that an id stands for, by the tokenizer's own tables.

    """

    key: str
    title: str
    artifact: str
    exact: Encoder
    encode: Callable[[str], list[int]]
    stretches: Callable[[str], Iterable[tuple[str, int | None]]]
    nfc: bool
    split: Callable[[str], list[str]]
    merge: Callable[[str], list[int]]
    token_bytes: Callable[[int], bytes]

    stages = (Cause.SPECIAL, Cause.NORMALISATION, Cause.PRE_TOKENIZER, Cause.MERGE_ORDER)

    def manner(self, text: str) -> Hashable:  # noqa: ARG002  # of one for all texts
        """Give what no other party shares: its key."""
        return self.key

    def likely(self, text: str) -> Sequence[Cause]:
        """List those of its stages that are worth trying on a text, in order."""
        return likely(self.stages, text, self.exact)

    def trace(self, text: str, mended: Mended) -> list[Span]:
        """Return the tokens of a text, with some stages mended, and what each was made from."""
        stretches = self.exact.stretches if Cause.SPECIAL in mended else self.stretches
        split = self.exact.split if Cause.PRE_TOKENIZER in mended else self.split
        merge = self.exact.piece_ids if Cause.MERGE_ORDER in mended else self.merge
        passage = Passage(stretches(text), nfc=self.nfc or Cause.NORMALISATION in mended)
        size = len(passage.data)
        spans: list[Span] = []
        for part in passage.parts:
            at = part.start
            if part.special is not None:
                spans.append(passage.span(part.special, at, at + len(part.text.encode())))
                continue
            for piece in split(part.text):
                for token in merge(piece):
                    end = min(at + len(self.token_bytes(token)), size)
                    spans.append(passage.span(token, at, end))
                    at = end
        return spans


def likely(stages: Sequence[Cause], text: str, exact: Encoder) -> list[Cause]:
    """List those of some stages that could make a difference for a text."""
    has_low = min(text, default=" ") < " "
    idle = {
        Cause.SPECIAL: all(special is None for _, special in exact.stretches(text)),
        Cause.NORMALISATION: is_nfc(text),
        Cause.UNMATCHED_BYTE: not has_low,
        # Letters that look like glyphs begin with C4; bytes that are spelled as glyphs look like letters.
        Cause.BYTE_ALIAS: not has_low and b"\xc4" not in text.encode(),
        Cause.LOST_BLANK: " " not in text,
    }
    return [stage for stage in stages if not idle.get(stage, False)]


def whole(text: str) -> list[tuple[str, int | None]]:
    """Look for no special tokens."""
    return [(text, None)] if text else []


def uncut(text: str) -> list[str]:
    """Take a part for one piece."""
    return [text]
