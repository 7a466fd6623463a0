"""Places in the NFC form of a text, and where in the text they came from."""

from __future__ import annotations

import pytest

from pipeline.bpe.nfc import changes
from pipeline.bpe.offsets import SourceMap


def source_map(text):
    return SourceMap(text, changes(text))


def test_nothing_changed():
    source = source_map("abé")
    assert [source.start(at) for at in range(5)] == [source.end(at) for at in range(5)] == list(range(5))


#  text    x | e U+0301 | y | U+212B | A U+030A | z     bytes 1 3 1 3 3 1
#  offset  0   1          4   5        8          11 12
#  NFC     x | é        | y | Å      | Å        | z     bytes 1 2 1 2 2 1
#  offset  0   1          3   4        6          8  9
TEXT = "xe\u0301y\u212bA\u030az"


@pytest.mark.parametrize(("normal", "text"), {0: 0, 1: 1, 2: 1, 3: 4, 8: 11, 9: 12}.items())
def test_start(normal, text):
    assert source_map(TEXT).start(normal) == text


@pytest.mark.parametrize(("normal", "text"), {0: 0, 1: 1, 2: 4, 3: 4, 4: 5, 8: 11, 9: 12}.items())
def test_end(normal, text):
    assert source_map(TEXT).end(normal) == text


def test_neighbouring_changes_keep_apart():
    source = source_map("e\u0301e\u0301")  # bytes 0..3 and 3..6 become 0..2 and 2..4
    assert [source.start(at) for at in range(5)] == [0, 0, 3, 3, 6]
    assert [source.end(at) for at in range(5)] == [0, 3, 3, 6, 6]
