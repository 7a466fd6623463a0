"""The sample's chat templates, run by Jinja as chat libraries run them."""

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pipeline.sources.sample.texts import CHAT_TEMPLATES

QUESTION = {"role": "user", "content": "Hi\nthere"}
THOUGHT = {"role": "assistant", "content": "<think>\nhm\n</think>\n\nHello"}
TOLD = {"role": "assistant", "content": "Hello", "reasoning_content": "hm"}


def render(family, messages, *, blanks=True, **more):
    environment = ImmutableSandboxedEnvironment(trim_blocks=blanks, lstrip_blocks=blanks)
    return environment.from_string(CHAT_TEMPLATES[family]).render(messages=messages, **more)


@pytest.mark.parametrize("blanks", [True, False])
@pytest.mark.parametrize("family", ["qwen2.5", "qwen3"])
def test_turns_in_chatml(family, blanks):
    messages = [
        {"role": "system", "content": " S "},
        QUESTION,
        {"role": "assistant", "content": "Hello"},
        QUESTION,
    ]
    assert render(family, messages, blanks=blanks, add_generation_prompt=True) == (
        "<|im_start|>system\n S <|im_end|>\n"
        "<|im_start|>user\nHi\nthere<|im_end|>\n"
        "<|im_start|>assistant\nHello<|im_end|>\n"
        "<|im_start|>user\nHi\nthere<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert render(family, [QUESTION]) == "<|im_start|>user\nHi\nthere<|im_end|>\n"
    assert render(family, [], add_generation_prompt=True) == "<|im_start|>assistant\n"
    assert render(family, [{"role": "assistant", "content": None}]) == "<|im_start|>assistant\n<|im_end|>\n"


@pytest.mark.parametrize("answer", [THOUGHT, TOLD])
def test_thoughts_are_kept_after_the_last_question_only(answer):
    thought = "<|im_start|>assistant\n<think>\nhm\n</think>\n\nHello<|im_end|>\n"
    plain = "<|im_start|>assistant\nHello<|im_end|>\n"
    turn = "<|im_start|>user\nHi\nthere<|im_end|>\n"
    assert render("qwen3", [QUESTION, answer]) == turn + thought
    assert render("qwen3", [QUESTION, answer, QUESTION]) == turn + plain + turn
    assert render("qwen3", [QUESTION, answer, QUESTION, answer]) == turn + plain + turn + thought


@pytest.mark.parametrize(
    ("more", "opening"),
    [({}, ""), ({"enable_thinking": True}, ""), ({"enable_thinking": False}, "<think>\n\n</think>\n\n")],
)
def test_thinking_can_be_turned_off(more, opening):
    text = render("qwen3", [QUESTION], add_generation_prompt=True, **more)
    assert text == "<|im_start|>user\nHi\nthere<|im_end|>\n<|im_start|>assistant\n" + opening


def test_a_user_may_write_the_end_of_a_thought():
    messages = [{"role": "user", "content": "a</think>b"}]
    assert render("qwen3", messages) == "<|im_start|>user\na</think>b<|im_end|>\n"
