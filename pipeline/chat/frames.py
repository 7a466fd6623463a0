r"""A template's frames in tokens, and how they are joined with encoded texts.

A tokenizer cuts a text at special tokens first and encodes each stretch between two of them on its own.
So the ids of a frame are its own from its first special token to its last; what stands before and behind
is encoded together with the text that it touches, because merges may reach across: a user's text that
begins with a line feed makes one token with the line feed of `user\n`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.errors import shown
from pipeline.bpe.encoder import Encoder
from pipeline.chat.template_form import FRAMES, GENERATION, NO_SYSTEM, NO_THINKING, THINKING
from pipeline.errors import CheckFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipeline.bpe.tables import TokenTables
    from pipeline.chat.chats import Chat
    from pipeline.chat.template_form import TemplateForm

_OPENINGS = (GENERATION, THINKING, NO_THINKING)
_FOLLOWERS = {
    NO_SYSTEM: ("before_user",),
    "after_system": ("before_user",),
    "after_user": ("before_assistant", *_OPENINGS),
    "after_assistant": ("before_user",),
    **dict.fromkeys(_OPENINGS, ()),
}
"""Frames that stand directly behind a frame, for those that no text follows."""


@dataclass(frozen=True)
class Frame:
    """What stands before or after a text.

    Attributes:
        text: the whole frame.
        head: the part that is encoded together with the text before it; all of it where `ids` is empty.
        ids: what is the same whatever stands around it.
        tail: the part that is encoded together with the text behind it.

    """

    text: str
    head: str
    ids: tuple[int, ...]
    tail: str


class ChatEncoder:
    """Encodes chats with a template's frames, as firmware does.

    Args:
        form: the template's fixed texts.
        tables: the vocabulary.

    Attributes:
        frames: by the names of `FRAMES`.

    """

    def __init__(self, form: TemplateForm, tables: TokenTables) -> None:
        self._form = form
        self._whole = Encoder(tables)
        self._plain = Encoder(tables, "none")
        cut = {name: self._cut(form.texts[name]) for name in FRAMES}
        self.frames: Mapping[str, Frame] = {name: self._closed(name, cut) for name in FRAMES}

    def encode(self, chat: Chat) -> list[int]:
        """Return the ids of a chat; special tokens in its texts are ordinary text."""
        ids: list[int] = []
        stretch = ""
        for name, text in self._form.parts(chat):
            frame = self.frames.get(name)
            if frame is None:
                stretch += text
                continue
            stretch += frame.head
            if frame.ids:
                ids += [*self._plain.encode(stretch), *frame.ids]
                stretch = frame.tail
        return ids + self._plain.encode(stretch)

    def check(self) -> int:
        """Hold the frames against whole rendered chats, those whose texts hold no special token.

        Returns:
            the number of chats.

        Raises:
            CheckFailed: other ids.

        """
        count = 0
        for chat, rendered in self._form.chats:
            if any(special is not None for text in chat.texts for _, special in self._whole.stretches(text)):
                continue
            count += 1
            found, expected = self.encode(chat), self._whole.encode(rendered)
            if found != expected:
                at = next(
                    (at for at, pair in enumerate(zip(found, expected, strict=False)) if pair[0] != pair[1]),
                    min(len(found), len(expected)),
                )
                raise CheckFailed(
                    f"expected frames and texts to give the ids of the whole chat {shown(rendered)}, found others "
                    f"from id {at} on: a special token of this vocabulary begins in a text and ends in a frame, or "
                    "the other way"
                )
        return count

    def _cut(self, text: str) -> Frame:
        """Cut a frame at its first and its last special token."""
        stretches = list(self._whole.stretches(text))
        special = [number for number, (_, token) in enumerate(stretches) if token is not None]
        if not special:
            return Frame(text, text, (), "")
        head, middle, tail = (
            "".join(part for part, _ in stretches[start:stop])
            for start, stop in ((0, special[0]), (special[0], special[-1] + 1), (special[-1] + 1, None))
        )
        return Frame(text, head, tuple(self._whole.encode(middle)), tail)

    def _closed(self, name: str, cut: Mapping[str, Frame]) -> Frame:
        """Give a frame its tail's ids too, where a special token or the end stands behind it and never a text."""
        frame = cut[name]
        followers = _FOLLOWERS.get(name)
        if followers is None or not frame.ids:
            return frame
        if any(cut[other].head or not cut[other].ids for other in followers):
            return frame
        return Frame(frame.text, frame.head, (*frame.ids, *self._plain.encode(frame.tail)), "")
