"""What the reader offers: typed values, places for messages, tensors, views that outlive it."""

import gc
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hostile import BOOL, F32, I32, STRING, U8, U16, U32, U64, array, info, model, number, one, pair, text

from formats.errors import FormatError
from formats.gguf import BOOL as A_BOOL
from formats.gguf import BYTES, INT, INTS, STR, STRINGS, GgufFile, ValueType, mapping

BADLY_MADE = "; the file is damaged or badly made: fetch it or convert the model again"
PAIRS = [
    pair(b"n.u8", U8, b"\5"),
    pair(b"n.i32", I32, number(2**32 - 7, 4)),
    pair(b"b", BOOL, b"\1"),
    pair(b"f", F32, bytes.fromhex("0000003F")),
    pair(b"s", STRING, text("é".encode())),
    pair(b"raw", STRING, text(b"a\xffb")),
    array(b"strings", STRING, 3, text(b"x") + text(b"") + text(b"\xe5\xb0")),
    array(b"ints", U16, 2, number(1, 2) + number(65535, 2)),
    array(b"wide", U64, 2, number(1) + number(2**63)),
    array(b"none", I32, 0),
    array(b"bools", BOOL, 2, b"\1\0"),
]


@pytest.fixture
def small():
    with GgufFile(model(PAIRS), "x.gguf") as opened:
        yield opened


def refusal(call, *args):
    with pytest.raises(FormatError) as caught:
        call(*args)
    return str(caught.value)


def test_values_of_the_expected_kind(small):
    assert small.require("n.u8", INT) == 5
    assert small.require("n.i32", INT) == -7
    assert small.require("b", A_BOOL) is True
    assert small.require("s", STR) == "é"
    assert small.require("s", BYTES) == b"\xc3\xa9"
    assert small.require("raw", BYTES) == b"a\xffb"
    assert list(small.require("strings", STRINGS)) == [b"x", b"", b"\xe5\xb0"]
    ints = small.require("ints", INTS)
    assert (ints.tolist(), ints.dtype) == ([1, 65535], np.int64)
    assert small.require("none", INTS).tolist() == []
    assert small.get("s", STR) == "é"
    assert small.get("missing", STR) is None
    assert small.key_values["f"].value == 0.5
    assert small.key_values["bools"].value.tolist() == [True, False]


@pytest.mark.parametrize(
    ("key", "kind", "message"),
    [
        (
            "missing",
            STR,
            (
                "x.gguf: expected the key 'missing' with a string, found no such key; "
                "the file is no such model, or its converter left the key out"
            ),
        ),
        ("s", INT, "x.gguf: key 's' at offset 0x8A (138): expected an integer, found string"),
        ("b", INT, "x.gguf: key 'b' at offset 0x6B (107): expected an integer, found bool"),
        ("n.u8", A_BOOL, "x.gguf: key 'n.u8' at offset 0x45 (69): expected a bool, found u8"),
        (
            "ints",
            STRINGS,
            ("x.gguf: key 'ints' at offset 0xF5 (245): expected an array of strings, found array of u16"),
        ),
        (
            "strings",
            INTS,
            (
                "x.gguf: key 'strings' at offset 0xBB (187): expected an array of integers, "
                "found array of string"
            ),
        ),
        (
            "bools",
            INTS,
            ("x.gguf: key 'bools' at offset 0x15D (349): expected an array of integers, found array of bool"),
        ),
        (
            "raw",
            STR,
            (
                "x.gguf: key 'raw'.text at offset 0xB8 (184): expected text in UTF-8, "
                "found bytes 61 ff 62 (byte 1 does not fit)"
            ),
        ),
        (
            "wide",
            INTS,
            (
                "x.gguf: key 'wide'[1] at offset 0x139 (313): expected an integer below 2^63, "
                "found 9223372036854775808"
            ),
        ),
    ],
)
def test_another_kind_is_refused_by_its_key(small, key, kind, message):
    message = message if "; " in message else message + BADLY_MADE
    assert refusal(small.require, key, kind) == message
    if key != "missing":
        assert refusal(small.get, key, kind) == message


def test_values_say_where_they_lie(small):
    value = small.key_values["strings"]
    assert (value.type, value.element_type, value.count) == (ValueType.ARRAY, ValueType.STRING, 3)
    assert value.type_label == "array of string"
    assert (value.offset, value.size) == (187 + 15 + 16, 27)
    assert str(value.element(2).error("a", "b")).startswith("x.gguf: key 'strings'[2] at offset 0xEB (235)")
    assert value.element(2).offset == value.offset + 17
    assert small.key_values["ints"].element(1).offset == small.key_values["ints"].offset + 2
    one_number = small.key_values["n.i32"]
    assert (one_number.type_label, one_number.count, one_number.size) == ("i32", 1, 4)
    assert (small.key_values["raw"].offset, small.key_values["raw"].size) == (184, 3)


def test_key_values_are_a_mapping_that_does_not_change(small):
    assert list(small.key_values)[:3] == ["general.architecture", "n.u8", "n.i32"]
    with pytest.raises(TypeError):
        small.key_values["n.u8"] = None


def test_views_cannot_be_written():
    with GgufFile(bytearray(model(PAIRS))) as opened:
        with pytest.raises(ValueError, match="read-only"):
            opened.key_values["ints"].value[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            opened.key_values["strings"].value.data[0] = 1


def test_a_tensor_of_unknown_type_has_no_bytes():
    with GgufFile(one(kind=99), "x.gguf") as opened:
        (tensor,) = opened.tensors
        assert (tensor.type, tensor.size, tensor.n_elements) == (None, None, 8)
        assert refusal(opened.data_of, tensor) == (
            "x.gguf: tensor 'a' at offset 0x45 (69): expected a tensor type of known size, "
            "found unknown type 99; convert the model to a type that is known"
        )


def test_a_tensor_says_where_it_lies():
    with GgufFile(
        model([], [info(b"a", (1,)), info(b"b", (8, 1), offset=32)], 64)[:-8] + b"\7" * 8
    ) as opened:
        first, second = opened.tensors
        assert (first.offset, first.absolute_offset, first.entry_offset) == (0, 160, 69)
        assert (second.offset, second.absolute_offset, second.entry_offset) == (32, 192, 102)
        assert bytes(opened.data_of(second)) == bytes(24) + b"\7" * 8
        assert (second.type.block_elements, second.type.block_bytes) == (1, 4)


def test_closing_gives_the_file_back(tmp_path):
    path = tmp_path / "a.gguf"
    path.write_bytes(model(PAIRS))
    with GgufFile.open(path) as opened:
        value = opened.key_values["s"]
        kept = opened.key_values["ints"].value
        strings = opened.key_values["strings"].value
    with GgufFile.open(path) as second:
        gone = second.key_values["s"]
    # Views that were handed out stay; values that were not asked for are gone.
    assert kept.tolist() == [1, 65535]
    assert strings[2] == b"\xe5\xb0"
    for late in (value, gone):
        with pytest.raises(ValueError, match="released memoryview"):
            late.value  # noqa: B018


def test_a_refused_file_is_not_kept_open(tmp_path):
    path = tmp_path / "a.gguf"
    path.write_bytes(model([array(b"k", BOOL, 2, b"\1\2")]))
    errors = []
    for _ in range(5):
        with pytest.raises(FormatError) as caught:
            GgufFile.open(path)
        errors.append(caught.value)
    maps = Path("/proc/self/maps")
    if maps.exists():
        assert str(path) not in maps.read_text()
    path.unlink()
    assert {str(error) for error in errors} == {
        f"{path}: key 'k'[1] at offset 0x5F (95): expected a bool, 0 or 1, found 2{BADLY_MADE}"
    }


def test_paths_that_are_no_files(tmp_path):
    (tmp_path / "empty.gguf").touch()
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        for name, expected, found in (
            ("empty.gguf", "a GGUF file", "an empty file; fetch it again"),
            (".", "a regular file", "a folder; name the GGUF file itself"),
            ("pipe", "a regular file", "a named pipe; name the GGUF file itself"),
            ("socket", "a regular file", "a socket; name the GGUF file itself"),
        ):
            path = tmp_path / name
            assert refusal(GgufFile.open, path) == f"{path}: expected {expected}, found {found}"
    assert refusal(GgufFile.open, "/dev/zero") == (
        "/dev/zero: expected a regular file, found a device; name the GGUF file itself"
    )
    with pytest.raises(FileNotFoundError):
        GgufFile.open(tmp_path / "missing.gguf")


def test_a_pipe_that_takes_the_file_s_place_is_not_waited_for(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    check, modes = mapping._check_regular, []

    def first_look_passes(mode, path):
        modes.append(mode)
        if len(modes) > 1:
            check(mode, path)

    monkeypatch.setattr(mapping, "_check_regular", first_look_passes)
    assert "expected a regular file, found a named pipe" in refusal(GgufFile.open, tmp_path / "pipe")
    assert len(modes) == 2


@pytest.mark.parametrize(
    ("name", "pairs", "others"),
    [
        (
            "dir/m-00002-of-00003.gguf",
            [pair(b"split.no", U16, number(1, 2)), pair(b"split.count", U16, number(3, 2))],
            "found part 2 of 3; the other parts are m-00001-of-00003.gguf, m-00003-of-00003.gguf: ",
        ),
        (
            r"C:\models\m-00001-of-00009.gguf",
            [pair(b"split.count", U32, number(9, 4)), pair(b"split.no", U32, number(0, 4))],
            (
                "found part 1 of 9; the other parts are m-00002-of-00009.gguf, m-00003-of-00009.gguf, "
                "m-00004-of-00009.gguf, m-00005-of-00009.gguf and 4 more: "
            ),
        ),
        (
            "sha256-00",
            [pair(b"split.no", U16, number(6, 2)), pair(b"split.count", U16, number(8, 2))],
            (
                "found part 7 of 8; the other parts are split.no 0, split.no 1, split.no 2, split.no 3 "
                "and 3 more: "
            ),
        ),
        (
            "m-00001-of-00002.gguf",
            [pair(b"split.count", U16, number(2, 2))],
            "found one of 2 parts; the other parts are m-00001-of-00002.gguf, m-00002-of-00002.gguf: ",
        ),
    ],
)
def test_a_part_alone_is_refused_with_the_names_of_the_others(name, pairs, others):
    message = refusal(GgufFile, model(pairs), name)
    assert "expected a whole model in one file, " + others in message
    assert message.endswith("join them with llama-gguf-split --merge")


def test_the_reader_does_without_the_gguf_package():
    code = "import sys, formats.gguf; print('gguf' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


def test_nothing_is_left_behind():
    gc.collect()
    data = model(PAIRS)
    with GgufFile(data) as opened:
        opened.require("strings", STRINGS)
    # The buffer has no views left: a bytearray could be resized again.
    buffer = bytearray(data)
    with GgufFile(buffer) as opened:
        assert opened.require("n.u8", INT) == 5
    buffer.append(0)
    assert len(buffer) == len(data) + 1
