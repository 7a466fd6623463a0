"""Every byte of every artifact is in exactly one row, whole or damaged."""

import pytest
from command_line import call
from dump_rows import assert_covers, dump
from format_files import real_file, small_files
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.catalog import BY_NAME, FORMATS
from formats.layout.walk import walk
from pipeline.dump.paths import Selection
from pipeline.dump.rows import Row, RowMaker

by_format = pytest.mark.parametrize("name", BY_NAME)
TEXTS = [known.name for known in FORMATS if known.is_text]
"""Their layouts differ in nothing but their names."""


def rows_of(name, data, **options):
    """Give the rows of a file, and what the walk objects to."""
    found = walk(BY_NAME[name].layout, data, "f")
    maker = RowMaker(found, memoryview(data), **options)
    rows = [row for row in maker.rows(Selection(found.root)) if isinstance(row, Row)]
    return [{"offset": row.offset, "size": row.size} for row in rows], found


def test_every_artifact_and_the_gguf(built):
    paths = [path for path in built.out.rglob("*") if path.is_file() and ".pipeline" not in path.parts]
    assert len(paths) > 15
    for path in [*paths, built.gguf]:
        for arguments in ((), ("--all",)):
            assert_covers(dump(path, *arguments), path.stat().st_size)


@by_format
def test_a_real_file(name):
    data = real_file(name)
    rows, found = rows_of(name, data)
    assert_covers(rows, len(data))
    assert found.faults == []


@pytest.mark.parametrize("name", ["qwen2", "gpt-2", "llama-spm", "bert-bge"])
def test_a_gguf_that_others_wrote(name, shared):
    path = shared / "gguf" / f"ggml-vocab-{name}.gguf"
    assert_covers(dump(path), path.stat().st_size)


@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in TEXTS[1:]])
@settings(max_examples=60)
@given(data=st.data())
def test_damaged_bytes(name, data, tmp_path_factory):
    raw = bytearray(small_files(tmp_path_factory.getbasetemp())[name])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(len(raw) - 1, 0)))
        match data.draw(st.sampled_from(["set", "cut", "insert", "more"])):
            case "set" if raw:
                raw[at : at + 4] = data.draw(st.binary(min_size=1, max_size=4))
            case "cut":
                del raw[at:]
            case "insert":
                raw[at:at] = data.draw(st.binary(max_size=9))
            case _:
                raw += data.draw(st.binary(max_size=9))
    for whole in (False, True):
        rows, found = rows_of(name, bytes(raw), whole=whole)
        assert_covers(rows, len(raw))
        assert all("\n" not in str(fault) for fault in found.faults)


def test_hostile_gguf_files(shared, tmp_path):
    paths = sorted((shared / "cases" / "hostile_gguf").glob("*.gguf"))
    assert len(paths) > 20
    for path in paths:
        outcome = call("dump", path, "--json")
        assert outcome.code in (0, 1), path
        assert "Traceback" not in outcome.err
        assert_covers(outcome.objects, path.stat().st_size)
        assert outcome.out.isascii()
        text = call("dump", path)
        assert all(line.isprintable() for line in text.lines), path
        assert (text.code, text.err) == (outcome.code, outcome.err)
