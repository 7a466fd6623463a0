"""The model that steps read: an opened GGUF, its vocabulary, and where it came from."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from formats.errors import FormatError
from formats.gguf import keys
from formats.gguf.kinds import STR
from formats.gguf.reader import GgufFile
from pipeline.errors import ModelError
from pipeline.sources.store import read_text_layers

if TYPE_CHECKING:
    from pipeline.sources.source import Source
    from pipeline.vocabulary.vocabulary import Vocabulary


class Model:
    """A model; its file is opened when it is first asked for.

    Attributes:
        source: where it came from, and its digest.

    """

    def __init__(self, source: Source) -> None:
        self.source = source

    @cached_property
    def gguf(self) -> GgufFile:
        """The file, mapped.

        Raises:
            ModelError: it is no GGUF that this tool reads.

        """
        try:
            return GgufFile.open(self.source.path)
        except FormatError as error:
            raise ModelError(str(error)) from error

    def close(self) -> None:
        """Give the file back."""
        self.__dict__.pop("vocabulary", None)
        opened = self.__dict__.pop("gguf", None)
        if opened is not None:
            opened.close()

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary, read once for all steps.

        Raises:
            ModelError: it is no byte-level BPE vocabulary, or a broken one.

        """
        from pipeline.vocabulary.vocabulary import read_vocabulary

        try:
            return read_vocabulary(self.gguf)
        except FormatError as error:
            raise ModelError(str(error)) from error

    @property
    def pre(self) -> str:
        """Name of the pre-tokenizer's rule: the manifest's where it states one, else the GGUF's."""
        return self.source.pre or self.gguf.get(keys.TOKENIZER_PRE, STR) or ""

    @cached_property
    def text_layers(self) -> dict[str, bytes]:
        """Licence, system text, parameters and template of a model in the Ollama store, by kind."""
        return {} if self.source.ollama is None else read_text_layers(self.source.ollama)
