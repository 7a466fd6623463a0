"""What a chat template writes around the texts of a chat, or why that is nothing fixed.

A template is a program. Firmware cannot run it, so this takes out of it what is the same in every chat:
the text before and after each role's own. That is only possible where the template writes each text
once, in order and unchanged, and where nothing else depends on the texts; each of these is tried, and a
template that fails is refused with the chat that it fails on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from formats.errors import shown
from pipeline.chat.chats import THOUGHT_END, Chat, hostile_chats, marked, marked_chats
from pipeline.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pipeline.chat.chats import Role

    Render = Callable[[Sequence[Chat]], Sequence[str | ModelError]]

NO_SYSTEM = "no_system"
GENERATION, THINKING, NO_THINKING = "generation", "generation_thinking", "generation_no_thinking"
FRAMES = {
    NO_SYSTEM: "where a chat without a system text begins",
    "before_system": "before a system text",
    "after_system": "after a system text",
    "before_user": "before a user's text",
    "after_user": "after a user's text",
    "before_assistant": "before an answer of an earlier turn",
    "after_assistant": "after an answer of an earlier turn",
    GENERATION: "opens the next answer, with nothing said of thoughts",
    THINKING: "opens the next answer, thoughts on",
    NO_THINKING: "opens the next answer, thoughts off",
}
"""Every frame, in the order of the C enumeration, and where it stands."""


class Thoughts(IntEnum):
    """What becomes of an answer of an earlier turn that holds `</think>`."""

    KEPT = 0
    DROPPED = 1
    DROPPED_WITH_LINE_FEEDS = 2

    def apply(self, answer: str) -> str:
        """Give what the template writes of an answer."""
        if self is Thoughts.KEPT or THOUGHT_END not in answer:
            return answer
        rest = answer.rsplit(THOUGHT_END, 1)[1]
        return rest.lstrip("\n") if self is Thoughts.DROPPED_WITH_LINE_FEEDS else rest


@dataclass(frozen=True)
class TemplateForm:
    """A template's fixed texts.

    Attributes:
        texts: of each of `FRAMES`.
        switched: whether the switch for thoughts changes how an answer is opened.
        thoughts: what becomes of thoughts in earlier answers.
        chats: the chats that were tried, each with what the template wrote.

    """

    texts: Mapping[str, str]
    switched: bool
    thoughts: Thoughts
    chats: tuple[tuple[Chat, str], ...] = ()

    def parts(self, chat: Chat) -> Iterable[tuple[str, str]]:
        """Yield what a chat is made of: (name of a frame, its text), or ("", a text of the chat's)."""
        if chat.roles[0] != "system":
            yield NO_SYSTEM, self.texts[NO_SYSTEM]
        for role, text in zip(chat.roles, chat.texts, strict=True):
            yield f"before_{role}", self.texts[f"before_{role}"]
            yield "", self.thoughts.apply(text) if role == "assistant" else text
            yield f"after_{role}", self.texts[f"after_{role}"]
        if chat.opened:
            name = {None: GENERATION, True: THINKING, False: NO_THINKING}[chat.thinking]
            yield name, self.texts[name]

    def rendered(self, chat: Chat) -> str:
        """Join the parts of a chat."""
        return "".join(text for _, text in self.parts(chat))


def read_form(name: str, render: Render, added: Sequence[str]) -> TemplateForm:
    """Take the fixed texts out of a template.

    Args:
        name: what the template is called in messages.
        render: renders chats with it.
        added: texts of the model's special tokens; chats that hold them are tried too.

    Raises:
        ModelError: the template is not of that form; with the reason.

    """
    chats = [
        marked(("system", "user"), opened=False),
        marked(("system", "user", "assistant"), opened=False),
        *marked_chats(),
        *hostile_chats(added),
    ]
    tried = {chat: _text_of(name, chat, text) for chat, text in zip(chats, render(chats), strict=False)}
    form = _take_apart(name, tried)
    refusals = []
    for thoughts in Thoughts:
        found = TemplateForm(form.texts, form.switched, thoughts, tuple(tried.items())[2:])
        wrong = next((chat for chat, text in found.chats if found.rendered(chat) != text), None)
        if wrong is None:
            return found
        refusals.append(_difference(name, found, wrong))
    raise refusals[0]


def _text_of(name: str, chat: Chat, text: str | ModelError) -> str:
    if isinstance(text, str):
        return text
    raise ModelError(
        f"{name}: expected a text for a chat of {', '.join(chat.roles)}, found a refusal: {text}"
    )


def _take_apart(name: str, tried: Mapping[Chat, str]) -> TemplateForm:
    """Find the frames between the marks; whether they are the same in every chat is not looked at."""

    def gaps(*roles: Role, opened: bool = True, thinking: bool | None = None) -> list[str]:
        chat = marked(roles, opened=opened, thinking=thinking)
        return _gaps(name, chat, tried[chat])

    def without(text: str, *, head: str = "", tail: str = "") -> str:
        if not (text.startswith(head) and text.endswith(tail) and len(text) >= len(head) + len(tail)):
            raise ModelError(
                f"{name}: expected the same text around a message wherever it stands, found {shown(text)} "
                f"{'without ' + shown(head) + ' at its start' if head else 'without ' + shown(tail) + ' at its end'}"
            )
        return text[len(head) : len(text) - len(tail)]

    after_user = gaps("system", "user", opened=False)[-1]
    after_assistant = gaps("system", "user", "assistant", opened=False)[-1]
    long = gaps("system", "user", "assistant", "user")
    before_user = without(long[3], head=after_assistant)
    openings = {
        frame: without(gaps("system", "user", thinking=thinking)[-1], head=after_user)
        for frame, thinking in ((GENERATION, None), (THINKING, True), (NO_THINKING, False))
    }
    texts = {
        NO_SYSTEM: without(gaps("user")[0], tail=before_user),
        "before_system": long[0],
        "after_system": without(long[1], tail=before_user),
        "before_user": before_user,
        "after_user": after_user,
        "before_assistant": without(long[2], head=after_user),
        "after_assistant": after_assistant,
        **openings,
    }
    return TemplateForm(texts, len(set(openings.values())) > 1, Thoughts.KEPT)


def _gaps(name: str, chat: Chat, text: str) -> list[str]:
    """Cut a rendered chat at its marks: one part more than there are messages."""
    places = []
    for role, mark in zip(chat.roles, chat.texts, strict=True):
        count = text.count(mark)
        if count != 1:
            how = f"{count} times" if count else "altered or left out"
            raise ModelError(
                f"{name}: expected each text once and as it is, found a text of {role} {how} in a chat of "
                f"{', '.join(chat.roles)}"
            )
        places.append(text.index(mark))
    if places != sorted(places):
        raise ModelError(
            f"{name}: expected the texts in the chat's order, found another in a chat of {', '.join(chat.roles)}"
        )
    found, at = [], 0
    for place, mark in zip(places, chat.texts, strict=True):
        found.append(text[at:place])
        at = place + len(mark)
    return [*found, text[at:]]


def _difference(name: str, form: TemplateForm, chat: Chat) -> ModelError:
    """Say what a template does otherwise in a chat than its frames say."""
    role, said = _unusual(chat)
    if role is None:
        switch = "" if chat.thinking is None else f", thoughts {'on' if chat.thinking else 'off'}"
        return ModelError(
            f"{name}: expected the same text around a message wherever it stands, found another in a chat of "
            f"{', '.join(chat.roles)}{switch}"
        )
    alike = [(each.changed, text) for each, text in form.chats if _unusual(each)[0] == role]
    for where, trim in (("its start", str.lstrip), ("its end", str.rstrip), ("both ends", str.strip)):
        if all(form.rendered(changed(role, trim)) == text for changed, text in alike):
            return ModelError(
                f"{name}: expected each text as it is, found a text of {role} trimmed at {where}"
            )
    return ModelError(
        f"{name}: expected the same frames whatever the texts are, found others, or an altered text, where "
        f"{role} says {shown(said)}"
    )


def _unusual(chat: Chat) -> tuple[Role | None, str]:
    """Find who says something else than a mark, and what."""
    usual = marked(chat.roles).texts
    odd = (pair[:2] for pair in zip(chat.roles, chat.texts, usual, strict=True) if pair[1] != pair[2])
    return next(odd, (None, ""))
