"""The parties of a comparison, from a model and the artifacts that were made of it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from formats import tokenizer_bin, vocab_bin
from pipeline.bpe.encoder import Encoder
from pipeline.bpe.image_tables import ImageTables
from pipeline.engines.approximate_split import approximate_split
from pipeline.engines.greedy import VARIANTS, GreedyEncoder
from pipeline.engines.rank_bpe import RankBpe
from pipeline.engines.tokenizer_bin import TokenizerBinEngine
from pipeline.parity.greedy_party import GreedyParty, Mending
from pipeline.parity.model_tables import ModelTables
from pipeline.parity.parties import StagedParty, uncut, whole
from pipeline.parity.reference import Reference

if TYPE_CHECKING:
    from formats.q25tokrt.image import Image
    from pipeline.parity.parties import Party
    from pipeline.vocabulary.vocabulary import Vocabulary

EXACT = "exact"
GREEDY_TITLES = {
    "base": "RK3588 engine, longest match: base form",
    "A": "the same with repair A: a blank counts at the start, too",
    "AB": "the same with repairs A and B: a lone blank is put out",
    "specials_first": "RK3588 engine, present form: special tokens first",
}


class Assembly:
    """The model's side of a comparison, and its parties by the artifact that each needs.

    Args:
        vocabulary: the model's vocabulary.
        pre: name of its pre-tokenizer's rule.

    Attributes:
        tables: the vocabulary as the encoder wants it.
        exact: the model's exact encoder, without an image in between.

    Raises:
        PretokenizerError: the rule is not known here.

    """

    def __init__(self, vocabulary: Vocabulary, pre: str) -> None:
        self.tables = ModelTables(vocabulary, pre)
        self.exact = Encoder(self.tables)
        merges = vocabulary.merges
        self._merges = list(zip(merges.left.tolist(), merges.right.tolist(), strict=True))

    @cached_property
    def reference(self) -> Reference:
        """The reference.

        Raises:
            MachineError: the library is not installed.
            ModelError: it cannot hold the vocabulary.

        """
        return Reference(self.tables, self._merges)

    def of_image(self, image: Image) -> list[Party]:
        """Give the exact encoder on a verified image, and BPE by rank with its merges.

        Raises:
            PretokenizerError: the image's rule is not known here.

        """
        tables = ImageTables(image)
        encoder, rank = Encoder(tables), RankBpe(tables)
        return [
            StagedParty(
                EXACT,
                "exact encoder on the image",
                "q25_tokenizer.img",
                self.exact,
                encode=encoder.encode,
                stretches=encoder.stretches,
                nfc=tables.nfc,
                split=encoder.split,
                merge=encoder.piece_ids,
                token_bytes=tables.token_bytes,
            ),
            StagedParty(
                "rank_bpe",
                "BPE by rank, without a pre-tokenizer",
                "q25_tokenizer.img",
                self.exact,
                encode=lambda text: rank.encode(text.encode()),
                stretches=whole,
                nfc=False,
                split=uncut,
                merge=lambda piece: rank.encode(piece.encode()),
                token_bytes=tables.token_bytes,
            ),
        ]

    def of_vocab_bin(self, data: bytes, file: str = vocab_bin.FILE_NAME) -> list[Party]:
        """Give the variants of the RK3588 engine.

        Raises:
            FormatError: the file is damaged.

        """
        encoder = GreedyEncoder(vocab_bin.read(data, file))
        mending = Mending(self.tables, self.exact)
        return [
            GreedyParty(f"greedy_{name}", GREEDY_TITLES[name], encoder.with_rules(rules), mending)
            for name, rules in VARIANTS.items()
        ]

    def of_tokenizer_bin(self, data: bytes, file: str = tokenizer_bin.FILE_NAME) -> list[Party]:
        """Give the engine of tokenizer.bin.

        Raises:
            FormatError: the file is damaged.

        """
        engine = TokenizerBinEngine(tokenizer_bin.read_any(data, file))
        return [
            StagedParty(
                "tokenizer_bin",
                "engine of tokenizer.bin, approximate pre-tokenizer",
                tokenizer_bin.FILE_NAME,
                self.exact,
                encode=lambda text: engine.encode(text.encode()),
                stretches=whole,
                nfc=False,
                split=lambda text: [piece.decode() for piece in approximate_split(text.encode())],
                merge=lambda piece: engine.encode_piece(piece.encode()),
                token_bytes=lambda token: engine.decode([token]),
            )
        ]
