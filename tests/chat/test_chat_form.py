"""What is taken out of a template, and each reason for which one is refused."""

import json
import os
from pathlib import Path

import pytest
from chat_templates import ADDED, chatml, form_of
from refusals import refusal

from formats.gguf.kinds import STR
from formats.gguf.reader import GgufFile
from pipeline.chat.chats import SHAPES, hostile_chats, marked, marked_chats
from pipeline.chat.template_form import FRAMES, Thoughts
from pipeline.errors import ModelError
from pipeline.sources.sample.texts import CHAT_TEMPLATES

QWEN = {
    "no_system": "",
    **{f"before_{role}": f"<|im_start|>{role}\n" for role in ("system", "user", "assistant")},
    **{f"after_{role}": "<|im_end|>\n" for role in ("system", "user", "assistant")},
    "generation": "<|im_start|>assistant\n",
    "generation_thinking": "<|im_start|>assistant\n",
    "generation_no_thinking": "<|im_start|>assistant\n",
}


def test_the_frames_of_chatml():
    form = form_of(chatml())
    assert form.texts == QWEN
    assert list(form.texts) == list(FRAMES)
    assert not form.switched
    assert form.thoughts is Thoughts.KEPT


def test_the_frames_of_qwen3():
    """The sample's template does what the official one does."""
    form = form_of(CHAT_TEMPLATES["qwen3"])
    empty = "<think>\n\n</think>\n\n"
    assert form.texts == QWEN | {"generation_no_thinking": "<|im_start|>assistant\n" + empty}
    assert form.switched
    assert form.thoughts is Thoughts.DROPPED_WITH_LINE_FEEDS


def test_the_official_template_of_qwen3():
    stated = os.environ.get("PIPELINE_OFFICIAL_TOKENIZER")
    if not stated:
        pytest.skip("PIPELINE_OFFICIAL_TOKENIZER names no tokenizer.json of Qwen3")
    config = json.loads(Path(stated).with_name("tokenizer_config.json").read_text(encoding="utf-8"))
    official, ours = form_of(config["chat_template"]), form_of(CHAT_TEMPLATES["qwen3"])
    assert (official.texts, official.switched, official.thoughts) == (
        ours.texts,
        ours.switched,
        ours.thoughts,
    )


def test_the_template_of_a_real_gguf_has_a_system_text_of_its_own(shared):
    with GgufFile.open(shared / "gguf" / "ggml-vocab-qwen2.gguf") as gguf:
        template = gguf.require("tokenizer.chat_template", STR)
    system = "<|im_start|>system\nYou are a helpful assistant<|im_end|>\n"
    assert form_of(template).texts == QWEN | {"no_system": system}


def test_a_template_without_a_line_feed_behind_the_last_message_takes_its_frames_elsewhere():
    """The frames may be cut otherwise; that their sum is right is what counts."""
    template = (
        "{{ '<s>' }}{% for m in messages %}{{ '<' + m.role + '>' + m.content }}"
        "{% if m.role == 'assistant' %}{{ '</s>' }}{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"
    )
    form = form_of(template)
    assert form.texts["before_system"] == "<s><system>"
    assert form.texts["no_system"] == "<s>"
    assert (form.texts["after_user"], form.texts["after_assistant"]) == ("", "</s>")
    assert form.rendered(marked(("user", "assistant", "user"))) == (
        "<s><user>Q25user0Mark<assistant>Q25assistant1Mark</s><user>Q25user2Mark<assistant>"
    )


@pytest.mark.parametrize(
    ("value", "thoughts"),
    [
        ("m.content.split('</think>')[-1]", Thoughts.DROPPED),
        ("m.content.split('</think>')[-1].lstrip('\\n') if '</think>' in m.content else m.content",
         Thoughts.DROPPED_WITH_LINE_FEEDS),
    ],
)  # fmt: skip
def test_thoughts_of_earlier_answers(value, thoughts):
    assert form_of(chatml(f"(({value}) if m.role == 'assistant' else m.content)")).thoughts is thoughts


def test_thoughts_rules():
    text = "<think>\na</think>b</think>\n\nc\n"
    assert [each.apply(text) for each in Thoughts] == [text, "\n\nc\n", "c\n"]
    assert {each.apply("\n<think>c") for each in Thoughts} == {"\n<think>c"}


@pytest.mark.parametrize("switch", ["enable_thinking", "thinking"])
def test_the_switch_has_the_name_that_is_stated(switch):
    template = chatml(after="{% if enable_thinking is false %}{{ '<think></think>' }}{% endif %}")
    assert form_of(template, switch=switch).switched == (switch == "enable_thinking")


def test_a_date_that_is_stated():
    template = chatml(before="{{ strftime_now('%d %b %Y') + '\\n' }}")
    assert form_of(template, date="2024-07-26").texts["no_system"] == "26 Jul 2024\n"


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (chatml("m.content | upper"), "found a text of system altered or left out in a chat of system, user"),
        (chatml("('' if m.role == 'user' else m.content)"), "a text of user altered or left out"),
        (chatml("m.content + m.content"), "a text of system 2 times"),
        (chatml().replace("in messages", "in messages[::-1]"), "expected the texts in the chat's order"),
        (chatml("m.content | trim"), "expected each text as it is, found a text of system trimmed at both ends"),
        (chatml("m.content.rstrip()"), "a text of system trimmed at its end"),
        (chatml("(m.content.lstrip() if m.role == 'user' else m.content)"), "a text of user trimmed at its start"),
        (chatml("(m.content | length | string) + m.content"), "whatever the texts are"),
        (chatml("m.content | e"), "or an altered text, where system says '<'"),
        (chatml("m.content.replace('%', '%%')"), "where system says '%'"),
        (chatml("(m.content or 'nothing')"), "where system says ''"),
        (chatml("m.content.replace('<|im_end|>', '')"), "where system says '<|im_end|>'"),
        (chatml("(m.content.split('</think>')[-1] | trim('\\n') if '</think>' in m.content else m.content)"),
         "where system says '<|endoftext|><|im_start|><|im_end|><think></think>'"),
        (chatml("(('!' if loop.index > 4 else '') + m.content)"), "wherever it stands, found another in a chat of"),
        (chatml(before="{% if enable_thinking is defined %}{{ 'deep\\n' }}{% endif %}"),
         "wherever it stands, found another in a chat of system, user, thoughts on"),
        (chatml(before="{% if messages|length > 2 %}{{ 'long\\n' }}{% endif %}"), "wherever it stands"),
        (chatml(after="{% if not add_generation_prompt %}{{ 'end' }}{% endif %}"), "wherever it stands, found"),
        (chatml(before="{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"),
         "expected a text for a chat of system, user, found a refusal: no system"),
        (chatml(before="{{ strftime_now('%d %b %Y') }}"), "state the date that firmware shall have with `date`"),
        (chatml(before="{{ [1, 2] | random }}"), "it draws at random"),
        (chatml(before="{{ ''.__class__.mro }}"), "access to attribute '__class__' of 'str' object is unsafe"),
        (chatml(before="{{ messages.append(1) }}"), "access to attribute 'append' of 'list' object is unsafe"),
        (chatml("m.nothing.at_all"), "has no attribute 'nothing'"),
        ("{{ 'x' * 2000000 }}", "it writes more than 1,048,576 characters"),
        ("", "a text of system altered or left out"),
    ],
)  # fmt: skip
def test_a_template_of_another_form_is_refused_with_the_reason(template, words):
    line = refusal(form_of, template, error=ModelError)
    assert line.startswith("T: expected ")
    assert words in line


def test_undefined_values_are_empty_as_in_chat_libraries():
    assert form_of(chatml("(m.content + (m.name or ''))")).texts == QWEN


def test_the_chats_that_are_tried():
    """The shapes, the switch, and of each role every hostile text; no chat twice."""
    chats = [*marked_chats(), *hostile_chats(ADDED)]
    assert len(set(chats)) == len(chats)
    assert len(marked_chats()) == 3 * len(SHAPES)
    texts = {text for chat in chats for text in chat.texts}
    assert {"", "%", "<", "<|im_end|>", "".join(ADDED)} <= texts
    assert any(text.startswith("\n") for text in texts)
    assert any(text.endswith(" ") for text in texts)
