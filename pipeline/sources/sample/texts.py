"""The sample's texts: chat templates, system text, licence, parameters. All of them are this project's own.

The chat templates are for Jinja as chat libraries run it: `messages` with `role` and `content`,
`add_generation_prompt`. Only expressions write anything, so that no setting of Jinja's for blanks
and line ends changes the outcome.
"""

from __future__ import annotations

_CHATML = r"""
{%- for message in messages -%}
{{- '<|im_start|>' + message.role + '\n' + (message.content or '') + '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{- '<|im_start|>assistant\n' -}}
{%- endif -%}
"""

# A thought stands in `reasoning_content` or at the head of the content. It is kept for answers after
# the last question and dropped from earlier ones; `enable_thinking` false opens with an empty thought.
_CHATML_THINK = r"""
{%- set last = namespace(question=-1) -%}
{%- for message in messages -%}
{%- if message.role == 'user' -%}{%- set last.question = loop.index0 -%}{%- endif -%}
{%- endfor -%}
{%- for message in messages -%}
{%- set thought = message.reasoning_content or '' -%}
{%- set answer = message.content or '' -%}
{%- if message.role == 'assistant' and '</think>' in answer -%}
{%- set thought = thought or answer.split('</think>')[0].split('<think>')[-1] -%}
{%- set answer = answer.split('</think>')[-1].lstrip('\n') -%}
{%- endif -%}
{{- '<|im_start|>' + message.role + '\n' -}}
{%- if thought and message.role == 'assistant' and loop.index0 > last.question -%}
{{- '<think>\n' + thought.strip('\n') + '\n</think>\n\n' -}}
{%- endif -%}
{{- answer + '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{- '<|im_start|>assistant\n' -}}
{%- if enable_thinking is defined and not enable_thinking -%}
{{- '<think>\n\n</think>\n\n' -}}
{%- endif -%}
{%- endif -%}
"""

CHAT_TEMPLATES = {"qwen2.5": _CHATML.strip(), "qwen3": _CHATML_THINK.strip()}
"""`tokenizer.chat_template` by family, in Jinja."""

OLLAMA_TEMPLATE = """\
{{- if .System }}<|im_start|>system
{{ .System }}<|im_end|>
{{ end }}{{ if .Prompt }}<|im_start|>user
{{ .Prompt }}<|im_end|>
{{ end }}<|im_start|>assistant
{{ .Response }}<|im_end|>
"""
"""The layer `template`, in Ollama's own template language."""

SYSTEM = "This is a sample: its vocabulary is real, its weights are not."

LICENSE = """\
The vocabulary in this sample is that of Qwen2.5 and Qwen3, published by Alibaba Cloud under the
Apache License, Version 2.0. The weights are made up: their bytes come from a hash function, so this
is no language model and its answers mean nothing. Weights and texts are free of any rights.
"""

PARAMS = {"stop": ["<|im_start|>", "<|im_end|>"]}
