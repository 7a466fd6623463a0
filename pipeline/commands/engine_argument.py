"""The choice of what encodes and decodes: this tool's Python, or the C reader that firmware runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from formats.q25tokrt.image import Image
    from pipeline.bpe.text_encoder import Invalid, Specials, TextEncoder


class TokenDecoder(Protocol):
    """What decodes ids."""

    def decode(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids; a TokenIdError where one is not in the vocabulary."""


def add_engine_argument(parser: argparse.ArgumentParser) -> None:
    """Declare --engine."""
    parser.add_argument(
        "--engine",
        choices=("python", "c"),
        default="python",
        help="what does it: Python, or the C reader that firmware runs, built once with this machine's "
        "compiler (CC, else cc, gcc or clang); both give the same (default: python)",
    )


def make_encoder(engine: str, image: Image, specials: Specials, invalid: Invalid) -> TextEncoder:
    """Make the encoder that --engine names."""
    if engine == "c":
        from pipeline.native.engine import NativeEncoder

        return NativeEncoder(image, specials, invalid)
    from pipeline.bpe.encoder import Encoder
    from pipeline.bpe.image_tables import ImageTables

    return Encoder(ImageTables(image), specials, invalid)


def make_decoder(engine: str, image: Image, *, skip_control: bool, stop_at_end: bool) -> TokenDecoder:
    """Make the decoder that --engine names."""
    if engine == "c":
        from pipeline.native.engine import NativeDecoder

        return NativeDecoder(image, skip_control=skip_control, stop_at_end=stop_at_end)
    from pipeline.bpe.decoder import Decoder
    from pipeline.bpe.image_tables import ImageTables

    end_ids = image.end_ids if stop_at_end else ()
    return Decoder(ImageTables(image), skip_control=skip_control, end_ids=end_ids)
