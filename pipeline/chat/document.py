"""`chat_frames.json`: the frames of a template, and where an answer ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.chat.template_form import NO_THINKING, THINKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipeline.chat.end_ids import Ends
    from pipeline.chat.frames import Frame
    from pipeline.chat.template_choice import ChosenTemplate
    from pipeline.chat.template_form import TemplateForm


def frames_document(
    template: ChosenTemplate, form: TemplateForm, frames: Mapping[str, Frame], ends: Ends, switch: str
) -> dict[str, Any]:
    """List everything as plain values.

    Args:
        template: what was run.
        form: its fixed texts.
        frames: the same in tokens.
        ends: where an answer ends.
        switch: the variable that turns thoughts on and off.

    """
    return {
        "template": template.name,
        "template_sha256": template.sha256,
        "thinking_switch": switch if form.switched else None,
        "thoughts_in_earlier_answers": form.thoughts.name.lower(),
        "frames": {
            name: {"text": frame.text, "head": frame.head, "ids": list(frame.ids), "tail": frame.tail}
            for name, frame in frames.items()
            if form.switched or name not in (THINKING, NO_THINKING)
        },
        "end_ids": [dict(entry) for entry in ends.ids],
        "stop_texts": list(ends.texts),
    }
