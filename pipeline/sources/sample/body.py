"""A small Qwen body: every key and tensor that the real ones have, with made-up weights.

Two blocks, embedding length 256, tied embeddings (no `output.weight`), and rows of 896 in
`ffn_down`, the row length of the real 0.5B model: no multiple of 256, so its types are of 32-element
blocks, as there. The embedding has its full height, which makes the file as unwieldy as a real one.

The bytes come from SHAKE-128 and are the same for ever. Scales inside the blocks are then set so
that every weight is finite and of a model's size.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.ggml_types import GgmlType
from formats.gguf.tensors import tensor_size
from formats.gguf.value_types import ValueType
from formats.gguf.writer import ArrayToWrite, TensorToWrite
from pipeline.sources.sample.families import BOS, EOS, N_TOKENS, PAD
from pipeline.sources.sample.texts import CHAT_TEMPLATES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formats.gguf.writer import Pair
    from pipeline.sources.sample.families import Family
    from pipeline.sources.sample.vocabulary import Vocabulary

BLOCKS = 2
EMBEDDING = 256
FEED_FORWARD = 896
HEADS, HEADS_KV, HEAD = 4, 2, 64
CONTEXT = 32_768
FILE_TYPE = 15  # mostly Q4_K, medium: the mixture that Ollama's library uses

_Q = GgmlType

# Where a block holds half-precision scales, and the biased exponent given to each: chosen so that
# the largest weight stays below 1. Offsets are those of ggml's block structs.
_SCALES: dict[GgmlType, dict[int, int]] = {
    _Q.Q4_0: {0: 7},
    _Q.Q5_0: {0: 6},
    _Q.Q8_0: {0: 3},
    _Q.Q4_K: {0: 1, 2: 4},
    _Q.Q6_K: {208: 1},
}


def key_values(family: Family, vocabulary: Vocabulary) -> list[Pair]:
    """All key/values, in the file's order."""
    arch = family.architecture
    u32, f32, text = ValueType.UINT32, ValueType.FLOAT32, ValueType.STRING
    pairs: list[Pair] = [
        ("general.architecture", text, arch),
        ("general.type", text, "model"),
        ("general.name", text, f"Sample: {family.family} vocabulary, synthetic weights"),
        (f"{arch}.block_count", u32, BLOCKS),
        (f"{arch}.context_length", u32, CONTEXT),
        (f"{arch}.embedding_length", u32, EMBEDDING),
        (f"{arch}.feed_forward_length", u32, FEED_FORWARD),
        (f"{arch}.attention.head_count", u32, HEADS),
        (f"{arch}.attention.head_count_kv", u32, HEADS_KV),
        (f"{arch}.rope.freq_base", f32, 1_000_000.0),
        (f"{arch}.attention.layer_norm_rms_epsilon", f32, 1e-6),
    ]
    if arch == "qwen3":
        pairs += [
            (f"{arch}.attention.key_length", u32, HEAD),
            (f"{arch}.attention.value_length", u32, HEAD),
        ]
    strings, types = partial(ArrayToWrite, ValueType.STRING), partial(ArrayToWrite, ValueType.INT32)
    pairs += [
        ("tokenizer.ggml.model", text, "gpt2"),
        ("tokenizer.ggml.pre", text, "qwen2"),
        ("tokenizer.ggml.tokens", ValueType.ARRAY, strings(vocabulary.tokens)),
        ("tokenizer.ggml.token_type", ValueType.ARRAY, types(vocabulary.types)),
        ("tokenizer.ggml.merges", ValueType.ARRAY, strings(vocabulary.merges)),
        ("tokenizer.ggml.eos_token_id", u32, EOS),
        ("tokenizer.ggml.padding_token_id", u32, PAD),
        ("tokenizer.ggml.bos_token_id", u32, BOS),
        ("tokenizer.ggml.add_bos_token", ValueType.BOOL, False),
        ("tokenizer.chat_template", text, CHAT_TEMPLATES[family.family]),
        ("general.quantization_version", u32, 2),
        ("general.file_type", u32, FILE_TYPE),
    ]
    return pairs


def tensors(family: Family) -> list[TensorToWrite]:
    """All tensors, in the file's order; their data is made when it is asked for."""
    wide, narrow = HEADS * HEAD, HEADS_KV * HEAD
    found = [_tensor(family, "token_embd.weight", _Q.Q4_K, (EMBEDDING, N_TOKENS))]
    for block in range(BLOCKS):
        first = block == 0
        shapes: dict[str, tuple[GgmlType, tuple[int, ...]]] = {
            "attn_norm.weight": (_Q.F32, (EMBEDDING,)),
            "attn_q.weight": (_Q.Q4_K, (EMBEDDING, wide)),
            "attn_k.weight": (_Q.Q4_0 if first else _Q.Q5_0, (EMBEDDING, narrow)),
            "attn_v.weight": (_Q.Q6_K if first else _Q.F16, (EMBEDDING, narrow)),
            "attn_output.weight": (_Q.Q4_K, (wide, EMBEDDING)),
            "ffn_norm.weight": (_Q.F32, (EMBEDDING,)),
            "ffn_gate.weight": (_Q.Q4_K, (EMBEDDING, FEED_FORWARD)),
            "ffn_up.weight": (_Q.Q4_K if first else _Q.Q4_0, (EMBEDDING, FEED_FORWARD)),
            "ffn_down.weight": (_Q.Q5_0 if first else _Q.Q8_0, (FEED_FORWARD, EMBEDDING)),
        }
        if family.architecture == "qwen3":
            shapes["attn_q_norm.weight"] = shapes["attn_k_norm.weight"] = (_Q.F32, (HEAD,))
        else:
            shapes["attn_q.bias"] = (_Q.F32, (wide,))
            shapes["attn_k.bias"] = shapes["attn_v.bias"] = (_Q.F32, (narrow,))
        found += [_tensor(family, f"blk.{block}.{name}", *shapes[name]) for name in sorted(shapes)]
    return [*found, _tensor(family, "output_norm.weight", _Q.F32, (EMBEDDING,))]


def _tensor(family: Family, name: str, kind: GgmlType, ne: tuple[int, ...]) -> TensorToWrite:
    return TensorToWrite(name, kind, ne, partial(block_bytes, f"{family.family}/{name}", kind, ne))


def block_bytes(seed: str, kind: GgmlType, ne: tuple[int, ...]) -> NDArray[Any]:
    """Make a tensor's bytes, u8 of shape (blocks, bytes of a block), from a seed.

    Norms (F32) lie in [0.5, 1), biases in ±[1/128, 1/64), F16 in ±[1/128, 1/8).
    """
    data = hashlib.shake_128(seed.encode("ascii")).digest(tensor_size(kind, ne))
    if kind is _Q.F32:
        words = np.frombuffer(data, dtype="<u4")
        norm = (words & 0x007F_FFFF) | 126 << 23
        bias = (words & 0x807F_FFFF) | 120 << 23
        return (bias if seed.endswith(".bias") else norm).astype("<u4").view(np.uint8)
    if kind is _Q.F16:
        words = np.frombuffer(data, dtype="<u2")
        return _half(words & 0x83FF, 8 + (words >> 10 & 3))
    blocks = np.frombuffer(data, dtype=np.uint8).reshape(-1, kind.block_bytes).copy()
    for at, exponent in _SCALES[kind].items():
        mantissa = np.ascontiguousarray(blocks[:, at : at + 2]).view("<u2") & 0x03FF
        blocks[:, at : at + 2] = _half(mantissa, exponent)
    return blocks


def _half(fraction: NDArray[Any], exponent: NDArray[Any] | int) -> NDArray[Any]:
    """Set the exponent of half-precision words; bytes along the last axis."""
    return (fraction | exponent << 10).astype("<u2").view(np.uint8)
