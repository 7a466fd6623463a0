"""The exported Kaitai descriptions: they compile, and the parsers read our files as we do."""

import pytest
from kaitai_parsers import compile_all, parsers
from schema_files import real_files, small_files

from formats.catalog import BY_NAME, FORMATS
from formats.layout import Choice, Counted, Field, Placed, Record, ToEnd

kaitaistruct = pytest.importorskip("kaitaistruct")

by_format = pytest.mark.parametrize("name", BY_NAME)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    return parsers(tmp_path_factory.mktemp("kaitai"))


def assert_same(layout, found, expected, path, entries=()):
    """Hold what a Kaitai parser read to what construct read, field by field."""
    if isinstance(layout, Field):
        assert_same(layout.subcon, found, expected, path)
    elif isinstance(layout, Record):
        for field in layout.fields:
            placed = field.subcon if isinstance(field.subcon, Placed) else None
            inner = expected[placed.entries] if placed else ()
            assert_same(
                field.subcon, getattr(found, field.name), expected[field.name], f"{path}.{field.name}", inner
            )
    elif isinstance(layout, Placed):
        assert len(found) == len(expected) == len(entries)
        for row, (part, value, entry) in enumerate(zip(found, expected, entries, strict=True)):
            case = layout.cases.get(entry[layout.kind_field]) if layout.kind_field else None
            body = part.body.rows if isinstance(case, Counted) else part.body
            assert_same(case, body, value, f"{path}[{row}]")
    elif isinstance(layout, (Counted, ToEnd)):
        if isinstance(layout.subcon, (Record, Choice)):
            assert len(found) == len(expected)
            for row, (element, value) in enumerate(zip(found, expected, strict=True)):
                assert_same(layout.subcon, element, value, f"{path}[{row}]")
        else:
            assert list(found) == list(expected), path
    elif isinstance(expected, dict):
        assert_same(record_of(layout, expected), found, expected, path)
    else:
        number = getattr(found, "value", found)  # an enumeration's member
        assert number == expected or (number != number and expected != expected), path


def record_of(choice, value):
    """Find the case that a value was read by."""
    names = {name for name in value if not name.startswith("_")}
    return next(
        case
        for case in choice.cases.values()
        if isinstance(case, Record) and {field.name for field in case.fields} == names
    )


@by_format
def test_a_small_file_is_read_alike(name, compiled, tmp_path):
    data = small_files(tmp_path)[name]
    layout = BY_NAME[name].layout
    assert_same(layout, compiled[name].from_bytes(data), layout.parse(data), name)


@pytest.mark.long
@by_format
def test_a_real_file_is_read_alike(name, compiled):
    data = real_files()[name]
    layout = BY_NAME[name].layout
    assert_same(layout, compiled[name].from_bytes(data), layout.parse(data), name)


@pytest.mark.long
@pytest.mark.parametrize("name", ["qwen2", "gpt-2", "llama-spm", "bert-bge"])
def test_a_gguf_that_others_wrote_is_read_alike(name, compiled, shared):
    data = (shared / "gguf" / f"ggml-vocab-{name}.gguf").read_bytes()
    layout = BY_NAME["gguf"].layout
    assert_same(layout, compiled["gguf"].from_bytes(data), layout.parse(data), name)


def test_the_comparison_sees_a_difference(compiled, tmp_path):
    data = bytearray(small_files(tmp_path)["q25tokrt"])
    layout = BY_NAME["q25tokrt"].layout
    expected = layout.parse(bytes(data))
    data[expected.directory[2].offset + 5] ^= 1
    with pytest.raises(AssertionError, match=r"sections\[2\]\[0\]\.right_id"):
        assert_same(layout, compiled["q25tokrt"].from_bytes(bytes(data)), expected, "q25tokrt")


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


@pytest.mark.parametrize("language", ["java", "rust", "go", "javascript", "csharp", "cpp_stl"])
def test_other_languages(language, tmp_path):
    # In C++ Kaitai has no type for a value that may be a number or a record, as a GGUF's.
    formats = [known for known in FORMATS if language != "cpp_stl" or known.name != "gguf"]
    compile_all(language, tmp_path, formats)
    made = [path for path in tmp_path.iterdir() if path.suffix != ".json"]
    assert len(made) >= len(formats)
