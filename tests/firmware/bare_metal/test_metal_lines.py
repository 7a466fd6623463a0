"""Ids that the board prints are the reference's, and what they decode to is what the reference encoded."""

from __future__ import annotations

import unicodedata

import pytest
from bpe_oracle import Oracle
from bpe_texts import nasty_texts, real_texts
from bpe_vocabulary import GOLDEN, ListTables
from metal_board import BAD_INPUT, EXAMPLE, GOOD, LINE_FAILED
from real_models import RealTables
from required_tools import need
from small_vocabulary import CONTROL, USER_DEFINED, grown

from formats.q25tokrt.layout import Profile

LONGEST = 65_536

CHOSEN = [
    "",
    " ",
    "\t\r",
    "<|im_start|>system<|im_end|>",
    "<think> cafe\u0301 </think>\u0301",
    "e\u0301 \u212b \u1e9b\u0323 \u0344 \u1112\u1161\u11ab \u0958",
    "\U0001f469\U0001f3fd\u200d\U0001f680 \U0001f1eb\U0001f1f7",
    "\0 in the line",
    "=" * 48,
    "=" * 49,
    "<|im_end|>" * 9,
    "",
]
SETTINGS = {"all": {}, "user": {"SPECIALS": "USER"}, "none": {"SPECIALS": "NONE"}}
"""Of special tokens: what the Makefile is told."""
LONG = [
    "=" * 5_000,
    " " * 20_000,
    "a" + "\u0301\u0316" * 800,
    "\u1100\u1161\u11a8" * 500,
    "\U0001d160" * 300,
    "x" * LONGEST,
]


def real_lines():
    lines = [line for text in real_texts().values() for line in text.splitlines()]
    return lines + [unicodedata.normalize("NFD", line) for line in lines]


def random_lines(count):
    return [text.replace("\n", "\r") for text in nasty_texts(count, seed=count, longest=40)]


def text_of(lines):
    return "".join(line + "\n" for line in lines).encode()


def assert_all_good(run, lines, tables, oracle):
    assert run.printed[-1] == f"{len(lines)} lines, {sum(len(line.ids) for line in run.lines)} ids, 0 failed"
    assert run.code == GOOD
    for text, found, ids in zip(lines, run.lines, oracle.encode_all(lines), strict=True):
        assert found.ids == ids, ascii(text)
        assert found.failure is None
        decoded = b"".join(tables.token_bytes(token) for token in ids)
        assert found.nfc == (None if decoded == text.encode() else decoded), ascii(text)


@pytest.mark.parametrize(("setting", "variables"), SETTINGS.items())
def test_ids_are_the_reference_s(boards, real_image, qwen3, oracles, setting, variables):
    lines = [*CHOSEN, *real_lines(), *random_lines(500)]
    run = boards(**variables).run(real_image, text_of(lines))
    assert_all_good(run, lines, qwen3, oracles[setting])
    assert sum(line.nfc is not None for line in run.lines) > 50


def test_long_lines(board, real_image, qwen3, oracles):
    assert_all_good(board.run(real_image, text_of(LONG)), LONG, qwen3, oracles["all"])


@pytest.mark.parametrize("level", ["-O0", "-Os", "-O3"])
def test_other_optimization(boards, real_image, qwen3, oracles, level):
    lines = [*CHOSEN, *random_lines(200)]
    assert_all_good(boards(OPT=level).run(real_image, text_of(lines)), lines, qwen3, oracles["all"])


def test_another_compiler(boards, real_image, qwen3, oracles):
    need("clang")
    lines = [*CHOSEN, *random_lines(200)]
    board = boards(CC="clang --target=aarch64-linux-gnu")
    assert_all_good(board.run(real_image, text_of(lines)), lines, qwen3, oracles["all"])


@pytest.mark.parametrize("machine", ["secure=on", "virtualization=on", "secure=on,virtualization=on"])
def test_other_exception_levels(board, real_image, qwen3, oracles, machine):
    """Without either it is EL1; these are EL3, EL2 and EL3 over an EL2."""
    run = board.run(real_image, text_of(CHOSEN), QEMU_FLAGS=f"-M {machine}")
    assert_all_good(run, CHOSEN, qwen3, oracles["all"])


@pytest.mark.parametrize("profile", Profile, ids=lambda profile: profile.name.lower())
def test_the_text_that_is_linked_in(board, qwen3, oracles, profile):
    text = (EXAMPLE / "lines.txt").read_bytes().decode()
    lines = text.removesuffix("\n").split("\n")
    assert "" in lines
    assert any(unicodedata.normalize("NFC", line) != line for line in lines)
    image = RealTables.of("qwen3").image(profile=profile)
    assert_all_good(board.run(image), lines, qwen3, oracles["all"])


def test_other_addresses(boards, real_image, qwen3, oracles):
    places = {"LOAD_ADDRESS": "0x02000000", "IMAGE_ADDRESS": "0x20000040", "TEXT_ADDRESS": "0x2f000000"}
    run = boards(**places).run(real_image, text_of(CHOSEN[:6]))
    assert run.printed[1].endswith(" bytes at 0x2f000000")
    assert_all_good(run, CHOSEN[:6], qwen3, oracles["all"])


def test_a_small_vocabulary(board):
    added = [("<s>", CONTROL), ("<u>", USER_DEFINED)]
    vocabulary = grown("a|b", "ab|c", "c|a", " |a", added=added, pads=3)
    tables = ListTables(vocabulary.tokens, vocabulary.merges, first_pad_id=vocabulary.first_pad_id)
    lines = ["abcabc ab", "<s>ab<u>", "e\u0301a <s", "\u4e2d\u6587", ""]
    assert_all_good(board.run(vocabulary.image(), text_of(lines)), lines, tables, Oracle(tables))


def test_a_vocabulary_without_nfc(board, qwen25_raw_image, qwen3):
    """What llama.cpp tests its own tokenizer with; no line is changed."""
    texts = (GOLDEN / "ggml-vocab-qwen2.gguf.inp").read_bytes().decode().split("\n__ggml_vocab_test__\n")
    rows = (GOLDEN / "ggml-vocab-qwen2.gguf.out").read_text(encoding="ascii").splitlines()
    cases = [(text, row) for text, row in zip(texts, rows, strict=False) if "\n" not in text]
    assert len(cases) > 30
    lines = [text for text, _ in cases] + ["e\u0301 \u212b"]
    run = board.run(qwen25_raw_image.read_bytes(), text_of(lines))
    assert run.code == GOOD
    assert [line.ids for line in run.lines[:-1]] == [[int(word) for word in row.split()] for _, row in cases]
    assert [line.nfc for line in run.lines] == [None] * len(lines)


def test_the_last_line_may_end_without_a_newline(board, real_image, oracles):
    run = board.run(real_image, b"one\n\ntwo")
    assert [line.ids for line in run.lines] == oracles["all"].encode_all(["one", "", "two"])
    assert run.code == GOOD


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"ab\xffc", "INVALID_UTF8 at byte 2"),
        (b"<think>\xe4\xb8", "INVALID_UTF8 at byte 7"),
        (b"x" * (LONGEST + 1), "the line is longer than LONGEST_LINE"),
    ],
)
def test_a_line_that_fails(board, real_image, oracles, line, why):
    """The others are encoded all the same."""
    run = board.run(real_image, b"one\n" + line + b"\ntwo\n")
    assert run.code == LINE_FAILED
    assert [line.failure for line in run.lines] == [None, why, None]
    assert [line.ids for line in run.lines] == [
        oracles["all"].encode("one"),
        [],
        oracles["all"].encode("two"),
    ]
    assert run.printed[-1] == "3 lines, 2 ids, 1 failed"


def test_a_byte_without_a_token(board):
    image = grown("a|b", byte_values=b"ab ").image()
    run = board.run(image, b"ab ab\nabc\n")
    assert run.code == LINE_FAILED
    assert [line.failure for line in run.lines] == [None, "BYTE_WITHOUT_TOKEN at byte 0"]


def test_nothing_checked_is_not_good(board, real_image):
    run = board.run(real_image, b"\n")
    assert (run.code, run.printed[-1]) == (GOOD, "1 lines, 0 ids, 0 failed")
    run = board.run(real_image, b"")
    assert (run.code, run.printed[-1]) == (LINE_FAILED, "0 lines, 0 ids, 0 failed")


def test_a_text_as_long_as_memory_is_not_believed(boards, real_image):
    board = boards(RAM_END="0x18000010")
    assert board.run(real_image, b"0123456789abcde\n").code == GOOD
    run = board.run(real_image, b"0123456789abcdef\n")
    assert (run.code, run.printed[1:]) == (
        BAD_INPUT,
        ["text: 17 bytes at 0x18000000, more than the memory there"],
    )
