"""Which token ends a turn, by templates in the shapes that model families use (texts of our own)."""

import time

import pytest

from pipeline.vocabulary.end_ids import EndId, collect, turn_end

TEXT_END, IM_START, IM_END = 100, 101, 102
CHATML = {"<|endoftext|>": TEXT_END, "<|im_start|>": IM_START, "<|im_end|>": IM_END, "<|vision_start|>": 103}

QWEN25_SHAPE = """\
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0]['role'] == 'system' %}
        {{- messages[0]['content'] }}
    {%- else %}
        {{- 'You help.' }}
    {%- endif %}
    {{- "\\n\\n# Functions\\n" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\nAnswer with calls.<|im_end|>\\n" }}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>system\\nYou help.<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == "user" or message.role == "assistant" and not message.tool_calls %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content %}
            {{- '\\n' + message.content }}
        {%- endif %}
        {%- for call in message.tool_calls %}
            {{- '\\n<tool_call>\\n' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {{- '<|im_start|>user' }}
        {{- '\\n<tool_response>\\n' }}
        {{- message.content }}
        {{- '\\n</tool_response>' }}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""

QWEN3_SHAPE = """\
{%- set ns = namespace(last=messages|length - 1) %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if message.role == "user" %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set thought = '' %}
        {%- if '</think>' in content %}
            {%- set thought = content.split('</think>')[0] %}
            {%- set content = content.split('</think>')[-1] %}
        {%- endif %}
        {%- if loop.index0 > ns.last %}
            {{- '<|im_start|>' + message.role + '\\n<think>\\n' + thought + '\\n</think>\\n' + content }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""

DEEPSEEK = {
    "<｜begin▁of▁sentence｜>": 10,
    "<｜end▁of▁sentence｜>": 11,
    "<｜User｜>": 12,
    "<｜Assistant｜>": 13,
}
DEEPSEEK_TOOLS = {
    **DEEPSEEK,
    "<｜tool▁outputs▁end｜>": 14,
    "<｜tool▁output▁begin｜>": 15,
    "<｜tool▁output▁end｜>": 16,
}
DEEPSEEK_SHAPE = (
    "{% set ns = namespace(tool=false, system='') %}"
    "{%- for message in messages %}{%- if message['role'] == 'system' %}"
    "{% set ns.system = message['content'] %}{%- endif %}{%- endfor %}{{bos_token}}{{ns.system}}"
    "{%- for message in messages %}"
    "{%- if message['role'] == 'user' %}{%- set ns.tool = false -%}{{'<｜User｜>' + message['content']}}{%- endif %}"
    "{%- if message['role'] == 'assistant' and message['content'] is none %}"
    "{{'<｜Assistant｜>' + message['tool_calls'][0]['type'] + '<｜end▁of▁sentence｜>'}}{%- endif %}"
    "{%- if message['role'] == 'assistant' and message['content'] is not none %}{%- if ns.tool %}"
    "{{'<｜tool▁outputs▁end｜>' + message['content'] + '<｜end▁of▁sentence｜>'}}{%- else %}"
    "{% set content = message['content'] %}"
    "{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}"
    "{{'<｜Assistant｜>' + content + '<｜end▁of▁sentence｜>'}}{%- endif %}{%- endif %}"
    "{%- if message['role'] == 'tool' %}"
    "{{'<｜tool▁output▁begin｜>' + message['content'] + '<｜tool▁output▁end｜>'}}{%- endif %}{%- endfor -%}"
    "{% if add_generation_prompt %}{{'<｜Assistant｜>'}}{% endif %}"
)

LLAMA3 = {"<|begin_of_text|>": 20, "<|start_header_id|>": 21, "<|end_header_id|>": 22, "<|eot_id|>": 23}
LLAMA3_SHAPE = (
    "{% for message in messages %}"
    "{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' "
    "+ message['content'] | trim + '<|eot_id|>' %}"
    "{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"
)

PHI = {"<|end|>": 30, "<|user|>": 31, "<|assistant|>": 32}
PHI_SHAPE = (
    "{% for message in messages %}{% if message['role'] == 'user' %}"
    "{{'<|user|>' + '\\n' + message['content'] + '<|end|>' + '\\n' + '<|assistant|>' + '\\n'}}"
    "{% else %}{{message['content'] + '<|end|>' + '\\n'}}{% endif %}{% endfor %}"
)

OPEN_ENDED = "{% for m in messages %}<|user|>\n{{ m.content }}{% endfor %}<|assistant|>"
PLAIN_TEXT = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
ANOTHER_NAME = (
    "{% for m in messages %}{% set body = m['content'] | trim %}{% set text = '> ' + body %}"
    "{{ '<|im_start|>' + text + '<|im_end|>' }}{% endfor %}"
)


@pytest.mark.parametrize(
    ("template", "controls", "end"),
    [
        (QWEN25_SHAPE, CHATML, IM_END),
        (QWEN3_SHAPE, CHATML, IM_END),
        (DEEPSEEK_SHAPE, DEEPSEEK, 11),
        (DEEPSEEK_SHAPE, DEEPSEEK_TOOLS, 11),
        (LLAMA3_SHAPE, LLAMA3, 23),
        (PHI_SHAPE, PHI, 30),
        (OPEN_ENDED, PHI, None),
        (PLAIN_TEXT, CHATML, IM_END),
        (ANOTHER_NAME, CHATML, IM_END),
    ],
    ids=[
        "qwen2.5",
        "qwen3",
        "deepseek",
        "deepseek with tools",
        "llama 3",
        "phi",
        "open",
        "text",
        "variables",
    ],
)
def test_the_token_that_closes_a_message(template, controls, end):
    assert turn_end(template, controls) == end


@pytest.mark.parametrize(
    ("template", "controls"),
    [
        ("", CHATML),
        (QWEN25_SHAPE, {}),
        ("{{ content }}", CHATML),
        ("<|im_end|>", CHATML),
        ("<|im_end|>{{ content }}", CHATML),
        ("{{ content }}{% if x %}<|im_end|>{% endif %}", CHATML),
        ("{% if content %}<|im_end|>", CHATML),
        ("{{ reasoning_content + '<|im_end|>' }}", CHATML),
        ("{{ contents }}<|im_end|>", CHATML),
        ("{{ content }}", {"": 5}),
        ("{%", CHATML),
        ("{% set a = content", CHATML),
    ],
)
def test_where_nothing_closes_a_message(template, controls):
    assert turn_end(template, controls) is None


def test_the_most_frequent_wins_and_of_equals_the_lowest_id():
    controls = {"<a>": 7, "<b>": 3}
    assert turn_end("{{ content }}<a>{{ content }}<b>{{ content }}<a>", controls) == 7
    assert turn_end("{{ content }}<a>{{ content }}<b>", controls) == 3


def test_the_longest_of_the_tokens_that_begin_at_a_place():
    assert turn_end("{{ content }}<a><b>", {"<a>": 1, "<a><b>": 2}) == 2


@pytest.mark.parametrize(
    "part",
    ["content ", "content<|im_end|>", "{% set a =", "{%set a=content%}", "{%", "%}", "{%set a=content{%", "content.",
     "{% set " + "a." * 50, "<|im_", "{% set   ", "a" * 40],
)  # fmt: skip
def test_templates_made_to_be_slow(part):
    """Half a megabyte takes a fraction of a second; what grows with the square would take hours."""
    started = time.process_time()
    assert turn_end(part * (500_000 // len(part)), CHATML) in (None, IM_END)
    assert time.process_time() - started < 20


def test_ids_that_are_named_more_than_once_are_listed_once():
    named = [(5, "eos"), (7, "eot"), (5, "eos_ids"), (9, "template"), (7, "template")]
    assert collect(named) == (
        EndId(5, ("eos", "eos_ids")),
        EndId(7, ("eot", "template")),
        EndId(9, ("template",)),
    )
    assert collect([]) == ()
