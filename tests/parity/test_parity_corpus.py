"""The texts of a comparison: cutting files into samples, folders in order, and every refusal."""

import os
import random
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import PipelineError, UsageError
from pipeline.parity import corpus as module
from pipeline.parity.corpus import BUILT_IN, MOST, open_corpus


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def samples(path, unit="lines"):
    return [(sample.group, sample.number, sample.text) for sample in open_corpus(path, unit).samples()]


def texts(path, unit="lines"):
    return [text for _, _, text in samples(path, unit)]


@pytest.mark.parametrize(
    ("data", "lines", "blocks"),
    [
        ("a\nb\n", ["a", "b"], ["a\nb\n"]),
        ("a\nb", ["a", "b"], ["a\nb"]),
        ("a\r\nb\r\n", ["a", "b"], ["a\r\nb\r\n"]),
        ("a\n\nb\n", ["a", "b"], ["a\n\n", "b\n"]),
        ("\n\n a\n \t\n\nb\n\n", [" a", " \t", "b"], ["\n\n", " a\n \t\n\n", "b\n\n"]),
        ("a\u2028b\x85c\x0cd\x00", ["a\u2028b\x85c\x0cd\x00"], ["a\u2028b\x85c\x0cd\x00"]),
        ("\ufeffa", ["\ufeffa"], ["\ufeffa"]),
        ("  ", ["  "], ["  "]),
    ],
)
def test_samples_of_a_file(tmp_path, data, lines, blocks):
    path = write(tmp_path / "t.txt", data)
    assert samples(path) == [("t.txt", number, text) for number, text in enumerate(lines, 1)]
    assert texts(path, "blocks") == blocks


@given(text=st.text(st.sampled_from("ab \n\r\té中"), min_size=1, max_size=60))
def test_blocks_joined_are_the_file(tmp_path_factory, text):
    path = write(tmp_path_factory.mktemp("blocks") / "t", text)
    found = texts(path, "blocks")
    assert "".join(found) == text
    for block in found[:-1]:
        assert block.endswith("\n")
        assert not block.split("\n")[-2].strip()


@pytest.mark.parametrize("unit", ["lines", "blocks"])
def test_long_lines_are_cut_between_characters(tmp_path, unit):
    text = "中" * 100_000 + "\n" + "x" * MOST + "\n" + "é" * 40_000
    path = write(tmp_path / "t", text)
    found = texts(path, unit)
    assert max(len(sample.encode()) for sample in found) <= MOST
    joined = "".join(found)
    assert joined == (text if unit == "blocks" else text.replace("\n", ""))
    assert len(found) < 35


def test_memory_stays_bounded(tmp_path):
    """A file of one line and a file of many: neither is held as a whole."""
    line = write(tmp_path / "line", b"ab" * (1 << 18))
    many = write(tmp_path / "many", b"some words in a line\n" * 27_000)
    for path in (line, many):
        for unit in ("lines", "blocks"):
            tracemalloc.start()
            size = sum(len(sample.text) for sample in open_corpus(path, unit).samples())
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert size >= 1 << 19
            assert peak < 1 << 18


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path):
    names = ["b.txt", "a/z", "a.txt", "B", "a b", "ä", "a/ü/1", "-x", "empty"]
    for name in names:
        write(tmp_path / "c" / name, "" if name == "empty" else name)
    write(tmp_path / "c" / ".git" / "x", b"\xff")
    write(tmp_path / "c" / ".hidden", b"\xff")
    (tmp_path / "c" / "broken link").symlink_to("nowhere")
    (tmp_path / "c" / "link").symlink_to("B")
    (tmp_path / "c" / "loop").symlink_to(".")
    found = open_corpus(tmp_path / "c")
    assert found.name == "c"
    assert found.groups == sorted([*names, "link"], key=str.encode)
    assert [(sample.group, sample.text) for sample in found.samples() if sample.group != "link"] == [
        (name, name) for name in sorted(names, key=str.encode) if name != "empty"
    ]


def test_odd_names(tmp_path):
    os.mkdir(os.fsencode(tmp_path) + b"/c\xff")  # noqa: PTH102
    for name in (b"\xff\xfe", b"a\nb", b"x\x1b[31m", b'"'):
        with open(os.fsencode(tmp_path) + b"/c\xff/" + name, "wb") as file:  # noqa: PTH123
            file.write(b"text")
    (folder,) = list(tmp_path.iterdir())
    assert [os.fsencode(name) for name in open_corpus(folder).groups] == [
        b'"', b"a\nb", b"x\x1b[31m", b"\xff\xfe",
    ]  # fmt: skip


def refusal(path, unit="lines"):
    with pytest.raises(PipelineError) as caught:
        list(open_corpus(path, unit).samples())
    line = str(caught.value)
    assert line.isprintable()
    return type(caught.value), line


@pytest.mark.parametrize(
    ("data", "offset", "found"),
    [
        (b"\xff\xfea\x00", 0, "ff fe 61 00"),
        (b"good\nbad \xc3(\n", 9, "c3 28 0a"),
        ("é\n".encode() * 50_000 + b"\x80", 150_000, "80"),
        (b"x" * (3 * MOST) + b"\xed\xa0\x80", 3 * MOST, "ed a0 80"),
        (("中" * 50_000).encode() + b"\xe4\xb8", 150_000, "e4 b8"),
        (b"\x89PNG\r\n\x1a\n", 0, "89 50 4e 47"),
    ],
    ids=["utf-16", "latin-1", "late", "long line", "cut", "png"],
)
def test_what_is_not_utf8_is_named_with_its_offset(tmp_path, data, offset, found):
    path = write(tmp_path / "t", data)
    for unit in ("lines", "blocks"):
        place = f"{path}: byte 0x{offset:X} ({offset})"
        line = f"{place}: expected text in UTF-8, found bytes {found}; leave the file out of the corpus, or convert it"
        assert refusal(path, unit) == (UsageError, line)


def test_nothing_to_read(tmp_path):
    assert refusal(tmp_path / "none") == (UsageError, f"{tmp_path / 'none'}: there is no such file or folder")
    (tmp_path / "folder").mkdir()
    expected = f"{tmp_path / 'folder'}: expected text files in it, found none"
    assert refusal(tmp_path / "folder") == (UsageError, expected)
    for data in (b"", b"\n\r\n\n"):
        write(tmp_path / "empty" / "t", data)
        expected = "empty: expected text to compare, found none; name another corpus"
        assert refusal(tmp_path / "empty") == (UsageError, expected)


def test_what_is_no_file(tmp_path, no_hang):
    os.mkfifo(tmp_path / "pipe")
    assert "expected a file, found a device, pipe or socket" in refusal(tmp_path / "pipe")[1]
    assert "expected a file, found a device, pipe or socket" in refusal(tmp_path)[1]
    assert "expected a file, found a device, pipe or socket" in refusal(Path("/dev/zero"))[1]


def test_what_vanishes_meanwhile(tmp_path):
    path = write(tmp_path / "t", "text")
    found = open_corpus(path)
    path.unlink()
    with pytest.raises(PipelineError, match="vanished while it was being read"):
        list(found.samples())


def test_the_built_in_texts():
    found = open_corpus(None)
    assert (found.name, found.unit) == (BUILT_IN, None)
    assert {"english", "chinese", "code", "mixed", "chat", "fifteen", "unusual"} < set(found.groups)
    held = {}
    for sample in found.samples():
        held.setdefault(sample.group, []).append(sample.text)
    assert set(held) == set(found.groups)
    assert len(held["fifteen"]) == 15
    assert any("\n\t" in text for text in held["code"])
    assert any("<|im_start|>" in text for text in held["chat"])
    assert found.size == sum(file.path.stat().st_size for file in found.files)
    for name, parts in held.items():
        assert ("\n" in parts[0]) == (name in module._IN_BLOCKS), name


def test_a_random_file_is_refused_or_read_whole(tmp_path):
    chance = random.Random(7)
    for _ in range(200):
        data = bytes(chance.choices([0x61, 0x0A, 0xC3, 0xA9, 0x20], k=chance.randint(1, 40)))
        path = write(tmp_path / "t", data)
        wrong = first_wrong(data)
        if wrong is None:
            assert "".join(texts(path, "blocks")) == data.decode()
        else:
            assert f"({wrong})" in refusal(path, "blocks")[1]


def first_wrong(data):
    """Tell the offset of the first byte that is no UTF-8, or None."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None
