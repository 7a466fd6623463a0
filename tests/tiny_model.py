"""A byte-level BPE model of a few hundred tokens and a few kilobytes, for tests that build from a GGUF."""

import hashlib

from formats.byte_level import encode
from formats.ggml_types import GgmlType
from formats.gguf.tensors import tensor_size
from formats.gguf.value_types import ValueType
from formats.gguf.writer import ArrayToWrite, TensorToWrite, write_gguf

NORMAL, CONTROL, USER_DEFINED, UNUSED = 1, 3, 4, 5
END_OF_TEXT, IM_START, IM_END, TOOL, FIRST_PAD, N_TOKENS = 262, 263, 264, 265, 266, 272
MERGES = ("c d", "a b", "ab c", "Ġ a", "h i", "Ġ hi")
SPECIALS = (
    ("<|endoftext|>", CONTROL),
    ("<|im_start|>", CONTROL),
    ("<|im_end|>", CONTROL),
    ("<tool>", USER_DEFINED),
)
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\r\n▁{% endfor %}\n\n"
TYPES = (
    GgmlType.F32,
    GgmlType.F16,
    GgmlType.Q4_0,
    GgmlType.Q5_0,
    GgmlType.Q8_0,
    GgmlType.Q4_K,
    GgmlType.Q6_K,
)


def tokens(merges=MERGES):
    """List (text, type) in id order: 256 bytes, the merges' results, specials, padding."""
    texts = [(encode(bytes([byte])), NORMAL) for byte in range(256)]
    texts += [(merge.replace(" ", ""), NORMAL) for merge in merges]
    texts += SPECIALS
    return texts + [(f"[PAD{token}]", UNUSED) for token in range(len(texts), N_TOKENS)]


def pairs(changes=None, *, rows=None, merges=MERGES):
    """List the key/values. A change replaces a value (type, value), adds one, or with None takes one away."""
    rows = tokens() if rows is None else rows
    found = {
        "general.architecture": (ValueType.STRING, "qwen2"),
        "general.name": (ValueType.STRING, "Tiny"),
        "qwen2.embedding_length": (ValueType.UINT32, 4),
        "qwen2.attention.layer_norm_rms_epsilon": (ValueType.FLOAT32, 1e-6),
        "tokenizer.ggml.model": (ValueType.STRING, "gpt2"),
        "tokenizer.ggml.pre": (ValueType.STRING, "qwen2"),
        "tokenizer.ggml.tokens": (ValueType.ARRAY, ArrayToWrite(ValueType.STRING, [t for t, _ in rows])),
        "tokenizer.ggml.token_type": (ValueType.ARRAY, ArrayToWrite(ValueType.INT32, [k for _, k in rows])),
        "tokenizer.ggml.merges": (ValueType.ARRAY, ArrayToWrite(ValueType.STRING, list(merges))),
        "tokenizer.ggml.eos_token_id": (ValueType.UINT32, IM_END),
        "tokenizer.ggml.padding_token_id": (ValueType.UINT32, END_OF_TEXT),
        "tokenizer.ggml.add_bos_token": (ValueType.BOOL, False),
        "tokenizer.chat_template": (ValueType.STRING, TEMPLATE),
    }
    found |= changes or {}
    return [(key, *value) for key, value in found.items() if value is not None]


def blocks(name, size):
    """Give `size` bytes that follow from a name."""
    return (hashlib.sha256(name.encode()).digest() * (size // 32 + 1))[:size]


def tensor(name, kind=GgmlType.F32, ne=(4,), salt=""):
    """Make a tensor whose bytes follow from its name."""
    return TensorToWrite(name, kind, tuple(ne), blocks(name + salt, tensor_size(kind, tuple(ne))))


def tensors(layers=range(1), salt=""):
    """Make an embedding, and for each layer one tensor of each of several types."""
    found = [tensor("token_embd.weight", GgmlType.F16, (4, N_TOKENS), salt)]
    for layer in layers:
        found += [tensor(f"blk.{layer}.{kind.name.lower()}.weight", kind, (256, 2), salt) for kind in TYPES]
    return found


def write_tiny(path, changes=None, body=None, *, rows=None, merges=MERGES, **options):
    """Write the model and return the path."""
    with open(path, "wb") as file:  # noqa: PTH123  (the path may be bytes)
        made = pairs(changes, rows=rows, merges=merges)
        write_gguf(file, made, tensors() if body is None else body, **options)
    return path


STEPS = (
    "inspect",
    "layers",
    "tokenizer",
    "tensors",
    "ps_bundle",
    "runtime_image",
    "vocab_bin",
    "tokenizer_bin",
)


def manifest_text(gguf="tiny.gguf", out="out", steps=STEPS, **more):
    """Write a manifest; JSON is YAML."""
    import json

    document = {"version": 1, "model": {"gguf": gguf}, "out": out, "steps": list(steps)}
    model = more.pop("model", None)
    if model is not None:
        document["model"] = model
    return json.dumps({**document, **more}, indent=1)
