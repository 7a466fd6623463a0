"""The exported Kaitai descriptions: they compile, and the parsers read our files as we do."""

import numpy as np
import pytest
from format_files import real_file, small_files
from kaitai_parsers import compile_all, parsers
from small_vocabulary import CONTROL, grown

from formats.byte_strings import ByteStrings
from formats.catalog import BY_NAME, FORMATS
from formats.layout import Lines, Placed, Record
from formats.layout.tree import Gap, Group, Items, Leaf, Strings
from formats.layout.walk import walk
from formats.ps_bundle import MERGE_RECORD, TOKEN_INDEX_RECORD
from formats.q25tokrt.layout import Profile

kaitaistruct = pytest.importorskip("kaitaistruct")

IN_THE_IMAGE = {"token_index": TOKEN_INDEX_RECORD, "merge_table_u32": MERGE_RECORD}
"""Tables that an image holds whole: by themselves their first rows will do."""
by_format = pytest.mark.parametrize("name", BY_NAME)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    return parsers(tmp_path_factory.mktemp("kaitai"))


def assert_same(part, found, data):
    """Hold what a Kaitai parser read to what the walk read, field by field; tables by columns."""
    if isinstance(part, Leaf):
        value = bytes(part.value) if isinstance(part.value, memoryview) else part.value
        assert same(number(found), value), part.path
    elif (isinstance(part, Group) and part.record is None) or (isinstance(part, Items) and placed(part)):
        inner = part.items if isinstance(part, Items) else [p for p in part.parts if not isinstance(p, Gap)]
        assert len(found) == len(inner), part.path
        for known, other in zip(inner, found, strict=True):
            assert_same(known, getattr(other.body, "rows", other.body), data)
    elif isinstance(part, Group):
        assert [inner.path.rpartition(".")[2] for inner in part.parts if not isinstance(inner, Gap)] == [
            field.name for field in part.record.fields
        ]
        for inner, field in zip(part.parts, part.record.fields, strict=True):
            assert_same(inner, getattr(found, field.name), data)
    elif isinstance(part, Items):
        assert len(found) == part.count, part.path
        for index in range(part.count):
            assert_same(part.row(index), found[index], data)
    else:
        assert len(found) == part.count, part.path
        assert_columns(part, found, data)


def assert_columns(part, found, data):
    if isinstance(part.layout, Lines):
        assert found == [bytes(line) for line in part], part.path
    elif not isinstance(part.layout, Record):
        assert all(map(same, map(number, found), part.columns.tolist())), part.path
    else:
        for name in part.columns.dtype.names:
            column = [cell(getattr(row, name)) for row in found]
            assert column == part.columns[name].tolist(), f"{part.path}[].{name}"
        if isinstance(part, Strings):
            name = part.layout.fields[-1].name
            file = np.frombuffer(data, dtype=np.uint8)
            strings = ByteStrings(file, part.starts, part.lengths)
            assert [getattr(row, name) for row in found] == list(strings), part.path


def placed(part):
    return isinstance(part.field.subcon, Placed)


def number(value):
    """Give the number of an enumeration's member; any other value as it is."""
    return getattr(value, "value", value)


def cell(value):
    """Give a value as numpy lists it in a column."""
    return list(value) if isinstance(value, bytes) else number(value)


def same(one, other):
    return one == other or (one != one and other != other)  # not a number equals itself here


@by_format
def test_a_small_file_is_read_alike(name, compiled, tmp_path):
    data = small_files(tmp_path)[name]
    found = walk(BY_NAME[name].layout, data, name)
    assert found.faults == []
    assert_same(found.root, compiled[name].from_bytes(data), data)


@by_format
def test_a_real_file_is_read_alike(name, compiled):
    data = real_file(name)
    if name in IN_THE_IMAGE:
        data = data[: IN_THE_IMAGE[name].size * 20_000]
    found = walk(BY_NAME[name].layout, data, name)
    assert found.faults == []
    assert_same(found.root, compiled[name].from_bytes(data), data)


@pytest.mark.parametrize("profile", [known for known in Profile if known is not Profile.STANDARD])
def test_images_of_other_profiles_are_read_alike(profile, compiled):
    data = grown("a|b", "ab|c", added=[("<s>", CONTROL)], pads=2).image(profile=profile)
    found = walk(BY_NAME["q25tokrt"].layout, data, "image")
    assert found.faults == []
    assert_same(found.root, compiled["q25tokrt"].from_bytes(data), data)


# Of the larger ones the first has the vocabulary of the real file above.
@pytest.mark.parametrize(
    "name",
    ["gpt-2", "bert-bge", *(pytest.param(name, marks=pytest.mark.long) for name in ("qwen2", "llama-spm"))],
)
def test_a_gguf_that_others_wrote_is_read_alike(name, compiled, shared):
    data = (shared / "gguf" / f"ggml-vocab-{name}.gguf").read_bytes()
    found = walk(BY_NAME["gguf"].layout, data, name)
    assert found.faults == []
    assert_same(found.root, compiled["gguf"].from_bytes(data), data)


def test_the_comparison_sees_a_difference(compiled, tmp_path):
    data = bytearray(small_files(tmp_path)["q25tokrt"])
    found = walk(BY_NAME["q25tokrt"].layout, bytes(data), "image")
    data[found.root["directory"][2]["offset"] + 5] ^= 1
    with pytest.raises(AssertionError, match=r"sections\.merge_table\[\]\.right_id"):
        assert_same(found.root, compiled["q25tokrt"].from_bytes(bytes(data)), data)


@pytest.mark.parametrize(
    ("name", "at", "what"),
    [
        ("q25tokrt", 0, "ValidationNotEqualError"),
        ("q25tokrt", 8, "ValidationNotEqualError"),
        ("q25tokrt", 52, ""),
    ],
)
def test_the_rules_are_in_the_description(name, at, what, compiled, tmp_path):
    data = bytearray(small_files(tmp_path)[name])
    data[at] = 0xEE
    with pytest.raises(kaitaistruct.ValidationFailedError) as caught:
        compiled[name].from_bytes(bytes(data))
    assert what in type(caught.value).__name__


LANGUAGES = ("java", "rust", "go", "javascript", "csharp")


def test_other_languages(tmp_path):
    """Texts have one form: one of them stands for all."""
    texts = [known for known in FORMATS if known.is_text]
    formats = [known for known in FORMATS if known not in texts[1:]]
    compile_all(LANGUAGES, tmp_path, formats)
    for language in LANGUAGES:
        assert len(list((tmp_path / language).iterdir())) >= len(formats), language


def test_c_plus_plus(tmp_path):
    """There Kaitai has no type for a value that may be a number or a record, as a GGUF's."""
    formats = [known for known in FORMATS if known.name != "gguf" and not known.is_text]
    compile_all(["cpp_stl"], tmp_path, formats)
    assert len(list((tmp_path / "cpp_stl").iterdir())) >= 2 * len(formats)
