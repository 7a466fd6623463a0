"""The exact encoder on the image against the reference, on what a machine has installed: code, prose, translations."""

import gettext
import hashlib
import sysconfig
from itertools import chain, zip_longest
from pathlib import Path

import pytest

from pipeline.parity.comparison import Comparison
from pipeline.parity.corpus import Sample


def shuffled(root, *patterns):
    """List files in an order that does not depend on the file system, and mixes folders."""
    found = [path for pattern in patterns for path in root.rglob(pattern)] if root.is_dir() else []
    return sorted(found, key=lambda path: hashlib.sha256(path.relative_to(root).as_posix().encode()).digest())


def read_texts(paths):
    for path in paths:
        try:
            yield path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue


def translations(paths):
    """Give the translations of message catalogs: a hundred languages, on a machine that has them."""
    for path in paths:
        try:
            with path.open("rb") as file:
                catalog = gettext.GNUTranslations(file)._catalog
        except (OSError, ValueError, UnicodeDecodeError):
            continue
        yield "\n".join(text for text in catalog.values() if isinstance(text, str))


def installed_texts(size, longest=1 << 14):
    """Give texts of so many bytes, taking turns between the sources as long as they last."""
    library = Path(sysconfig.get_paths()["stdlib"])
    packages = Path(sysconfig.get_paths()["purelib"])
    sources = (
        read_texts(shuffled(library, "*.py", "*.txt")),
        read_texts(shuffled(packages, "*.md", "*.rst", "*.txt", "*.h", "*.json", "*.pyi")),
        translations(shuffled(Path("/usr/share/locale"), "*.mo")),
        read_texts(shuffled(Path("/usr/share/doc"), "*.txt", "*.html", "copyright")),
    )
    total = 0
    for text in chain.from_iterable(zip_longest(*sources)):
        for start in range(0, len(text or ""), longest):
            chunk = text[start : start + longest]
            total += len(chunk.encode())
            yield chunk
            if total >= size:
                return
    pytest.fail(f"only {total} bytes of text are installed")


def compare(assembly, party, texts):
    samples = [Sample("installed", number, text) for number, text in enumerate(texts, 1)]
    comparison = Comparison(assembly.reference, [party], assembly.tables, assembly.exact, 3)
    return comparison.run(samples)[party.key]


@pytest.mark.parametrize(
    "size", [100_000, pytest.param(5_000_000, marks=pytest.mark.long)], ids=["short", "5 MB"]
)
def test_the_exact_encoder_equals_the_reference(assembly, parties, size):
    texts = list(installed_texts(size))
    outcome = compare(assembly, parties["exact"], texts)
    total = outcome.total
    assert total.size >= size
    assert (total.equal, outcome.differences) == (total.samples, [])
    assert total.returned == total.samples
    beyond_ascii = sum(not text.isascii() for text in texts)
    assert beyond_ascii > len(texts) // 20, "the texts are mixed"


@pytest.mark.long
@pytest.mark.parametrize("key", ["rank_bpe", "greedy_base", "greedy_specials_first", "tokenizer_bin"])
def test_every_difference_of_the_engines_has_a_cause(assembly, parties, key):
    """And the texts are such that there are thousands of differences."""
    outcome = compare(assembly, parties[key], list(installed_texts(300_000, longest=2_000)))
    assert outcome.total.differences > 1_000
    assert outcome.total.causes["other"] == 0
