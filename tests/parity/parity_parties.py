"""Assemblies and parties for tests, by key."""

from functools import cache

from real_models import RealTables

from pipeline.parity.assembly import Assembly
from pipeline.parity.comparison import Comparison
from pipeline.parity.corpus import Sample


@cache
def qwen_assembly():
    return Assembly(RealTables.of("qwen3").vocabulary, "qwen2")


def all_parties(assembly, image, vocab_bin, tokenizer_bin):
    found = (
        assembly.of_image(image) + assembly.of_vocab_bin(vocab_bin) + assembly.of_tokenizer_bin(tokenizer_bin)
    )
    return {party.key: party for party in found}


def outcomes(assembly, parties, *texts, listed=1000):
    """Compare some parties over some texts, a sample each."""
    comparison = Comparison(assembly.reference, parties, assembly.tables, assembly.exact, listed)
    return comparison.run(Sample("texts", number, text) for number, text in enumerate(texts, 1))


def differences(assembly, party, text):
    """List the differences of one party in one text."""
    return outcomes(assembly, [party], text)[party.key].differences
