"""Reading as far as it goes: the same values as construct's, every byte in one part, and why it stops."""

import pytest
from format_files import small_files

from formats.catalog import BY_NAME
from formats.layout import Blob, Counted, Field, FileLayout, Record, between, u8, u16
from formats.layout.tree import Gap, Group, Items, Leaf, Rest, Rows, Strings
from formats.layout.walk import walk


def plain(part):
    """Turn a part into the plain values that construct gives."""
    if isinstance(part, Leaf):
        return bytes(part.value) if isinstance(part.value, memoryview) else part.value
    if isinstance(part, Group):
        inner = [found for found in part.parts if not isinstance(found, (Gap, Rest))]
        if part.record is None:
            return [plain(found) for found in inner]
        return {found.path.rpartition(".")[2]: plain(found) for found in inner}
    return [plain(part.row(index)) for index in range(part.count)]


def values(parsed):
    """Turn what construct parsed into plain values."""
    if isinstance(parsed, dict):
        return {name: values(value) for name, value in parsed.items() if not name.startswith("_")}
    return [values(value) for value in parsed] if isinstance(parsed, list) else parsed


def leaves(part):
    """List (offset, end) of every leaf, gap and rest, in the file's order."""
    if isinstance(part, Group):
        inner = part.parts
    elif isinstance(part, Items):
        inner = sorted([*part.items, *part.gaps], key=lambda found: (found.offset, found.end))
    elif isinstance(part, (Rows, Strings)):
        inner = [part.row(index) for index in range(part.count)]
    else:
        return [(part.offset, part.end)]
    return [bounds for found in inner for bounds in leaves(found)]


def assert_covered(found, size):
    """Require that the parts are the file, each byte once."""
    at = 0
    for offset, end in leaves(found.root):
        assert offset == at
        assert end >= offset
        at = end
    assert at == size


@pytest.mark.parametrize("name", BY_NAME)
def test_a_whole_file_has_the_values_that_construct_reads(name, tmp_path):
    data = small_files(tmp_path)[name]
    layout = BY_NAME[name].layout
    found = walk(layout, data, "f")
    assert found.faults == []
    assert plain(found.root) == values(layout.parse(data))
    assert_covered(found, len(data))


@pytest.mark.parametrize("name", BY_NAME)
def test_a_file_cut_anywhere_is_read_up_to_there(name, tmp_path):
    data = small_files(tmp_path)[name]
    layout = BY_NAME[name].layout
    n_parts = len(leaves(walk(layout, data).root))
    for size in sorted({*range(min(len(data), 500)), *range(0, len(data), max(len(data) // 100, 1))}):
        found = walk(layout, data[:size], "f")
        assert_covered(found, size)
        assert len(leaves(found.root)) <= n_parts + 1
        if found.stop is not None:
            assert found.stop.offset <= size


# struct entry { uint8_t kind; uint8_t n; char text[n]; };
ENTRY = Record(
    "entry",
    "A text.",
    Field("kind", u8, "its kind", rule=between(1, 3)),
    Field("n", u8, "length"),
    Field("text", Blob("n"), "the text"),
)
FILE = FileLayout(
    "file",
    "Texts and numbers.",
    Field("n", u8, "entries"),
    Field("entries", Counted("n", ENTRY), "the entries"),
    Field("sums", Counted(2, u16), "sums", rule=between(0, 9)),
    file_name="x",
)
HEX = "02  01 02 61 62  03 00  05 00 06 00"


@pytest.mark.parametrize(
    ("data", "lines", "rest"),
    [
        ("", ["f: n at offset 0x0 (0): expected 1 bytes, found 0 bytes before the end"], 0),
        (
            "02 01",
            ["f: entries[0] at offset 0x1 (1): expected 2 bytes or more, found 1 bytes before the end"],
            1,
        ),
        (
            "02 01 05 61",
            ["f: entries[0].text at offset 0x3 (3): expected 5 bytes, found 1 bytes before the end"],
            3,
        ),
        (
            "02 01 02 61 62 03 00 05 00 06",
            ["f: sums[1] at offset 0x9 (9): expected 2 bytes, found 1 bytes before the end"],
            1,
        ),
        (HEX + "07", ["f: offset 0xB (11): expected the end of the file, found 1 bytes more"], 1),
        (
            "03  00 00  04 00  05 00  0A 00 00 00",
            [
                "f: entries[0].kind at offset 0x1 (1): expected 1 to 3, found 0, and 2 rows more break this rule",
                "f: sums[0] at offset 0x7 (7): expected 0 to 9, found 10",
            ],
            0,
        ),
    ],
)
def test_why_reading_stops_and_what_breaks_its_rule(data, lines, rest):
    data = bytes.fromhex(data)
    found = walk(FILE, data, "f")
    assert [str(fault) for fault in found.faults] == lines
    assert sum(part.size for part in found.root.parts if isinstance(part, Rest)) == rest
    assert_covered(found, len(data))


def test_a_worked_example():
    found = walk(FILE, bytes.fromhex(HEX), "f")
    assert found.faults == []
    entries = found.root.part("entries")
    assert isinstance(entries, Strings)
    assert (entries.offset, entries.size, entries.count) == (1, 6, 2)
    assert entries.bounds(1) == (5, 7)
    assert [bytes(entries[row]["text"]) for row in range(2)] == [b"ab", b""]
    sums = found.root.part("sums")
    assert isinstance(sums, Rows)
    assert (list(sums), sums.row(1).path, sums.row(1).offset) == ([5, 6], "sums[1]", 9)
    with pytest.raises(IndexError):
        sums.row(2)
