"""The official Qwen vocabularies as models: made from the sample's vocabulary, read by the tool's reader."""

import io
import json
from functools import cache
from pathlib import Path

import numpy as np

from formats import ps_bundle, tokenizer_bin, vocab_bin
from formats.gguf.reader import GgufFile
from formats.gguf.value_types import ValueType
from formats.gguf.writer import ArrayToWrite, write_gguf
from formats.q25tokrt.image import open_image
from formats.q25tokrt.layout import Profile
from formats.q25tokrt.packer import ImageFacts, pack_image
from pipeline.sources.sample.families import BOS, EOS, PAD, family_of
from pipeline.sources.sample.vocabulary import base_tokens, make_vocabulary, vocabulary_file
from pipeline.vocabulary.vocabulary import read_vocabulary

GOLDEN = Path(__file__).parent / "golden"
FAMILIES = ("qwen2.5", "qwen3")


@cache
def golden(family):
    """Give the known figures of a family's tables."""
    return json.loads((GOLDEN / "qwen.json").read_text(encoding="utf-8"))[family]


@cache
def sample_vocabulary(family):
    """Give texts, types and merges as a GGUF states them."""
    return make_vocabulary(family_of(family), base_tokens(vocabulary_file()))


def vocabulary_pairs(family):
    """List the tokenizer's key/values of a vocabulary-only model."""
    made = sample_vocabulary(family)
    strings, text = ValueType.STRING, ValueType.STRING
    return [
        ("general.architecture", text, "qwen2"),
        ("tokenizer.ggml.model", text, "gpt2"),
        ("tokenizer.ggml.pre", text, "qwen2"),
        ("tokenizer.ggml.tokens", ValueType.ARRAY, ArrayToWrite(strings, made.tokens)),
        ("tokenizer.ggml.token_type", ValueType.ARRAY, ArrayToWrite(ValueType.INT32, made.types)),
        ("tokenizer.ggml.merges", ValueType.ARRAY, ArrayToWrite(strings, made.merges)),
        ("tokenizer.ggml.eos_token_id", ValueType.UINT32, EOS),
        ("tokenizer.ggml.padding_token_id", ValueType.UINT32, PAD),
        ("tokenizer.ggml.bos_token_id", ValueType.UINT32, BOS),
    ]


class RealTables:
    """Every table of a vocabulary that was read from a GGUF, packed when asked for."""

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary
        # Each table is made once; a cache on the methods would keep the object for ever.
        for name in ("ps_bundle", "vocab_bin", "tokenizer_bin", "image"):
            setattr(self, name, cache(getattr(self, name)))

    @classmethod
    @cache
    def of(cls, family):
        """Write a family's vocabulary with the tool's writer, and read it back."""
        stream = io.BytesIO()
        write_gguf(stream, vocabulary_pairs(family))
        return cls(read_vocabulary(GgufFile(stream.getvalue(), f"{family}.gguf")))

    def ps_bundle(self):
        """Give token_index.bin, token_bytes.bin and merge_table_u32.bin."""
        made = self.vocabulary
        merges = made.merges
        return (
            ps_bundle.build_token_index(made.tokens, made.types),
            made.tokens.joined(),
            ps_bundle.build_merge_table(merges.left, merges.right, merges.out),
        )

    def vocab_bin(self):
        """Pack vocab.bin, padding left out."""
        real = np.arange(self.vocabulary.first_pad_id)
        return vocab_bin.build(self.vocabulary.tokens.take(real), self.vocabulary.types[real])

    def tokenizer_bin(self, layout):
        """Pack tokenizer.bin."""
        made = self.vocabulary
        return tokenizer_bin.build(layout, made.texts, made.merges.left, made.merges.right, made.added_ids)

    def image(self, align=64, profile=Profile.STANDARD):
        """Pack the image."""
        facts = ImageFacts(
            source_sha256=bytes(range(32)),
            first_pad_id=self.vocabulary.first_pad_id,
            pre_name="qwen2",
            nfc=True,
            sample=True,
            class_tables=0x100000,
            nfc_tables=0x090000,
            bos_id=BOS,
            eos_id=EOS,
            pad_id=PAD,
            end_ids=(EOS, BOS),
        )
        return pack_image(*self.ps_bundle(), facts, align, profile=profile)

    def section(self, kind):
        """Give a section of the image."""
        return bytes(open_image(self.image()).sections[kind].data)
