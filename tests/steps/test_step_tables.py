"""Steps `ps_bundle`, `vocab_bin` and `tokenizer_bin`: what lies in the files, counted by hand."""

import struct

import numpy as np
import pytest
from tiny_model import (
    CONTROL,
    END_OF_TEXT,
    FIRST_PAD,
    MERGES,
    N_TOKENS,
    NORMAL,
    SPECIALS,
    UNUSED,
    USER_DEFINED,
    tokens,
    write_tiny,
)

from formats.byte_level import GLYPHS, INDEX_OF_BYTE, decode
from formats.gguf.value_types import ValueType
from pipeline.vocab_coverage import COMMON_HAN


def token_bytes(text, kind):
    return decode(text) if kind == NORMAL else text.encode()


def ids_of(merge):
    ids = {text: token_id for token_id, (text, _) in reversed(list(enumerate(tokens())))}
    left, right = merge.split(" ")
    return ids[left], ids[right], ids[left + right]


@pytest.fixture
def build(project):
    """Give a function that runs some steps on a model, and one that reads what they wrote."""

    def run(*steps, **model):
        write_tiny(project.gguf, **model)
        project.write_manifest(steps=list(steps))
        return project.run()

    run.project = project
    run.read = lambda name: (project.out / name).read_bytes()
    return run


def test_the_ps_bundle(build):
    outcome = build("ps_bundle").done()
    assert build.project.names() == [
        "build.json",
        "merge_table_u32.bin",
        "token_bytes.bin",
        "token_index.bin",
    ]
    index = np.frombuffer(
        build.read("token_index.bin"), [("offset", "<u4"), ("length", "<u2"), ("type", "<u2")]
    )
    data = build.read("token_bytes.bin")
    assert len(index) == N_TOKENS
    end = 0
    for row, (text, kind) in zip(index, tokens(), strict=True):
        assert row["offset"] == end
        end += int(row["length"])
        assert data[row["offset"] : end] == token_bytes(text, kind)
        assert row["type"] == kind
    assert end == len(data)
    table = np.frombuffer(build.read("merge_table_u32.bin"), "<u4").reshape(-1, 4)
    assert table.tolist() == [[*ids_of(merge), rank] for rank, merge in enumerate(MERGES)]
    assert outcome.lines[2].strip() == f"272 tokens of {len(data)} bytes, 6 merges"


@pytest.mark.parametrize("length", [300, 65535])
def test_long_tokens(build, length):
    rows = [*tokens()[:END_OF_TEXT], ("z" * length, NORMAL), *SPECIALS]
    build("ps_bundle", "vocab_bin", "tokenizer_bin", rows=rows).done()
    index = np.frombuffer(build.read("token_index.bin"), "<u4").reshape(-1, 2)
    assert index[END_OF_TEXT][1] & 0xFFFF == length


@pytest.mark.parametrize("step", ["ps_bundle", "vocab_bin"])
def test_a_token_too_long_is_refused_before_anything_is_written(build, step):
    rows = [*tokens()[:END_OF_TEXT], ("z" * 65536, NORMAL), *SPECIALS]
    line = build(step, rows=rows).refused(3)
    assert "[262]" in line
    assert "65536" in line
    assert build.project.names() == []


def test_vocab_bin(build):
    outcome = build("vocab_bin").done()
    data = build.read("vocab.bin")
    (count,) = struct.unpack_from("<I", data)
    assert count == FIRST_PAD
    at, stored = 4, []
    for token_id in range(count):
        found_id, length = struct.unpack_from("<IH", data, at)
        assert found_id == token_id
        stored.append(data[at + 6 : at + 6 + length])
        at += 6 + length
    assert at == len(data)
    for (text, kind), entry in zip(tokens(), stored, strict=False):
        if kind != NORMAL:
            assert entry == text.encode()
    assert stored[256:262] == [b"cd", b"ab", b"abc", "Ġa".encode(), b"hi", "Ġhi".encode()]
    assert [line.strip() for line in outcome.lines[2:5]] == [
        f"266 entries: 129 converted, 133 kept, 4 special; {len(data)} bytes",
        f"space Ġ: yes, newline Ċ: yes, common Chinese characters: 0 of 57, missing {COMMON_HAN}",
        "entries that contain 回答 0, 你好 0, Ġgood 0, Ċ 1",
    ]


def test_padding_never_matches_in_vocab_bin(build):
    build("vocab_bin").done()
    assert b"[PAD" not in build.read("vocab.bin")


def test_vocab_bin_is_said_not_to_be_exact(build):
    build("vocab_bin").done()
    (entry,) = build.project.recorded().values()
    assert "not BPE-exact" in entry["summary"]


@pytest.mark.parametrize("layout", ["documented", "loader"])
def test_tokenizer_bin_in_both_layouts(build, layout):
    outcome = build({"tokenizer_bin": {"layout": layout}}).done()
    data = build.read("tokenizer.bin")
    counts = struct.unpack_from("<IIII", data)
    assert counts[:2] == (N_TOKENS, len(MERGES))
    assert 4 in counts[2:]
    texts = b"".join(struct.pack("<I", len(text.encode())) + text.encode() for text, _ in tokens())
    assert texts in data
    pairs = b"".join(struct.pack("<II", *ids_of(merge)[:2]) for merge in MERGES)
    assert pairs in data
    assert outcome.lines[2].strip() == (
        f"layout {layout}: 272 strings, 6 merges, 4 added tokens; {len(data)} bytes"
    )
    (entry,) = build.project.recorded().values()
    assert entry["layout"] == "tokenizer_bin"


def test_the_layouts_of_tokenizer_bin_differ(build):
    build("tokenizer_bin").done()
    documented = build.read("tokenizer.bin")
    assert build.project.reasons("--set", "steps.tokenizer_bin.layout=loader") == {
        "tokenizer_bin": ['layout was "documented", is "loader"']
    }
    assert build.read("tokenizer.bin") != documented


@pytest.mark.parametrize("pre", ["gpt-2", "no such rule", None])
def test_tables_need_no_rule_of_the_pre_tokenizer(build, pre):
    """The bytes are the same whatever it is."""
    steps = ("ps_bundle", "vocab_bin", "tokenizer_bin")
    build(*steps).done()
    good = build.project.contents()
    build(*steps, changes={"tokenizer.ggml.pre": pre and (ValueType.STRING, pre)}).done()
    found = build.project.contents()
    assert found.pop("build.json") != good.pop("build.json")
    assert found == good


@pytest.mark.parametrize("step", ["tokenizer", "ps_bundle", "vocab_bin", "tokenizer_bin"])
@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("a b", NORMAL), "U+0020 in 'a b'"),
        (("é\u4e00", NORMAL), "U+4E00"),
        (("x", 6), "a type from 1 (normal) to 5 (unused)"),
        (("x", 0), "a type from 1 (normal) to 5 (unused)"),
        ((b"\xff", CONTROL), "text in UTF-8"),
        ((b"\xff", NORMAL), "text in UTF-8"),
    ],
    ids=lambda value: ascii(value[0]) if isinstance(value, tuple) else "",
)
def test_a_token_that_is_none(build, step, row, words):
    line = build(step, rows=[*tokens()[:END_OF_TEXT], row, *SPECIALS]).refused(3)
    assert words in line
    assert "[262]" in line
    assert build.project.names() == []


def test_added_and_unused_tokens_in_every_table(build):
    """Plain text by their types; only padding at the end is left out of vocab.bin."""
    rows = [*tokens()[:END_OF_TEXT], ("đem", USER_DEFINED), ("free", UNUSED), *SPECIALS]
    build("ps_bundle", "vocab_bin", "tokenizer_bin", rows=rows).done()
    for name in ("token_bytes.bin", "vocab.bin", "tokenizer.bin"):
        assert bytes.fromhex("c49165 6d") in build.read(name)
        assert b"free" in build.read(name)


def test_the_alphabet_that_these_tests_count_with():
    assert len(set(GLYPHS)) == 256
    assert sorted(INDEX_OF_BYTE) == list(range(256))
