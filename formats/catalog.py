"""Every format of the project by name: the list that the printed documentation goes through."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats import ps_bundle, token_types_bin, tokenizer_bin, vocab_bin
from formats.gguf import layout as gguf_layout
from formats.q25tokrt import layout as q25tokrt_layout

if TYPE_CHECKING:
    from types import ModuleType

    from formats.layout import Record


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes:
        name: as the commands take it.
        module: the module that declares it; its docstring describes it.
        records: its layouts, the outermost first.

    """

    name: str
    module: ModuleType
    records: tuple[Record, ...]

    @property
    def description(self) -> str:
        """What the format is, in a few sentences."""
        return inspect.cleandoc(self.module.__doc__ or "")


FORMATS = (
    Format("ps_bundle", ps_bundle, (ps_bundle.TOKEN_INDEX_RECORD, ps_bundle.MERGE_RECORD)),
    Format(
        "q25tokrt",
        q25tokrt_layout,
        (
            q25tokrt_layout.HEADER,
            q25tokrt_layout.DIRECTORY_ENTRY,
            q25tokrt_layout.BYTE_TOKEN,
            q25tokrt_layout.PAIR_SLOT,
            q25tokrt_layout.SPECIAL_TOKEN_INDEX,
        ),
    ),
    Format("vocab_bin", vocab_bin, (vocab_bin.VOCAB_BIN,)),
    Format("tokenizer_bin", tokenizer_bin, (tokenizer_bin.DOCUMENTED, tokenizer_bin.LOADER)),
    Format("token_types", token_types_bin, (token_types_bin.TOKEN_TYPE,)),
    Format("gguf", gguf_layout, (gguf_layout.METADATA,)),
)
