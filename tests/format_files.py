"""A real file of every format, and a small one."""

import io
from functools import cache

import numpy as np
from real_models import RealTables, vocabulary_pairs
from small_vocabulary import CONTROL, USER_DEFINED, grown
from tiny_model import write_tiny

from formats import token_types_bin, tokenizer_bin, vocab_bin
from formats.byte_level import encode
from formats.byte_strings import ByteStrings
from formats.catalog import FORMATS
from formats.gguf.writer import write_gguf
from pipeline.vocabulary.export import tokens_jsonl

TEXTS = {known.name: b'{\n "a": 1\n}\n' for known in FORMATS if known.is_text}
OTHERS = {**TEXTS, "merges": b"a b\n\xc4\xa0 c\nx y", "tensor_payload": bytes(range(256))}
"""Formats whose bytes do not depend on the vocabulary here."""


@cache
def real_file(name, family="qwen2.5"):
    """Give the bytes of a format for an official vocabulary."""
    if name in OTHERS:
        return OTHERS[name]
    if name == "gguf":
        stream = io.BytesIO()
        write_gguf(stream, vocabulary_pairs(family))
        return stream.getvalue()
    real = RealTables.of(family)
    match name:
        case "token_index" | "token_bytes" | "merge_table_u32":
            return _bundle(real.ps_bundle())[name]
        case "token_types":
            return token_types_bin.build(real.vocabulary.types)
        case "q25tokrt":
            return real.image()
        case "vocab_bin":
            return real.vocab_bin().data
        case "tokenizer_bin_documented" | "tokenizer_bin_loader":
            return real.tokenizer_bin(name.removeprefix("tokenizer_bin_"))
        case "tokens":
            return b"".join(tokens_jsonl(real.vocabulary))
    raise KeyError(name)


@cache
def small_files(folder):
    """Give the bytes of every format for a few hundred tokens; the GGUF has tensors."""
    made = grown("a|b", "ab|c", added=[("<s>", CONTROL), ("<t>", USER_DEFINED)], pads=3)
    texts = ByteStrings.from_list(encode(data).encode() if kind == 1 else data for data, kind in made.tokens)
    left, right, _ = zip(*made.merges, strict=True)
    layouts = {
        f"tokenizer_bin_{layout}": tokenizer_bin.build(layout, texts, left, right, np.array([258, 259]))
        for layout in ("documented", "loader")
    }
    return {
        **OTHERS,
        **_bundle(made.tables()),
        **layouts,
        "token_types": token_types_bin.build(made.types),
        "q25tokrt": bytes(made.image()),
        "vocab_bin": vocab_bin.build(made.strings, made.types).data,
        "tokens": b'{"id": 0, "token": "a", "type": 1, "bytes": "61"}\n',
        "gguf": write_tiny(folder / "tiny.gguf").read_bytes(),
    }


def _bundle(tables):
    return dict(zip(("token_index", "token_bytes", "merge_table_u32"), tables, strict=True))
