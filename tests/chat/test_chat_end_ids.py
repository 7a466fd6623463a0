"""Ids at which an answer ends: which names them, and what Ollama's parameters may be."""

import json

import pytest
from refusals import refusal

from pipeline.chat.end_ids import ends_of
from pipeline.errors import ModelError

FACTS = {
    "end_ids": [{"id": 7, "token": "<end>", "named_by": ["a key"]}],
    "added_tokens": [
        {"id": 7, "token": "<end>"},
        {"id": 8, "token": "<start>"},
        {"id": 9, "token": "<start>"},
    ],
}


def found(params):
    ends = ends_of(FACTS, None if params is None else json.dumps(params).encode())
    return [(end["id"], end["named_by"]) for end in ends.ids], list(ends.texts)


def test_each_id_has_all_its_origins():
    stop = "ollama params.stop"
    assert found(None) == ([(7, ["a key"])], [])
    assert found({"temperature": 1}) == ([(7, ["a key"])], [])
    assert found({"stop": "<end>"}) == ([(7, ["a key", stop])], [])
    assert found({"stop": ["User:", "<start>", "<end>", "User:"]}) == (
        [(7, ["a key", stop]), (8, [stop])],
        ["User:"],
    )
    assert FACTS["end_ids"][0]["named_by"] == ["a key"]


@pytest.mark.parametrize(
    "params",
    [
        b"",
        b"[]",
        b"{",
        b"1",
        b"null",
        b'{"stop": 1}',
        b'{"stop": {}}',
        b'{"stop": [1]}',
        b'{"stop": [""]}',
        b"\xff",
        b"[" * 9999,
    ],
)
def test_parameters_that_are_none(params):
    line = refusal(ends_of, FACTS, params, error=ModelError)
    assert line.startswith("the Ollama model's params")
    assert ": expected " in line
