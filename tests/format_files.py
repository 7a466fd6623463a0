"""A real file of every format, and a small one."""

import io
from functools import cache

import numpy as np
from real_models import RealTables, vocabulary_pairs
from small_vocabulary import CONTROL, USER_DEFINED, grown
from tiny_model import write_tiny

from formats import model_table, token_types_bin, tokenizer_bin, vocab_bin
from formats.byte_level import encode
from formats.byte_strings import ByteStrings
from formats.catalog import FORMATS
from formats.ggml_types import GgmlType
from formats.gguf.writer import write_gguf
from pipeline.vocabulary.export import tokens_jsonl


def model_table_file():
    """Give a table of two tensors."""
    values = {field.name: 0 for field in model_table.HYPERPARAMETERS.fields} | {"architecture": "qwen2"}
    values |= {"block_count": 24, "rope_freq_base": 1e6}
    rows = [
        model_table.Tensor("token_embd.weight", GgmlType.Q8_0, (64, 3), 0, 204, 0x12345678),
        model_table.Tensor("output_norm.weight", GgmlType.F32, (4,), 256, 16, 7),
    ]
    pack = model_table.Container.PACK
    return model_table.build(
        values, rows, container=pack, container_bytes=320, align=64, source_sha256="ab" * 32
    )


TEXTS = {known.name: b'{\n "a": 1\n}\n' for known in FORMATS if known.is_text}
OTHERS = {
    **TEXTS,
    "merges": b"a b\n\xc4\xa0 c\nx y",
    "tensor_payload": bytes(range(256)),
    "tensor_pack": bytes(range(256)),
    "memory_slice": bytes(range(256)),
    "model_table": model_table_file(),
}
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
