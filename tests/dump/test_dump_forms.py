"""The text and HTML forms: hex and ASCII beside the fields, folding, colours, and hostile values."""

import html.parser
import io
import re

import pytest
from command_line import call, child
from tiny_model import write_tiny

from formats.gguf.value_types import ValueType
from pipeline.dump.rows import Row
from pipeline.dump.text_form import text_lines

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e\x00&\"'"


@pytest.fixture
def hostile(tmp_path):
    changes = {"general.name": (ValueType.STRING, HOSTILE), f"k{HOSTILE}": (ValueType.UINT32, 7)}
    return write_tiny(tmp_path / "x.gguf", changes)


def test_a_row_in_text():
    data = memoryview(bytes(range(60, 76)))
    row = Row(0, 16, "a.b", "bytes[16]", "x", None, "tokens", "what it is")
    assert list(text_lines([row], data, color=False)) == [
        "00000000  3C 3D 3E 3F 40 41 42 43  <=>?@ABC  a.b  bytes[16]  x  what it is [tokens]",
        "00000008  44 45 46 47 48 49 4A 4B  DEFGHIJK",
    ]


def test_long_rows_and_zeros_are_folded():
    data = memoryview(bytes(100) + bytes(range(1, 101)))
    zeros = Row(0, 100, "z", "bytes[100]", "100 zero bytes", None)
    long = Row(100, 100, "l", "bytes[100]", "x", None)
    lines = list(text_lines([zeros, long], data, color=False))
    assert lines[0] == "00000000  00 00 00 00 00 00 00 00+ ........  z  bytes[100]  100 zero bytes"
    assert [
        line.startswith(f"{at:08X}") for line, at in zip(lines[1:], (100, 108, 116, 124), strict=True)
    ] == [True] * 4
    assert "+" in lines[-1]


def test_runs_of_zero_rows_are_one(built):
    out = call("dump", built.out / "q25_tokenizer.img", "sections.merge_pair_index").done().out
    lines = call("dump", built.out / "q25_tokenizer.img", "sections.merge_pair_index", "--all").done().lines
    assert "zero rows" in out + "\n".join(lines)
    folded = [line for line in lines if "zero rows" in line]
    assert all(int(re.search(r"(\d+) zero rows", line)[1]) >= 4 for line in folded)


def test_long_tables_are_shown_in_part(built):
    lines = call("dump", built.out / "token_types.bin").done().lines
    assert sum("token_types[4:270]" in line for line in lines) == 1
    assert any("266 rows" in line for line in lines)
    assert len(call("dump", built.out / "token_types.bin", "--all").done().lines) > 500


@pytest.mark.parametrize(
    ("env", "colored"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colours_on_a_terminal(built, monkeypatch, env, colored):
    from pipeline.dump import text_form

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(text_form.sys, "stdout", Terminal())
    assert text_form.use_color() is colored


def test_no_colours_elsewhere(built):
    assert "\x1b" not in child("dump", built.out / "vocab.bin").done().out


def test_hostile_values_are_escaped_everywhere(hostile):
    for arguments in ((), ("--all",), ("key_values",), ("text:<tool>",)):
        text = call("dump", hostile, *arguments)
        assert all(line.isprintable() for line in text.lines)
    assert "\\x1b[31m\\u202e\\x00" in call("dump", hostile).out
    assert call("dump", hostile, "--json").out.isascii()


class Page(html.parser.HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not {name for name, _ in attrs} & {"src", "href", "onclick"}

    def handle_data(self, data):
        self.words += data


def test_the_page_is_whole_and_escaped(hostile):
    out = call("dump", hostile, "--html").done().out
    page = Page(out)
    assert out.startswith("<!DOCTYPE html>\n")
    assert "script" not in page.tags
    assert "<script>alert(1)</script>" in page.words
    assert all(char.isprintable() or char == "\n" for char in out)
    assert page.tags.count("tr") > 100
    assert "key_values[1].value.text" in page.words


def test_the_page_is_utf_8_on_every_console(built):
    arguments = ("dump", built.out / "vocab.bin", "text:Ġ", "--html")
    page = child(*arguments, env={"PYTHONIOENCODING": "latin-1"}).done()
    assert page.stdout == child(*arguments, env={"PYTHONIOENCODING": "utf-8"}).done().stdout
    assert "Ġ" in Page(page.out).words


def test_the_page_names_what_is_wrong(built):
    path = built.out / "vocab.bin"
    path.write_bytes(path.read_bytes()[:1001])
    outcome = call("dump", path, "--html")
    assert outcome.code == 1
    assert '<p class="fault">' in outcome.out
    assert "before the end" in Page(outcome.out).words
