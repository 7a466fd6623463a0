"""Small vocabularies as models, through the tool's own writer and reader."""

import io

from tiny_model import pairs

from formats.gguf.reader import GgufFile
from formats.gguf.writer import write_gguf
from pipeline.parity.assembly import Assembly
from pipeline.vocabulary.vocabulary import read_vocabulary


def small_vocabulary(changes=None, **options):
    stream = io.BytesIO()
    write_gguf(stream, pairs(changes, **options))
    return read_vocabulary(GgufFile(stream.getvalue(), "small.gguf"))


def small_assembly(changes=None, pre="qwen2", **options):
    return Assembly(small_vocabulary(changes, **options), pre)
