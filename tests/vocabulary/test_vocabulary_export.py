"""tokens.jsonl and merges.txt: a line for each token or merge, whatever the tokens hold."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_model import CONTROL, NORMAL, UNUSED, USER_DEFINED
from vocabulary_files import NONE_NAMED, vocabulary_of

from formats.byte_level import encode
from pipeline.vocabulary import export
from pipeline.vocabulary.export import tokens_jsonl

FIRST = [("a", NORMAL), ("b", NORMAL), ("ab", NORMAL)]


def written(*more):
    vocabulary = vocabulary_of(NONE_NAMED, rows=[*FIRST, *more], merges=["a b"])
    return b"".join(tokens_jsonl(vocabulary))


def test_a_worked_example():
    assert written(("ĠÃŃ", NORMAL), ("<é>", CONTROL), ('"\\', USER_DEFINED)).decode() == (
        '{"id": 0, "token": "a", "type": 1, "bytes": "61"}\n'
        '{"id": 1, "token": "b", "type": 1, "bytes": "62"}\n'
        '{"id": 2, "token": "ab", "type": 1, "bytes": "6162"}\n'
        '{"id": 3, "token": "\\u0120\\u00c3\\u0143", "type": 1, "bytes": "20c3ad"}\n'
        '{"id": 4, "token": "<\\u00e9>", "type": 3, "bytes": "3cc3a93e"}\n'
        '{"id": 5, "token": "\\"\\\\", "type": 4, "bytes": "225c"}\n'
    )


SEPARATORS = ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\x00"]


def test_no_character_in_a_token_ends_a_line():
    plain = [(f"x{separator}y", USER_DEFINED) for separator in SEPARATORS]
    raw = [b"\xe2\x80\xa8", b"\x00", b"\n", b"\xff", b"\xed\xa0\x80", b"\x85"]
    rows = [*plain, *[(encode(data), NORMAL) for data in raw], ("", NORMAL)]
    data = written(*rows)
    lines = data.decode("ascii").splitlines()
    assert len(lines) == data.count(b"\n") == len(rows) + 3
    parsed = [json.loads(line) for line in lines]
    assert [row["id"] for row in parsed] == list(range(len(lines)))
    assert [(row["token"], row["type"]) for row in parsed[3:]] == rows
    assert [bytes.fromhex(row["bytes"]) for row in parsed[3:]] == [
        *[text.encode() for text, _ in plain], *raw, b"",
    ]  # fmt: skip


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
ROW = st.one_of(
    st.tuples(st.binary(max_size=6).map(encode), st.just(NORMAL)),
    st.tuples(TEXT, st.sampled_from([CONTROL, USER_DEFINED, UNUSED])),
)


@given(rows=st.lists(ROW, max_size=20))
def test_any_tokens_come_back(rows):
    data = written(*rows)
    assert data.isascii()
    lines = data.decode("ascii").splitlines()
    assert [(row["token"], row["type"]) for row in map(json.loads, lines)] == [*FIRST, *rows]


@pytest.mark.parametrize("many", [1, 2, 3, 100])
def test_lines_are_made_in_runs_without_a_seam(many, monkeypatch):
    rows = [(f"t{number}", USER_DEFINED) for number in range(7)]
    whole = written(*rows)
    monkeypatch.setattr(export, "_LINES", many)
    assert written(*rows) == whole
    vocabulary = vocabulary_of(NONE_NAMED, rows=[*FIRST, *rows], merges=["a b"])
    assert len(list(tokens_jsonl(vocabulary))) == -(-10 // many)


def test_the_real_vocabulary_has_a_line_for_every_token_and_merge(qwen3_tables):
    vocabulary = qwen3_tables.vocabulary
    data = b"".join(tokens_jsonl(vocabulary))
    lines = data.decode("ascii").splitlines()
    assert len(lines) == data.count(b"\n") == 151_936
    for token in (0, 198, 151_643, 151_935):
        row = json.loads(lines[token])
        assert row["id"] == token
        assert bytes.fromhex(row["bytes"]) == vocabulary.tokens[token]
    merges = vocabulary.merges.lines.decode().split("\n")
    assert (len(merges), merges[0], merges[-1]) == (151_388, "Ġ Ġ", "")
