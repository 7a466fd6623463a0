"""The keys of GGUF that this tool reads or writes, as ggml and Ollama name them.

The `gguf` package lists them too, but takes 90 ms to import; the tests hold these names to it.
"""

from __future__ import annotations

ARCHITECTURE = "general.architecture"
NAME = "general.name"
ALIGNMENT = "general.alignment"
FILE_TYPE = "general.file_type"
QUANTIZATION_VERSION = "general.quantization_version"

SPLIT_NO = "split.no"
SPLIT_COUNT = "split.count"
SPLIT_TENSORS_COUNT = "split.tensors.count"

TOKENIZER_MODEL = "tokenizer.ggml.model"
TOKENIZER_PRE = "tokenizer.ggml.pre"
TOKENS = "tokenizer.ggml.tokens"
TOKEN_TYPE = "tokenizer.ggml.token_type"  # noqa: S105 (a vocabulary's token)
SCORES = "tokenizer.ggml.scores"
MERGES = "tokenizer.ggml.merges"
BOS_ID = "tokenizer.ggml.bos_token_id"
EOS_ID = "tokenizer.ggml.eos_token_id"
EOS_IDS = "tokenizer.ggml.eos_token_ids"
"""Written by Ollama only: every id that ends a text."""
EOT_ID = "tokenizer.ggml.eot_token_id"
EOM_ID = "tokenizer.ggml.eom_token_id"
UNK_ID = "tokenizer.ggml.unknown_token_id"
PAD_ID = "tokenizer.ggml.padding_token_id"
ADD_BOS = "tokenizer.ggml.add_bos_token"
ADD_EOS = "tokenizer.ggml.add_eos_token"

CHAT_TEMPLATE = "tokenizer.chat_template"
CHAT_TEMPLATE_PREFIX = "tokenizer.chat_template."
"""Followed by a name: one of several templates."""
CHAT_TEMPLATES = "tokenizer.chat_templates"
"""The names of the templates that have one."""
