"""Templates to try, and rendering in this process."""

from pipeline.chat.render_child import answer
from pipeline.chat.template_form import read_form
from pipeline.errors import ModelError

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + @ + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
ADDED = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>")
FIXED = {"tools": None, "documents": None, "eos_token": "<|im_end|>"}


def chatml(content="m.content", before="", after=""):
    return before + CHATML.replace("@", content) + after


def renderer(template, switch="enable_thinking", date=None, fixed=FIXED):
    """Give a function that renders chats as the step does, without a process of its own."""

    def render(chats):
        request = {"template": template, "date": date, "characters": 1 << 20}
        found = answer({**request, "chats": [chat.variables(switch, fixed) for chat in chats]})
        return [each["text"] if "text" in each else ModelError(each["refusal"]) for each in found["rendered"]]

    return render


def form_of(template, added=ADDED, **options):
    return read_form("T", renderer(template, **options), added)
