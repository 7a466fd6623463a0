"""The two samples: what differs between them, and the digests that each must come out with."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.errors import UsageError
from pipeline.sources.names import ModelName, parse_name

TOKENIZER_SHA256 = "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186"
"""Of `qwen.tiktoken`: the official base vocabulary of Qwen2.5 and Qwen3, 151,643 tokens in id order."""

N_BASE = 151_643
N_TOKENS = 151_936
"""Rows of the embedding: the vocabulary is padded to this height."""

_CONTROL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|object_ref_start|>",
    "<|object_ref_end|>",
    "<|box_start|>",
    "<|box_end|>",
    "<|quad_start|>",
    "<|quad_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
_USER_DEFINED = (
    "<tool_call>",
    "</tool_call>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",
)
_USER_DEFINED_QWEN3 = ("<tool_response>", "</tool_response>", "<think>", "</think>")

BOS = PAD = N_BASE  # <|endoftext|>
EOS = N_BASE + 2  # <|im_end|>


@dataclass(frozen=True, slots=True)
class Family:
    """One sample.

    Attributes:
        family: its name in manifests: `qwen2.5` or `qwen3`.
        architecture: `general.architecture` of its GGUF.
        control, user_defined: the added tokens, whose ids follow the base vocabulary in this order.
        gguf_sha256: of the GGUF blob.
        manifest_sha256: of the Ollama manifest, and so of everything that it names.

    """

    family: str
    architecture: str
    control: tuple[str, ...]
    user_defined: tuple[str, ...]
    gguf_sha256: str
    manifest_sha256: str

    @property
    def model_name(self) -> ModelName:
        """The name in the sample's store; Ollama's library has none that begins like it."""
        return parse_name(f"sample-{self.family}:synthetic")


_FAMILIES = {
    "qwen2.5": Family(
        family="qwen2.5",
        architecture="qwen2",
        control=_CONTROL,
        user_defined=_USER_DEFINED,
        gguf_sha256="d34470f3069944131cd647eb3ef53329e5da668e793b0603ae6e0deaca8d1384",
        manifest_sha256="ab5d76741544c5f43fd587e630421f5903fa54b5a3b4ab1e1f3613bf0bb31005",
    ),
    "qwen3": Family(
        family="qwen3",
        architecture="qwen3",
        control=_CONTROL,
        user_defined=(*_USER_DEFINED, *_USER_DEFINED_QWEN3),
        gguf_sha256="cab974de315a6f950c3bc49e1cfce496c650c20065c1cdc8ba1a5309984f1977",
        manifest_sha256="d83e7105cb9e994c56b45b542369a71ae4c6ed92bec4a5f5dc09b424356e5dc0",
    ),
}


def family_of(name: str) -> Family:
    """Look a sample up by name. Raises UsageError for another than `qwen2.5` and `qwen3`."""
    if name not in _FAMILIES:
        raise UsageError(f"sample: expected {' or '.join(_FAMILIES)}, found {name!r}")
    return _FAMILIES[name]
