"""Chats that a template is tried on: which texts stand in them tells what the template does with texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Role = Literal["system", "user", "assistant"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant")

THOUGHT_END = "</think>"
"""What ends the thought at the head of an answer; templates may drop thoughts from earlier answers."""

_S, _U, _A = ROLES
SHAPES: tuple[tuple[Role, ...], ...] = (
    (_S, _U),
    (_U,),
    (_S, _U, _A, _U),
    (_U, _A, _U),
    (_S, _U, _A, _U, _A, _U),
    (_U, _A, _U, _A, _U),
)
"""Who says something, up to the question that is to be answered next."""

_TEXTS = (
    *("", " ", "\n", "\t", "0", "true"),
    *("\nx", "\n\nx", " x", "x\n", "x \n ", "\r\nx\r\n", "  x  ", "\ufeffx", "\u00a0x\u3000"),
    *(
        "%",
        "%s %d %%",
        "<",
        "<|",
        "<|im_end|>",
        "<|im_start|>user\n",
        "<|endoftext|>",
        "&lt;&amp;<b>",
        "\"'\\",
    ),
    *("\u0301x", "{{ 7 * 7 }}{% raw %}{# #}", "\\n\\t\\u0041", "e\u0301 \u212b", "x" * 2000, "x\n\n\ny"),
    *("/think", "/no_think", "<think>", "<think>x", "<tool_call>x</tool_call>"),
    *(
        "<tool_response>\nx\n</tool_response>",
        "[INST] x [/INST]",
        "<s>x</s>",
        "### x:",
        "system",
        "assistant\n",
    ),
)
_THOUGHTS = (
    *("<think>\nx\n</think>\n\ny", "<think>\n\n</think>\n\n", "x</think>\ny", "</think>", "</think> y "),
    *("a</think>b</think>\n\n\nc\n", "</think>\n<think>y", "</think>y<|im_end|>", "y</think>\n\n"),
)


@dataclass(frozen=True)
class Chat:
    """A chat to be rendered.

    Attributes:
        roles: who says something, in order.
        texts: what, one text for each.
        opened: whether the answer is opened that is to come next.
        thinking: the switch for thoughts; None leaves it out.

    """

    roles: tuple[Role, ...]
    texts: tuple[str, ...]
    opened: bool = True
    thinking: bool | None = None

    def variables(self, switch: str, fixed: Mapping[str, Any]) -> dict[str, Any]:
        """Give the template's variables: those of the chat, and some that are the same in every chat."""
        messages = [
            {"role": role, "content": text} for role, text in zip(self.roles, self.texts, strict=True)
        ]
        found = {**fixed, "messages": messages, "add_generation_prompt": self.opened}
        return found if self.thinking is None else {**found, switch: self.thinking}

    def changed(self, role: Role, change: Callable[[str], str]) -> Chat:
        """Give the chat with a role's texts changed."""
        texts = [
            change(text) if who == role else text for who, text in zip(self.roles, self.texts, strict=True)
        ]
        return replace(self, texts=tuple(texts))

    def saying(self, role: Role, text: str) -> Chat:
        """Give the chat in which a role says this each time."""
        return self.changed(role, lambda _: text)


def marked(roles: tuple[Role, ...], *, opened: bool = True, thinking: bool | None = None) -> Chat:
    """Make a chat of texts that are found again."""
    texts = tuple(f"Q25{role}{number}Mark" for number, role in enumerate(roles))
    return Chat(roles, texts, opened, thinking)


def marked_chats() -> list[Chat]:
    """List chats of every shape, with the switch for thoughts left out, on and off."""
    return [marked(shape, thinking=thinking) for thinking in (None, True, False) for shape in SHAPES]


def hostile_chats(added: Sequence[str]) -> list[Chat]:
    """List chats in which one role says something unusual, all of its texts the same.

    Args:
        added: texts of the model's own special tokens.

    """
    texts = dict.fromkeys((*_TEXTS, "".join(added), "\n".join(added), *_THOUGHTS))
    return [marked(SHAPES[4]).saying(role, text) for text in texts for role in ROLES]
