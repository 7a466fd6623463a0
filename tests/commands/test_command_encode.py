"""`encode` and `decode`: text from anywhere, ids from anywhere, and what is wrong with them in one line.

Every test runs with both engines, which must say the same.
"""

import os
import re

import command_line
import pytest
from required_tools import need
from tiny_model import END_OF_TEXT, FIRST_PAD, IM_END, IM_START, N_TOKENS, TOOL

ENGINE = []


@pytest.fixture(scope="module", params=["python", "c"], autouse=True)
def engine(request, built_once):
    """Give every call of a test its --engine; a cache keeps the C one's library for all of them."""
    if request.param == "c":
        need("gcc")
    ENGINE[:] = ["--engine", request.param]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIPELINE_CACHE", str(built_once / "engine cache"))
        yield


def call(command, *arguments, **options):
    return command_line.call(command, *ENGINE, *arguments, **options)


def child(command, *arguments, **options):
    return command_line.child(command, *ENGINE, *arguments, **options)


@pytest.fixture(scope="module")
def image(built_once):
    return built_once / "out" / "q25_tokenizer.img"


def ids(*arguments, stdin=b""):
    """Encode, and give the ids of each line."""
    return [
        [int(word) for word in line.split(" ")] if line else [] for line in encode(*arguments, stdin=stdin)
    ]


def encode(*arguments, stdin=b""):
    out = call("encode", *arguments, stdin=stdin).done().out
    assert out.endswith("\n") or not out
    return out.split("\n")[:-1]


def test_a_text_from_the_argument(image):
    """By rank, not by length: `cd` goes before `abc`."""
    assert ids(image, "abcd hi") == [[257, 256, 261]]
    assert ids(image.parent, "abcd hi") == [[257, 256, 261]]


def test_the_same_from_a_file_and_from_standard_input(image, tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"abcd hi")
    assert ids(image, "--file", path) == ids(image, stdin=b"abcd hi") == [[257, 256, 261]]


def test_a_text_may_have_several_lines(image):
    """They are one text, unless --lines says otherwise."""
    assert ids(image, stdin=b"hi\nhi\n") == [[260, 10, 260, 10]]
    assert ids(image, "--lines", stdin=b"hi\nhi\n") == [[260], [260]]
    assert ids(image, "--lines", stdin=b"hi\n\nhi") == [[260], [], [260]]
    assert ids(image, "--lines", "hi\r\nab") == [[260, 13], [257]]


def test_an_empty_text(image):
    assert encode(image, "") == [""]
    assert encode(image, stdin=b"") == [""]
    assert encode(image, "--lines", stdin=b"") == []
    assert call("encode", image, "", "--json").done().objects == [{"ids": [], "pieces": []}]


def test_specials(image):
    text = "hi<|im_start|><tool>"
    assert ids(image, text) == [[260, IM_START, TOOL]]
    user = ids(image, "--specials", "user", text)[0]
    none = ids(image, text, "--specials", "none")[0]
    assert user[-1] == TOOL
    assert IM_START not in user
    assert {IM_START, TOOL}.isdisjoint(none)
    assert bytes(none[1:]) == b"<|im_start|><tool>"
    assert ids(image, "[PAD267]") == [list(b"[PAD267]")]


def test_json_has_the_pieces(image):
    (found,) = call("encode", image, "--json", "abé<tool>").done().objects
    assert found["ids"] == [257, 0xC3, 0xA9, TOOL]
    assert found["pieces"] == [
        {"id": 257, "bytes": "6162", "text": "ab", "start": 0, "end": 2},
        {"id": 0xC3, "bytes": "c3", "text": "\\xc3", "start": 2, "end": found["pieces"][1]["end"]},
        {"id": 0xA9, "bytes": "a9", "text": "\\xa9", "start": found["pieces"][2]["start"], "end": 4},
        {"id": TOOL, "bytes": "3c746f6f6c3e", "text": "<tool>", "start": 4, "end": 10},
    ]
    assert len(call("encode", image, "--json", "--lines", "a\nb\nc").done().objects) == 3


def test_bytes_that_are_not_utf_8(image):
    """From the argument too, as the system hands it over."""
    for source in ({"stdin": b"a\xffb"}, {}):
        text = () if source else (os.fsdecode(b"a\xffb"),)
        assert call("encode", image, *text, **source).refused(2) == (
            "pipeline: text at byte 0x1 (1): expected UTF-8, found bytes ff 62; --invalid replace takes U+FFFD for them"
        )
        replaced = ids(image, "--invalid", "replace", *text, **source)
        assert replaced == [[ord("a"), 0xEF, 0xBF, 0xBD, ord("b")]]
    assert child("encode", image, b"a\xffb", "--invalid", "replace").done().out == "97 239 191 189 98\n"
    assert "text at byte 0x1 (1)" in child("encode", image, b"a\xffb").refused(2)


def test_a_fault_in_a_later_line_comes_after_the_lines_before_it(image):
    outcome = call("encode", image, "--lines", stdin=b"hi\na\xff\n")
    assert outcome.out == "260\n"
    assert outcome.refused(2).startswith(
        "pipeline: line 2: text at byte 0x1 (1): expected UTF-8, found bytes ff;"
    )
    outcome = call("decode", image, "--lines", stdin=b"260\n\n257 x\n")
    assert outcome.out == "hi\n\n"
    assert outcome.refused(2) == "pipeline: line 3: id at index 1: expected a number, found 'x'"
    outcome = call("decode", image, "--lines", stdin=b"272\n")
    assert outcome.refused(2) == "pipeline: line 1: id 272 at index 0: expected an id from 0 to 271"


def test_text_twice(image, tmp_path):
    line = call("encode", image, "hi", "--file", tmp_path / "x").refused(2)
    assert line == "pipeline: expected TEXT or --file, found both"


def test_a_long_text(image):
    assert ids(image, stdin=b"hi " * 10000)[0] == [260, *[261] * 9999, 32]


def decode(*arguments, stdin=b""):
    return call("decode", *arguments, stdin=stdin).done().stdout


def test_ids_from_the_arguments_a_file_and_standard_input(image, tmp_path):
    path = tmp_path / "ids"
    path.write_bytes(b"260 261\n257")
    assert decode(image, "260", "261", "257") == b"hi hiab"
    assert decode(image.parent, "--file", path) == b"hi hiab"
    assert decode(image, stdin=b" 260,261 ,\t257\r\n") == b"hi hiab"


def test_each_line_by_itself(image):
    assert decode(image, "--lines", stdin=b"260\n\n257 257\n") == b"hi\n\nabab\n"


def test_no_ids(image):
    assert decode(image, stdin=b"") == b""
    assert decode(image, stdin=b" , ,\n") == b""
    assert decode(image, "") == b""
    assert decode(image, "--lines", stdin=b"") == b""


def test_bytes_come_out_as_they_are(image):
    every = list(range(256))
    assert decode(image, *map(str, every)) == bytes(every)


def test_padding_and_control_tokens(image):
    shown = [IM_START, 260, IM_END, FIRST_PAD, 257, END_OF_TEXT, TOOL]
    words = list(map(str, shown))
    assert decode(image, *words) == b"<|im_start|>hi<|im_end|>ab<|endoftext|><tool>"
    assert decode(image, "--skip-control", *words) == b"hiab<tool>"
    assert decode(image, *words, "--stop-at-end") == b"<|im_start|>hi"
    assert decode(image, "--lines", "--stop-at-end", stdin=b"260 264 257\n257\n") == b"hi\nab\n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["x"], "id at index 0: expected a number, found 'x'"),
        (["1", "-5"], "id at index 1: expected a number, found '-5'"),
        (["1.0"], "id at index 0: expected a number, found '1.0'"),
        (["0x10"], "id at index 0: expected a number, found '0x10'"),
        (["1_0"], "id at index 0: expected a number, found '1_0'"),
        (["²"], "id at index 0: expected a number, found '²'"),
        (["１２"], "id at index 0: expected a number, found '１２'"),
        (["9" * 11], f"id at index 0: expected a number, found '{'9' * 11}'"),
        (["9" * 5000], f"id at index 0: expected a number, found '{'9' * 80}'... (5000 characters)"),
        (["a\x1b[2J\nb"], "id at index 0: expected a number, found 'a\\x1b[2J'"),
        (["272"], "id 272 at index 0: expected an id from 0 to 271"),
        (["1", "4294967295"], "id 4294967295 at index 1: expected an id from 0 to 271"),
        (["9999999999"], "id 9999999999 at index 0: expected an id from 0 to 271"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_id(image, words, line):
    assert call("decode", image, "--", *words).refused(2) == f"pipeline: {line}"
    assert call("decode", image, stdin=" ".join(words).encode()).refused(2) == f"pipeline: {line}"


def test_ids_that_are_no_text(image):
    assert "found '\\\\xff'" in call("decode", image, stdin=b"\xff").refused(2)


def test_leading_zeros_are_no_fault(image):
    assert decode(image, "0000000260") == b"hi"


def test_ids_twice(image, tmp_path):
    line = call("decode", image, "1", "--file", tmp_path / "x").refused(2)
    assert line == "pipeline: expected IDs or --file, found both"


@pytest.mark.parametrize("command", ["encode", "decode"])
def test_what_is_no_image(built, command, monkeypatch, no_hang):
    monkeypatch.chdir(built.root)
    good = (built.out / "q25_tokenizer.img").read_bytes()
    damaged = bytearray(good)
    damaged[-1] ^= 1
    files = {
        "empty": (b"", "expected"),
        "short": (good[:100], "header"),
        "magic": (b"X" + good[1:], "header.magic"),
        "cut": (good[:-64], "header.total_bytes"),
        "damaged": (bytes(damaged), "found"),
        "random": (bytes(range(256)) * 20, "header.magic"),
    }
    for name, (data, words) in files.items():
        (built.root / name).write_bytes(data)
        line = call(command, name, "1").refused(3)
        assert line.startswith(f"pipeline: {name}: "), line
        assert words in line
    os.mkfifo("pipe")
    for name in ("pipe", "/dev/zero"):
        line = call(command, name, "1").refused(3)
        assert line.startswith(f"pipeline: {name}: expected a file, found a device, pipe or socket")
    assert call(command, "nothing", "1").refused(2) == "pipeline: nothing: there is no such file or folder"
    (built.root / "folder").mkdir()
    line = call(command, "folder", "1").refused(2)
    assert line == "pipeline: folder/q25_tokenizer.img: there is no such file or folder"


@pytest.mark.parametrize("command", ["encode", "decode"])
def test_a_file_of_text_that_is_none(image, command, tmp_path):
    line = call(command, image, "--file", tmp_path / "nothing").refused(2)
    assert line == f"pipeline: {tmp_path / 'nothing'}: there is no such file or folder"
    assert call(command, image, "--file", tmp_path).refused(4) == f"pipeline: {tmp_path}: Is a directory"


def test_there_and_back(image):
    text = "Ünïcödé 就是\n\t<|im_start|>  hi\x00\U0001f600"
    (found,) = ids(image, text)
    assert decode(image, *map(str, found)).decode() == text
    assert re.fullmatch(r"[0-9 ]+", encode(image, text)[0])
    assert max(found) < N_TOKENS
