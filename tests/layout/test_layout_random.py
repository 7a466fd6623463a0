"""Every declared record on random values and bytes: built and read alike, or refused with a place."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from layout_values import self_contained, values_of, without_placed
from refusals import attempt

from formats.catalog import FORMATS

RECORDS = {
    f"{entry.name}.{record.name}": self_contained(record)
    for entry in FORMATS
    if not entry.is_text or entry.name == "tokens"  # all texts have one layout
    for record in (without_placed(entry.layout), *entry.records)
}
LINE = re.compile(r"([\w.\[\]]+ at )?offset 0x[0-9A-F]+ \(\d+\): expected .+, found .+")

by_record = pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
some = settings(max_examples=20, suppress_health_check=list(HealthCheck), deadline=None)


def test_every_format_is_in_the_catalogue():
    assert len(RECORDS) >= 20
    assert {name.partition(".")[0] for name in RECORDS} >= {
        "token_index", "token_bytes", "merge_table_u32", "token_types", "q25tokrt", "vocab_bin",
        "tokenizer_bin_documented", "tokenizer_bin_loader", "tensor_payload", "gguf", "tokens",
    }  # fmt: skip


def plain(value):
    """Turn what construct parsed into lists and dicts that compare; NaN equals NaN."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items() if key != "_io"}
    if isinstance(value, list):
        return [plain(part) for part in value]
    return repr(value) if isinstance(value, float) else value


@by_record
@some
@given(data=st.data())
def test_values_come_back_as_they_were_built(record, data):
    values = data.draw(values_of(record))
    built = record.build(values)
    parsed = record.parse(built)
    assert plain(parsed) == plain(values)
    assert record.build(parsed) == built


@by_record
@some
@given(data=st.data())
def test_damaged_bytes_are_read_or_refused_with_their_place(record, data):
    raw = bytearray(record.build(data.draw(values_of(record))))
    at = data.draw(st.integers(0, len(raw) - 1))
    match data.draw(st.sampled_from(["flip", "cut", "replace", "more"])):
        case "flip":
            raw[at] ^= 1 << data.draw(st.integers(0, 7))
        case "cut":
            del raw[at:]
        case "replace":
            raw[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
        case "more":
            raw += data.draw(st.binary(max_size=9))
    parsed, error = attempt(record.parse, bytes(raw))
    if error is not None:
        assert LINE.fullmatch(str(error))
        assert 0 <= error.offset <= len(raw)
    else:
        assert plain(record.parse(record.build(parsed))) == plain(parsed)


@by_record
@some
@given(raw=st.binary(max_size=400))
def test_random_bytes_are_read_or_refused_with_their_place(record, raw):
    parsed, error = attempt(record.parse, raw)
    if error is None:
        assert len(record.build(parsed)) <= len(raw)
    else:
        assert LINE.fullmatch(str(error))
        assert 0 <= error.offset <= len(raw)


ODDITIES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(0, 300),
    st.floats(),
    st.text(max_size=4),
    st.binary(max_size=40),
    st.lists(st.integers(0, 9), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@by_record
@some
@given(data=st.data())
def test_one_odd_value_among_good_ones_is_built_or_refused(record, data):
    values = data.draw(values_of(record))
    part = values
    while True:  # down to any depth
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(part[key], (dict, list)) or not part[key] or data.draw(st.booleans()):
            break
        part = part[key]
    if data.draw(st.booleans()):
        part[key] = data.draw(ODDITIES)
    else:
        del part[key]
    build_or_refuse(record, values)


@by_record
@some
@given(values=ODDITIES)
def test_what_is_no_mapping_is_refused(record, values):
    build_or_refuse(record, values)


def build_or_refuse(record, values):
    built, error = attempt(record.build, values)
    assert isinstance(built, bytes) if error is None else LINE.fullmatch(str(error))
