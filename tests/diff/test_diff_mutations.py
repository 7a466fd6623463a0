"""What was planted is found, and nothing else: changed fields, rows that were taken out or put in."""

import random

import numpy as np
import pytest
from artifacts import artifact, compare, leaves, tables
from format_files import small_files

from formats import ps_bundle, token_types_bin, vocab_bin
from formats.byte_strings import ByteStrings
from formats.catalog import BY_NAME
from formats.gguf.layout import GGUF

TABLES = {
    "token_index": ["token_index"],
    "merge_table_u32": ["merge_table"],
    "token_types": ["token_types"],
    "q25tokrt": [
        "header.end_ids",
        "sections.token_index",
        "sections.merge_table",
        "sections.byte_token_map",
        "sections.merge_pair_index",
        "sections.special_token_index.token_ids",
    ],
    "vocab_bin": ["entries"],
    "tokenizer_bin_documented": ["vocab", "merges", "special"],
    "tokenizer_bin_loader": ["vocab", "byte_glyphs"],
    "gguf": ["tokenizer.ggml.tokens", "tokenizer.ggml.token_type", "tokenizer.ggml.merges"],
    "tokens": ["lines"],
    "merges": ["lines"],
}
CASES = [(name, path) for name, paths in TABLES.items() for path in paths]
by_table = pytest.mark.parametrize(("name", "path"), CASES)


def table_of(name, data, path):
    found = artifact(name, data)
    if name == "gguf":
        pair = next(part for part in found.walk.root.part("key_values").items if part.label == path.encode())
        return pair.part("value").part("elements"), f"key_values[{path!r}].value.elements"
    return tables(found.walk.root)[path], path


def mutate(rng, data, leaf):
    """Change one byte of a leaf; of text to another letter, so that no line ends in it."""
    at = leaf.offset + rng.randrange(leaf.size if leaf.type != "line" else leaf.size - 1)
    old = data[at]
    data[at] = rng.choice([byte for byte in (*b"abcxyz", old ^ 1) if byte not in (old, 10)])


def assert_planted(name, path, times, folder):
    data = small_files(folder)[name]
    table, shown = table_of(name, data, path)
    rng = random.Random(f"{name} {path}")
    for _ in range(times):
        changed = bytearray(data)
        rows = sorted(rng.sample(range(table.count), min(rng.randint(1, 3), table.count)))
        planted = []
        for row in rows:
            leaf = rng.choice(leaves(table.row(row)))
            mutate(rng, changed, leaf)
            planted.append(f"{shown}[{row}]{leaf.path.removeprefix(f'{table.path}[{row}]')}")
        found = compare(name, data, bytes(changed))
        # The directory of an image is not what is planted in; nothing but the tables differs.
        assert sorted(change.path for change in found.kept) == sorted(planted)
        assert {change.kind for change in found.kept} == {"changed"}
        assert found.total == len(planted)
        assert all(change.old != change.new for change in found.kept)


@by_table
def test_changed_fields(name, path, tmp_path):
    assert_planted(name, path, 60, tmp_path)


@pytest.mark.long
@by_table
def test_changed_fields_a_thousand_times(name, path, tmp_path):
    assert_planted(name, path, 1000, tmp_path)


@pytest.mark.parametrize("name", BY_NAME)
def test_equal_files_do_not_differ(name, tmp_path):
    data = small_files(tmp_path)[name]
    found = compare(name, data, bytes(data))
    assert (found.total, found.kept) == (0, [])


def edited(rng, rows):
    """Take a row out or put a copy of a far one in; give the rows and (kind, row)."""
    rows = list(rows)
    at = rng.randrange(1, len(rows) - 1)
    if rng.random() < 0.5:
        return rows[:at] + rows[at + 1 :], ("removed", at)
    return [*rows[:at], rows[rng.randrange(len(rows))], *rows[at:]], ("added", at)


def packers():
    """Give for each table: rows, and what packs rows with all that follows from their places."""
    rng = np.random.default_rng(5)
    strings = [f"t{number}".encode() for number in range(300)]
    pairs = [
        (int(left), int(right), 300 + row) for row, (left, right) in enumerate(rng.integers(0, 300, (200, 2)))
    ]
    types = [1] * 280 + [3] * 20

    def index(rows):
        return ps_bundle.build_token_index(ByteStrings.from_list(rows), [1] * len(rows))

    def entries(rows):
        return vocab_bin.build(ByteStrings.from_list(rows), [3] * len(rows)).data

    return {
        "token_index": (strings, index),
        "merge_table_u32": (
            pairs,
            lambda rows: ps_bundle.build_merge_table(*map(list, zip(*rows, strict=True))),
        ),
        "vocab_bin": (strings, entries),
        "token_types": (types, token_types_bin.build),
        "tokens": (strings, lambda rows: b"".join(row + b"\n" for row in rows)),
    }


@pytest.mark.parametrize("name", packers())
def test_rows_that_were_taken_out_or_put_in(name):
    rows, pack = packers()[name]
    rng = random.Random(name)
    for _ in range(100):
        new, (kind, at) = edited(rng, rows)
        found = compare(name, pack(rows), pack(new))
        rows_found = [change for change in found.kept if change.kind == kind]
        others = [
            change for change in found.kept if change.kind != kind and not change.path.startswith("n_entries")
        ]
        assert len(rows_found) == 1, found.kept
        assert others == []
        # An index and types alone do not tell which of several equal rows was taken out.
        if name not in ("token_index", "token_types") and kind == "removed":
            assert rows_found[0].path.endswith(f"[{at}]")


def test_values_that_do_not_follow_from_their_place_are_changes():
    rows, pack = packers()["merge_table_u32"]
    data = pack(rows)
    shorter = bytearray(pack([row for number, row in enumerate(rows) if number != 50]))
    shorter[120 * 16 + 12] ^= 4  # the rank of row 120
    found = compare("merge_table_u32", data, bytes(shorter))
    assert sorted((change.kind, change.path) for change in found.kept) == [
        ("changed", "merge_table[120].rank"),
        ("removed", "merge_table[50]"),
    ]


def test_a_longer_token_does_not_change_the_offsets_behind_it(tmp_path):
    strings = [b"a", b"bb", b"ccc", b"dd"]
    longer = [b"a", b"bb", b"cccc", b"dd"]

    def index(rows):
        return ps_bundle.build_token_index(ByteStrings.from_list(rows), [1] * len(rows))

    found = compare("token_index", index(strings), index(longer))
    assert [change.words for change in found.kept] == ["token_index[2].byte_length: 3 -> 4 (token 2)"]


def test_an_offset_that_agrees_with_the_row_before_it_only_is_a_change():
    """As a longer token would move it; but then the tokens behind it would have moved too."""
    strings = ByteStrings.from_list([b"x" * length for length in range(1, 13)])
    packed = ps_bundle.build_token_index(strings, [1] * len(strings))
    table = np.frombuffer(packed, dtype=ps_bundle.TOKEN_INDEX_RECORD.dtype)

    def planted(*moved):
        changed = table.copy()
        changed["byte_length"][1] += 4
        changed["byte_offset"][list(moved)] += 4
        return {change.path for change in compare("token_index", packed, changed.tobytes()).kept}

    longer = "token_index[1].byte_length"
    assert planted() == {longer}
    assert planted(2) == {longer, "token_index[2].byte_offset"}
    assert planted(2, 3) == {longer, "token_index[2].byte_offset", "token_index[3].byte_offset"}
    assert planted(3) == {longer, "token_index[3].byte_offset"}
    assert planted(*range(2, 12)) == {longer}


def test_keys_and_tensors_of_a_gguf_by_their_names(tmp_path):
    from tiny_model import pairs, tensors, write_tiny

    from formats.gguf.value_types import ValueType

    old = write_tiny(tmp_path / "a.gguf").read_bytes()
    changes = {
        "general.name": (ValueType.STRING, "Other"),
        "new.key": (ValueType.UINT32, 7),
        "general.architecture": None,
    }
    new = write_tiny(tmp_path / "b.gguf", {**changes}, tensors()[:-1]).read_bytes()
    assert len(pairs()) > 5
    found = compare("gguf", old, new)
    assert GGUF.signature == old[:4]
    words = [change.words for change in found.kept]
    assert "key_values['general.name'].value.text: 'Tiny' -> 'Other'" in words
    assert any(word.startswith("key_values['new.key']: added") for word in words)
    assert any(word.startswith("key_values['general.architecture']: removed") for word in words)
    assert any(word.startswith("tensors['blk.0.q6_k.weight']: removed") for word in words)
    assert any(word.startswith("tensor_data['blk.0.q6_k.weight']: removed") for word in words)
