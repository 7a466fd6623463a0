"""Every format of the project by name: what schema, dump and the printed pages go through."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats import (
    memory_slice,
    model_table,
    ps_bundle,
    tensor_payload,
    texts,
    token_types_bin,
    tokenizer_bin,
    vocab_bin,
)
from formats.gguf import layout as gguf_layout
from formats.layout import Lines
from formats.layout.describe import nested_records
from formats.q25tokrt import layout as q25tokrt_layout

if TYPE_CHECKING:
    from types import ModuleType

    from formats.layout import FileLayout, Key, Record


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes:
        layout: the declaration of a whole file.
        module: the module that declares it; its docstring describes it, and its neighbours there.
        artifact: the layout's name in a build record.

    """

    layout: FileLayout
    module: ModuleType
    artifact: str

    @property
    def name(self) -> str:
        """The name, as the commands take it."""
        return str(self.layout.name)

    @property
    def description(self) -> str:
        """What the module's formats are, in a few sentences."""
        return inspect.cleandoc(self.module.__doc__ or "")

    @property
    def is_text(self) -> bool:
        """Whether the file is lines of text."""
        return isinstance(self.layout.fields[0].subcon, Lines)

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys of the JSON in a text; empty where it holds none."""
        lines = self.layout.fields[0].subcon
        return lines.keys if isinstance(lines, Lines) else ()

    @property
    def records(self) -> tuple[Record, ...]:
        """The layouts of the file's parts, in order of first use, each once."""
        return tuple(nested_records(self.layout))


FORMATS = (
    Format(ps_bundle.TOKEN_INDEX, ps_bundle, "token_index"),
    Format(ps_bundle.TOKEN_BYTES, ps_bundle, "token_bytes"),
    Format(ps_bundle.MERGE_TABLE, ps_bundle, "merge_table_u32"),
    Format(token_types_bin.TOKEN_TYPES, token_types_bin, "token_types"),
    Format(q25tokrt_layout.IMAGE, q25tokrt_layout, "q25tokrt"),
    Format(vocab_bin.VOCAB_BIN, vocab_bin, "vocab_bin"),
    Format(tokenizer_bin.DOCUMENTED, tokenizer_bin, "tokenizer_bin"),
    Format(tokenizer_bin.LOADER, tokenizer_bin, "tokenizer_bin"),
    Format(model_table.MODEL_TABLE, model_table, "model_table"),
    Format(model_table.TENSOR_PACK, model_table, "tensor pack"),
    Format(tensor_payload.TENSOR_PAYLOAD, tensor_payload, "tensor payload"),
    Format(memory_slice.MEMORY_SLICE, memory_slice, "memory slice"),
    Format(gguf_layout.GGUF, gguf_layout, ""),
    Format(texts.TOKENS, texts, "tokens"),
    Format(texts.MERGES, texts, "merges"),
    Format(texts.CHAT_TEMPLATE, texts, "chat_template"),
    Format(texts.LAYER, texts, "ollama layer"),
    Format(texts.FACTS, texts, "tokenizer_facts"),
    Format(texts.MODEL, texts, "model"),
    Format(texts.IMAGE_MANIFEST, texts, "q25tokrt manifest"),
    Format(texts.TENSOR_MANIFEST, texts, "tensor payload manifest"),
    Format(texts.FIRMWARE_PART, texts, "firmware part"),
    Format(texts.C_HEADER, texts, "C header"),
    Format(texts.C_SOURCE, texts, "C source"),
    Format(texts.PARITY, texts, "parity"),
    Format(texts.CHAT_FRAMES, texts, "chat frames"),
    Format(texts.BUILD_RECORD, texts, ""),
)
BY_NAME = {known.name: known for known in FORMATS}
