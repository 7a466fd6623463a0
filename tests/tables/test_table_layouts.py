"""The fast ways beside construct's declarations, on whole real files: the same values, the same bytes."""

import construct
import numpy as np
import pytest

from formats import ps_bundle, tokenizer_bin, vocab_bin
from formats.q25tokrt import layout
from formats.q25tokrt.layout import Kind
from formats.token_types_bin import TOKEN_TYPE
from formats.token_types_bin import build as build_token_types

FEW = 4_000


def assert_rows_alike(record, data):
    """Hold numpy's view of a table to what construct parses and builds."""
    count = len(data) // record.size
    parsed = construct.Array(count, record).parse(data)
    names = [field.name for field in record.fields]
    rows = np.array([tuple(row[name] for name in names) for row in parsed], record.dtype)
    assert rows.tobytes() == data
    assert construct.Array(count, record).build(parsed) == data


def fixed_tables(real):
    """Give every table of plain records with its record."""
    index, _, merges = real.ps_bundle()
    return [
        (ps_bundle.TOKEN_INDEX_RECORD, index),
        (ps_bundle.MERGE_RECORD, merges),
        (TOKEN_TYPE, build_token_types(real.vocabulary.types)),
        (layout.BYTE_TOKEN, real.section(Kind.BYTE_TOKEN_MAP)),
        (layout.PAIR_SLOT, real.section(Kind.MERGE_PAIR_INDEX)),
    ]


def test_some_rows_of_each_table(qwen3_tables):
    for record, data in fixed_tables(qwen3_tables):
        rows = len(data) // record.size
        for first in sorted({0, max(rows // 2 - FEW // 2, 0), max(rows - FEW, 0)}):
            assert_rows_alike(record, data[first * record.size : (first + FEW) * record.size])


@pytest.mark.long
def test_all_rows_of_each_table(real):
    for record, data in fixed_tables(real):
        assert_rows_alike(record, data)


def test_the_special_token_index(real):
    data = real.section(Kind.SPECIAL_TOKEN_INDEX)
    count = len(real.vocabulary.added_ids)
    parsed = layout.SPECIAL_TOKEN_INDEX.parse(data, count=count)
    assert sorted(parsed.token_ids) == real.vocabulary.added_ids.tolist()


def test_the_whole_vocab_bin(qwen3_tables):
    data = qwen3_tables.vocab_bin().data
    parsed = vocab_bin.VOCAB_BIN.parse(data)
    assert [entry.text for entry in parsed.entries] == list(vocab_bin.read(data))
    assert [entry.token_id for entry in parsed.entries] == list(range(len(parsed.entries)))
    assert vocab_bin.VOCAB_BIN.build(parsed) == data


@pytest.mark.long
@pytest.mark.parametrize("name", ["documented", "loader"])
def test_the_whole_tokenizer_bin(qwen3_tables, name):
    data = qwen3_tables.tokenizer_bin(name)
    record = tokenizer_bin.RECORDS[name]
    parsed = record.parse(data)
    read = tokenizer_bin.read(data, name)
    assert [entry.text for entry in parsed.vocab] == list(read.vocab)
    assert [(row.left_id, row.right_id) for row in parsed.merges] == read.merges.rows.tolist()
    assert [entry.token_id for entry in parsed.special] == read.special_ids.tolist()
    assert [entry.text for entry in parsed.special] == list(read.special)
    assert record.build(parsed) == data


def test_both_layouts_of_tokenizer_bin_on_a_part_of_the_real_vocabulary(qwen3_tables):
    vocabulary = qwen3_tables.vocabulary
    few = vocabulary.merges.out < FEW
    for name, record in tokenizer_bin.RECORDS.items():
        data = tokenizer_bin.build(
            name,
            vocabulary.texts.take(np.arange(FEW)),
            vocabulary.merges.left[few],
            vocabulary.merges.right[few],
            np.array([7, 300]),
        )
        parsed = record.parse(data)
        assert [entry.text for entry in parsed.vocab] == list(tokenizer_bin.read(data, name).vocab)
        assert record.build(parsed) == data
