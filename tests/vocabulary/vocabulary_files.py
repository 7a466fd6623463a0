"""GGUF files in memory, with a vocabulary that a test changes."""

import io
from types import SimpleNamespace

from tiny_model import MERGES, pairs

from formats.gguf.reader import GgufFile
from formats.gguf.value_types import ValueType
from formats.gguf.writer import ArrayToWrite, write_gguf
from pipeline.vocabulary.facts import collect_facts
from pipeline.vocabulary.templates import read_templates
from pipeline.vocabulary.vocabulary import read_vocabulary

TEMPLATE = "tokenizer.chat_template"
EOS, BOS, EOT, EOM, PAD, UNK = (
    f"tokenizer.ggml.{name}_token_id" for name in ("eos", "bos", "eot", "eom", "padding", "unknown")
)
EOS_IDS, PRE, TOKEN_TYPE = "tokenizer.ggml.eos_token_ids", "tokenizer.ggml.pre", "tokenizer.ggml.token_type"
MERGES_KEY, TOKENS = "tokenizer.ggml.merges", "tokenizer.ggml.tokens"
NONE_NAMED = {EOS: None, PAD: None, TEMPLATE: None}


def string(value):
    return ValueType.STRING, value


def number(value):
    return ValueType.UINT32, value


def array(values, kind=ValueType.STRING):
    return ValueType.ARRAY, ArrayToWrite(kind, values)


def gguf_of(changes=None, *, rows=None, merges=MERGES, tensors=()):
    """Write the tiny model with changes and open it."""
    stream = io.BytesIO()
    write_gguf(stream, pairs(changes, rows=rows, merges=merges), tensors)
    return GgufFile(stream.getvalue(), "t.gguf")


def vocabulary_of(changes=None, **more):
    return read_vocabulary(gguf_of(changes, **more))


def facts_of(changes=None, *, stated_pre=None, **more):
    """Collect the facts of a changed tiny model."""
    gguf = gguf_of(changes, **more)
    named = gguf.key_values.get(PRE)
    model = SimpleNamespace(
        gguf=gguf,
        vocabulary=read_vocabulary(gguf),
        source=SimpleNamespace(pre=stated_pre),
        pre=stated_pre or (named.value.decode() if named is not None else ""),
    )
    return collect_facts(model, read_templates(gguf))


def offset_of(gguf, key, index):
    """Give an array element's offset as messages write it."""
    offset = gguf.key_values[key].element(index).offset
    return f"offset 0x{offset:X} ({offset})"
