"""Step `chat_frames`: what a chat template writes around texts, in tokens."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from formats.errors import shown
from pipeline.manifest.fields import Identifier
from pipeline.manifest.kinds import FilePath, Text
from pipeline.manifest.parameters import Parameter
from pipeline.steps.runtime_image import FACTS, IMAGE
from pipeline.steps.step import MODEL, MODEL_LAYERS, Artifact, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pipeline.chat.chats import Chat
    from pipeline.errors import ModelError
    from pipeline.steps.step import Job

FRAMES = "chat_frames.json"


class ChatFrames(Step):
    """Take the frames of a chat out of the model's template: the ids before and after each role's text.

    The template is the GGUF's `tokenizer.chat_template`, in Jinja (Ollama's own template is in another
    language and says less), or the file that `template` names. It is run on this machine, in Jinja's
    sandbox and within limits; that takes the extra `chat`. Marks stand for the texts, and hostile texts
    are tried too: a template that alters, trims, repeats or reorders texts, or writes anything that
    depends on them, is refused with the reason.

    Each frame has `ids`, the same whatever stands around it, and a `tail` (and a `head`), to be encoded together
    with the text that it touches: `user` and a line feed in front of a user's text, whose own first line feeds
    may merge with that one. So joined, frames and texts give the ids of the whole rendered chat; the step holds
    them against it. [examples/chat_frames](../examples/chat_frames/README.md) does it in C.

    End ids are listed with the keys that name them: the GGUF's, the template's end of a turn, Ollama's `stop`.
    """

    name = "chat_frames"
    summary = "the ids before and after a system, user and assistant text, from the chat template"
    parameters = (
        Parameter("template", FilePath(), None, "A file with a template in Jinja; left out, the GGUF's own."),
        Parameter(
            "thinking",
            Identifier(),
            "enable_thinking",
            "The template's variable that turns thoughts on and off.",
        ),
        Parameter(
            "date", Text("a date as 2024-07-26"), None, "What a template gets that asks for the day's date."
        ),
    )
    reads = (MODEL, MODEL_LAYERS, IMAGE, FACTS)
    files = ("template",)
    writes = (
        Artifact(FRAMES, "chat frames", "1", "frames, end ids and texts to stop at"),
        Artifact("chat_frames.h", "C header", "1", "names of the frames, and what chat_frames.c defines"),
        Artifact("chat_frames.c", "C source", "1", "frames and end ids as constants"),
    )

    def problems(self, parameters: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
        """Say what is no date."""
        date = parameters["date"]
        if date is not None and not _is_date(date):
            yield ("date",), f"expected a date as 2024-07-26, found {date}"

    def run(self, job: Job) -> None:
        """Write the frames."""
        import json

        from formats.q25tokrt.verify import verify_image
        from pipeline.bpe.image_tables import ImageTables
        from pipeline.chat.document import frames_document
        from pipeline.chat.end_ids import ends_of
        from pipeline.chat.frames import ChatEncoder
        from pipeline.chat.rendering import render
        from pipeline.chat.template_choice import choose_template, fixed_variables
        from pipeline.chat.template_form import read_form
        from pipeline.firmware import chat_c
        from pipeline.text_output import json_document

        facts = json.loads(job.read(FACTS))
        tables = ImageTables(verify_image(job.read(IMAGE), IMAGE))
        template = choose_template(job.model.gguf, job.path("template"))
        fixed = fixed_variables(facts["special_ids"], tables)
        switch, date = job.parameters["thinking"], job.parameters["date"]

        def rendered(chats: Sequence[Chat]) -> list[str | ModelError]:
            return render(
                template.name, template.text, [chat.variables(switch, fixed) for chat in chats], date
            )

        form = read_form(template.name, rendered, [entry["token"] for entry in facts["added_tokens"]])
        encoder = ChatEncoder(form, tables)
        held = encoder.check()
        frames = encoder.frames
        ends = ends_of(facts, job.model.text_layers.get("params"))
        job.write(FRAMES, json_document(frames_document(template, form, frames, ends, switch)))
        job.write(chat_c.HEADER_FILE, chat_c.chat_header(frames, ends, form, template.sha256).encode())
        job.write(chat_c.SOURCE_FILE, chat_c.chat_source(frames, ends).encode())
        job.say(
            f"{template.name}: "
            + (f"{switch} turns thoughts on and off" if form.switched else "no switch for thoughts")
            + f", {held} of {len(form.chats)} whole chats compared; end ids "
            + (", ".join(str(entry["id"]) for entry in ends.ids) or "none")
        )
        if ends.texts:
            more = f" and {len(ends.texts) - 1} more" if len(ends.texts) > 1 else ""
            job.warn(
                f"Ollama also stops this model at {shown(ends.texts[0])}{more}, which is no single token: firmware "
                "has to look for it in the answer's text"
            )


def _is_date(text: str) -> bool:
    try:
        return dt.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
