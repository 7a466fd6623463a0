"""The pinned Unicode data: what is known of it otherwise, and that it is unpacked only when used."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from pipeline.bpe import class_data, derive_tables, nfc_data, unicode_tables
from pipeline.bpe.unicode_tables import class_tables, nfc_tables


def contains(ranges, char):
    return any(first <= ord(char) <= last for first, last in ranges)


def size(ranges):
    return sum(last - first + 1 for first, last in ranges)


def test_versions():
    assert class_data.TOKENIZERS_VERSION == nfc_data.TOKENIZERS_VERSION == "0.23.3"
    assert unicode_tables.CLASS_TABLES_VERSION == 16 << 16 == derive_tables.version_number((16, 0, 0))
    assert unicode_tables.NFC_TABLES_VERSION == 9 << 16
    assert derive_tables.version_number((15, 1, 2)) == 0x000F0102


def test_class_sizes():
    tables = class_tables()
    assert (size(tables.letters), size(tables.numbers), size(tables.white_space)) == (141_028, 1_911, 25)


@pytest.mark.parametrize("name", ["letters", "numbers", "white_space"])
def test_ranges_ascend_and_do_not_touch(name):
    ranges = getattr(class_tables(), name)
    assert all(first <= last for first, last in ranges)
    assert all(last + 1 < first for (_, last), (first, _) in pairwise(ranges))


def test_classes_are_disjoint():
    tables = class_tables()
    codes = [
        {code for first, last in ranges for code in range(first, last + 1)}
        for ranges in (tables.letters, tables.numbers, tables.white_space)
    ]
    assert sum(map(len, codes)) == len(set().union(*codes))


def test_white_space():
    white = class_tables().white_space
    assert all(
        contains(white, char)
        for char in "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"
    )
    assert not any(contains(white, char) for char in "\x1c\x1d\x1e\x1f\u180e\u200b\u2060\ufeff")


def test_contraction_letters():
    folds = class_tables().contraction_letters
    assert folds["\u017f"] == "s"
    assert {char: letter for char, letter in folds.items() if char != "\u017f"} == {
        char: char.lower() for char in "STREVMLDstrevmld"
    }


def test_nfc_sizes():
    tables = nfc_tables()
    assert len(tables.decompositions) == 2_060
    assert len(tables.combining_classes) == 810
    assert len(tables.compositions) == 940


def test_nfc_tables_hold_together():
    tables = nfc_tables()
    for name in ("decompositions", "combining_classes", "compositions"):
        assert list(getattr(tables, name)) == sorted(getattr(tables, name))
    for char, parts in tables.decompositions.items():
        assert char not in tables.combining_classes
        assert 1 <= len(parts) <= 4
        assert not any(part in tables.decompositions for part in parts)
    for pair, char in tables.compositions.items():
        whole = "".join(tables.decompositions.get(part, part) for part in pair)
        assert tables.decompositions[char] == whole
        assert pair[0] not in tables.combining_classes
    assert set(tables.combining_classes.values()) <= set(range(1, 241))


def test_known_entries():
    tables = nfc_tables()
    assert tables.decompositions["\u1e69"] == "s\u0323\u0307"
    assert tables.compositions["\u1e63\u0307"] == "\u1e69"
    assert tables.combining_classes["\u0323"] == 220
    assert tables.combining_classes["\u3099"] == 8
    assert "\u0915\u093c" not in tables.compositions  # excluded from composition
    assert "\u0d3b" not in tables.combining_classes  # Unicode 10
    assert "\U00011938" not in tables.decompositions  # Unicode 13


def test_import_is_light():
    code = """
import sys
import pipeline.bpe.encoder, pipeline.bpe.decoder
from pipeline.bpe import unicode_tables
print(*sorted({name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)))
print("unicodedata" in sys.modules)
print(unicode_tables.class_tables.cache_info().currsize, unicode_tables.nfc_tables.cache_info().currsize)
"""
    # -S keeps what an environment's start-up files import out of the list.
    root = str(Path(derive_tables.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {root!r}){code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["__main__ formats pipeline", "False", "0 0"]
