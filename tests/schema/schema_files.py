"""A real file of every binary format, and a small one."""

import io
from functools import cache

from real_models import RealTables, vocabulary_pairs
from small_vocabulary import CONTROL, USER_DEFINED, grown
from tiny_model import write_tiny

from formats import token_types_bin, tokenizer_bin, vocab_bin
from formats.byte_level import encode
from formats.byte_strings import ByteStrings
from formats.gguf.writer import write_gguf


@cache
def real_files(family="qwen2.5"):
    """Give the bytes of every format for an official vocabulary."""
    real = RealTables.of(family)
    gguf = io.BytesIO()
    write_gguf(gguf, vocabulary_pairs(family))
    return _files(
        real.ps_bundle(),
        real.vocabulary.types,
        real.image(),
        real.vocab_bin().data,
        real.tokenizer_bin,
        gguf.getvalue(),
    )


@cache
def small_files(folder):
    """Give the bytes of every format for a few hundred tokens; the GGUF has tensors."""
    made = grown("a|b", "ab|c", added=[("<s>", CONTROL), ("<t>", USER_DEFINED)], pads=3)
    texts = ByteStrings.from_list(encode(data).encode() if kind == 1 else data for data, kind in made.tokens)
    left, right, _ = zip(*made.merges, strict=True)

    def packed(layout):
        import numpy as np

        return tokenizer_bin.build(layout, texts, left, right, np.array([258, 259]))

    return _files(
        made.tables(),
        made.types,
        bytes(made.image()),
        vocab_bin.build(made.strings, made.types).data,
        packed,
        write_tiny(folder / "tiny.gguf").read_bytes(),
    )


def _files(tables, types, image, vocab, tokenizer, gguf):
    index, data, merges = tables
    return {
        "token_index": index,
        "token_bytes": data,
        "merge_table_u32": merges,
        "token_types": token_types_bin.build(types),
        "q25tokrt": image,
        "vocab_bin": vocab,
        "tokenizer_bin_documented": tokenizer("documented"),
        "tokenizer_bin_loader": tokenizer("loader"),
        "gguf": gguf,
    }
