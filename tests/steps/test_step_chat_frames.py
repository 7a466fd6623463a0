"""Step `chat_frames`: what it writes, when it runs again, and what it refuses."""

import json
import os

import pytest
from ollama_stores import make_model
from required_tools import need, run
from tiny_model import END_OF_TEXT, IM_END, IM_START, TOOL, write_tiny

from formats.gguf.value_types import ValueType
from pipeline.chat import rendering

BEFORE = ("tokenizer", "ps_bundle", "runtime_image")
TEMPLATE = (
    "{% if messages[0].role != 'system' %}{{ '<|im_start|>system\n*/ ab??/ a<|im_end|>\n' }}{% endif %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
    "{% if enable_thinking is false %}{{ '<tool>\n\n<tool>\n\n' }}{% endif %}{% endif %}"
)
KEY = "tokenizer.chat_template"
LINE_FEED = 10


@pytest.fixture
def build(project):
    """Give a function that builds with a template in the GGUF, and parameters; it gives the outcome."""

    def make(text=TEMPLATE, changes=None, **parameters):
        text = None if text is None else (ValueType.STRING, text)
        write_tiny(project.gguf, changes={KEY: text, **(changes or {})})
        project.write_manifest(steps=[*BEFORE, {"chat_frames": parameters} if parameters else "chat_frames"])
        return project.run()

    make.project = project
    return make


def document(project):
    return json.loads((project.out / "chat_frames.json").read_bytes())


def test_the_frames_and_where_an_answer_ends(build):
    outcome = build(changes={"tokenizer.ggml.eot_token_id": (ValueType.UINT32, END_OF_TEXT)}).done()
    found = document(build.project)
    frames = {name: (each["head"], each["ids"], each["tail"]) for name, each in found["frames"].items()}
    word = list(b"assistant\n")
    assert frames["before_user"] == ("", [IM_START], "user\n")
    assert frames["after_user"] == frames["after_system"] == ("", [IM_END, LINE_FEED], "")
    assert frames["generation"] == frames["generation_thinking"] == ("", [IM_START, *word], "")
    empty = [TOOL, LINE_FEED, LINE_FEED]
    assert frames["generation_no_thinking"] == ("", [IM_START, *word, *empty, *empty], "")
    assert frames["no_system"][1][-2:] == [IM_END, LINE_FEED]
    assert found["thinking_switch"] == "enable_thinking"
    assert found["thoughts_in_earlier_answers"] == "kept"
    assert found["end_ids"] == [
        {"id": IM_END, "token": "<|im_end|>", "named_by": ["tokenizer.ggml.eos_token_id", KEY]},
        {"id": END_OF_TEXT, "token": "<|endoftext|>", "named_by": ["tokenizer.ggml.eot_token_id"]},
    ]
    assert "enable_thinking turns thoughts on and off" in outcome.out
    assert f"end ids {IM_END}, {END_OF_TEXT}" in outcome.out
    assert build.project.reasons() == {}


def test_thoughts_are_not_in_the_document_where_the_template_has_none(build):
    build(TEMPLATE.replace("enable_thinking is false", "false")).done()
    assert "generation_no_thinking" not in document(build.project)["frames"]
    header = (build.project.out / "chat_frames.h").read_text()
    assert "#define CHAT_HAS_THINKING_SWITCH 0\n" in header
    assert "CHAT_GENERATION_NO_THINKING = 9" in header


PROGRAM = """
#include <stdio.h>
#include "chat_frames.h"
int main(void) {
    uint32_t name, at;
    for (name = 0; name < CHAT_FRAMES; name++) {
        const struct chat_frame *frame = &chat_frames[name];
        for (at = 0; at < frame->head_bytes; at++) printf("%02x", frame->head[at]);
        printf("|");
        for (at = 0; at < frame->n_ids; at++) printf("%lu ", (unsigned long)frame->ids[at]);
        printf("|");
        for (at = 0; at < frame->tail_bytes; at++) printf("%02x", frame->tail[at]);
        printf("\\n");
    }
    for (at = 0; at <= CHAT_END_IDS; at++) printf("%lx ", (unsigned long)chat_end_ids[at]);
    return 0;
}
"""


@pytest.mark.parametrize(
    "template",
    [
        TEMPLATE,
        TEMPLATE.replace("<|im_", "!im_"),
        TEMPLATE.replace("{{ '<|im_start|>'", "{{ 'é<|im_start|>'"),
    ],
)
def test_the_c_form_has_the_values_of_the_document(build, tmp_path, template):
    build(template).done()
    found = document(build.project)
    (tmp_path / "main.c").write_text(PROGRAM)
    strict = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
    source = build.project.out / "chat_frames.c"
    run(need("gcc"), *strict, "-I", build.project.out, tmp_path / "main.c", source, "-o", tmp_path / "main")
    run(need("aarch64-linux-gnu-gcc"), *strict, "-ffreestanding", "-c", source, "-o", tmp_path / "a53.o")
    *lines, ends = run(tmp_path / "main").splitlines()
    wanted = [
        f"{each['head'].encode().hex()}|{''.join(f'{token} ' for token in each['ids'])}|{each['tail'].encode().hex()}"
        for each in found["frames"].values()
    ]
    assert lines == wanted
    assert ends.split() == [f"{end['id']:x}" for end in found["end_ids"]] + ["ffffffff"]


@pytest.fixture
def store(project, alone, monkeypatch):
    """Give a function that puts the model into a store, with a layer of parameters."""
    monkeypatch.setenv("OLLAMA_MODELS", str(alone / "models"))
    write_tiny(project.gguf, changes={KEY: (ValueType.STRING, TEMPLATE)})
    project.write_manifest(model={"ollama": "tiny"}, steps=[*BEFORE, "chat_frames"])

    def put(params):
        layers = () if params is None else (("params", params),)
        make_model(alone / "models", project.gguf.read_bytes(), layers=layers)
        return project.run()

    return put


def test_what_ollama_stops_at(project, store):
    params = {"stop": ["<|im_end|>", "<tool>", "</s>", "User:", "</s>"], "temperature": 1}
    outcome = store(json.dumps(params).encode()).done()
    assert [(end["id"], end["named_by"]) for end in document(project)["end_ids"]] == [
        (IM_END, ["tokenizer.ggml.eos_token_id", KEY, "ollama params.stop"]),
        (TOOL, ["ollama params.stop"]),
    ]
    assert document(project)["stop_texts"] == ["</s>", "User:"]
    assert (
        "warning: Ollama also stops this model at '</s>' and 1 more, which is no single token" in outcome.out
    )
    store(b'{"stop": "<tool>"}').done()
    assert [end["id"] for end in document(project)["end_ids"]] == [IM_END, TOOL]
    store(None).done()
    assert [end["id"] for end in document(project)["end_ids"]] == [IM_END]


def test_parameters_that_are_none(store):
    assert store(b"[]").refused(3) == (
        "pipeline: the Ollama model's params: expected a JSON object, found bytes 5b 5d"
    )


def test_a_template_of_the_users(build, project):
    file = project.root / "my %template é.jinja"
    file.write_text(TEMPLATE.replace("*/ ab", "Be brief."))
    build(None, template=file.name).done()
    assert "Be brief." in document(project)["frames"]["no_system"]["text"]
    assert document(project)["template"] == file.name
    file.write_text(TEMPLATE.replace("*/ ab", "Be long."))
    (reason,) = project.reasons()["chat_frames"]
    assert reason.startswith("template changed (")
    assert "Be long." in document(project)["frames"]["no_system"]["text"]
    file.unlink()
    assert f"steps.chat_frames.template: {project.root / 'my %template é.jinja'}" in project.run().refused(2)


@pytest.mark.parametrize(
    ("template", "parameters", "code", "words"),
    [
        (None, {}, 3, f"{KEY}: expected the model's chat template, found none; name a file with one in Jinja"),
        (TEMPLATE.replace("m.content", "m.content | trim"), {}, 3, "a text of system trimmed at both ends"),
        ("{% for", {}, 3, f'{KEY}: expected a template in Jinja, found "line 1'),
        (b"\xff{{ 1 }}", {}, 3, f"{KEY} at byte 0: expected UTF-8, found bytes ff 7b 7b 20"),
        ("x" * 1_048_577, {}, 3, f"{KEY}: expected a template of at most 1,048,576 bytes, found more"),
        ("{{ strftime_now('%Y') }}", {}, 3, "state the date that firmware shall have with `date`"),
        (TEMPLATE, {"date": "2024-02-30"}, 2, "chat_frames.date: expected a date as 2024-07-26, found 2024-02-30"),
        (TEMPLATE, {"date": "20240726"}, 2, "chat_frames.date: expected a date as 2024-07-26"),
        (TEMPLATE, {"thinking": "a-b"}, 2, "chat_frames.thinking: expected a name of letters, digits and _"),
        (TEMPLATE, {"template": "folder"}, 3, "a folder"),
        (TEMPLATE, {"template": "."}, 2, "expected files that no run of this manifest writes"),
    ],
)  # fmt: skip
def test_what_is_refused(build, template, parameters, code, words):
    (build.project.root / "folder").mkdir()
    assert words in build(template, **parameters).refused(code)
    assert not (build.project.out / "chat_frames.json").exists()


def test_a_special_token_that_begins_in_a_text_and_ends_in_a_frame(build, project):
    """`x<|im_end|>` were one token of this vocabulary: no frames give the ids of the whole chat."""
    from tiny_model import CONTROL, tokens

    rows = tokens()
    rows[END_OF_TEXT] = ("x<|im_end|>", CONTROL)
    write_tiny(project.gguf, changes={KEY: (ValueType.STRING, TEMPLATE)}, rows=rows)
    project.write_manifest(steps=[*BEFORE, "chat_frames"])
    line = project.run().refused(1)
    assert "a special token of this vocabulary begins in a text and ends in a frame" in line


def test_without_jinja_one_line_says_what_to_install(build, monkeypatch):
    monkeypatch.setattr(rendering, "LIBRARY", "jinja2_that_is_not_there")
    assert build().refused(4) == (
        "pipeline: chat templates need the package jinja2_that_is_not_there, which is not installed: "
        "pip install '.[chat]'"
    )


@pytest.mark.skipif(os.name != "posix", reason="reads no user's settings elsewhere")
def test_the_users_locale_and_python_settings_change_nothing(build, monkeypatch):
    dated = TEMPLATE.replace("*/ ab", "' + strftime_now('%d %B %Y') + '")
    build(dated, date="2024-07-26").done()
    before = build.project.contents()
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    build.project.run("--force").done()
    assert build.project.contents() == before
    assert "26 July 2024" in document(build.project)["frames"]["no_system"]["text"]
