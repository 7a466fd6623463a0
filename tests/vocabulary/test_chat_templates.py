"""Chat templates: the default and the named ones, byte for byte."""

import pytest
from refusals import refusal
from vocabulary_files import TEMPLATE, array, gguf_of, number, string

from pipeline.vocabulary.templates import read_templates


def templates(changes):
    return [(template.key, template.text, template.file) for template in read_templates(gguf_of(changes))]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        b" a \n\n",
        "▁ \r\n\r\n\t \u2028".encode(),
        b"\xff\xfe not utf-8 \x00",
        b"a\r",
        "\ufeffa".encode(),
    ],
)
def test_the_default_template_is_kept_byte_for_byte(text):
    assert templates({TEMPLATE: string(text)}) == [(TEMPLATE, text, "chat_template.txt")]


def test_no_template():
    assert templates({TEMPLATE: None}) == []


def test_named_templates_are_files_of_their_own():
    found = templates({
        TEMPLATE: string("D"),
        f"{TEMPLATE}.tool_use": string("T\r\n"),
        f"{TEMPLATE}.default": string("N"),
        f"{TEMPLATE}.rag": string(""),
    })  # fmt: skip
    assert found == [
        (TEMPLATE, b"D", "chat_template.txt"),
        (f"{TEMPLATE}.default", b"N", "chat_templates/default.txt"),
        (f"{TEMPLATE}.rag", b"", "chat_templates/rag.txt"),
        (f"{TEMPLATE}.tool_use", b"T\r\n", "chat_templates/tool_use.txt"),
    ]


def test_hostile_names_stay_in_the_folder_and_apart():
    names = ["../x", "a/b", "a_b", "A_b", "", "con", "x" * 300, "\x1b[0m", "..", "\0"]
    found = templates({TEMPLATE: None, **{f"{TEMPLATE}.{name}": string(name) for name in names}})
    assert {key.removeprefix(f"{TEMPLATE}.") for key, _, _ in found} == set(names)
    files = [file for _, _, file in found]
    assert len({file.lower() for file in files}) == len(names)
    for key, text, file in found:
        assert text.decode() == key.removeprefix(f"{TEMPLATE}.")
        folder, _, name = file.partition("/")
        assert folder == "chat_templates"
        assert name.endswith(".txt")
        assert "/" not in name
        assert name[0] not in ".-"


def test_the_list_of_names_is_no_template():
    assert templates(
        {TEMPLATE: None, "tokenizer.chat_templates": array(["rag"]), f"{TEMPLATE}.rag": string("R")}
    ) == [(f"{TEMPLATE}.rag", b"R", "chat_templates/rag.txt")]


@pytest.mark.parametrize("key", [TEMPLATE, f"{TEMPLATE}.rag"])
@pytest.mark.parametrize(("value", "label"), [(number(1), "u32"), (array(["a"]), "array of string")])
def test_a_template_that_is_no_string(key, value, label):
    line = refusal(read_templates, gguf_of({key: value}))
    assert line.startswith(f"t.gguf: key '{key}' at offset 0x")
    assert f": expected a string, found {label}" in line
