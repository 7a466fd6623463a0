"""Chat frames as C: a table of constants, for C99 and C++11, freestanding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.errors import shown
from pipeline.chat.template_form import FRAMES, Thoughts
from pipeline.firmware.c_text import comment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pipeline.chat.end_ids import Ends
    from pipeline.chat.frames import Frame
    from pipeline.chat.template_form import TemplateForm

HEADER_FILE = "chat_frames.h"
SOURCE_FILE = "chat_frames.c"
_A_LINE = 12


def chat_header(frames: Mapping[str, Frame], ends: Ends, form: TemplateForm, sha256: str) -> str:
    """Write chat_frames.h.

    Args:
        frames: one for each of `FRAMES`.
        ends: where an answer ends.
        form: the template's texts.
        sha256: of the template, in hexadecimal.

    """
    lines = [
        "/* What stands around the texts of a chat, in tokens; chat_frames.c defines it.",
        " *",
        " * A chat is CHAT_NO_SYSTEM, or CHAT_BEFORE_SYSTEM, a text, CHAT_AFTER_SYSTEM; then for each earlier turn a",
        " * user's text and the answer between their frames; then the last user's text between its frames, and one of",
        " * the CHAT_GENERATION frames. The text since the last frame with ids is encoded in one piece, special tokens",
        " * none: the tail of that frame, texts, and the head of the next frame with ids. */",
        "#ifndef CHAT_FRAMES_H",
        "#define CHAT_FRAMES_H",
        "",
        "#include <stdint.h>",
        "",
        "enum chat_frame_name {",
        *(
            f"    CHAT_{name.upper()} = {number}, /* {words} */"
            for number, (name, words) in enumerate(FRAMES.items())
        ),
        f"    CHAT_FRAMES = {len(FRAMES)}",
        "};",
        "",
        "struct chat_frame {",
        "    const uint8_t *head; /* encoded with the text before the frame; all of the frame where n_ids is 0 */",
        "    const uint32_t *ids;",
        "    const uint8_t *tail; /* encoded with the text behind the frame */",
        "    uint32_t head_bytes;",
        "    uint32_t n_ids;",
        "    uint32_t tail_bytes;",
        "};",
        "",
        f"#define CHAT_MAX_HEAD_BYTES {max(len(frame.head.encode()) for frame in frames.values())}u",
        f"#define CHAT_MAX_TAIL_BYTES {max(len(frame.tail.encode()) for frame in frames.values())}u",
        "",
        "/* 1: the template has a switch for thoughts. 0: the three CHAT_GENERATION frames are the same. */",
        f"#define CHAT_HAS_THINKING_SWITCH {int(form.switched)}",
        "",
        "/* What the template makes of an answer of an earlier turn that holds </think>: it stays; only what is behind",
        " * the last one stays; the same, without line feeds at its start. Firmware does so too, before it adds it. */",
        *(f"#define CHAT_THOUGHTS_{each.name} {each.value}" for each in Thoughts),
        f"#define CHAT_THOUGHTS CHAT_THOUGHTS_{form.thoughts.name}",
        "",
        f'#define CHAT_TEMPLATE_SHA256 "{sha256}"',
        f"#define CHAT_END_IDS {len(ends.ids)}u",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "extern const struct chat_frame chat_frames[CHAT_FRAMES];",
        "/* Ids at which an answer ends; 0xFFFFFFFF stands behind the last. */",
        "extern const uint32_t chat_end_ids[CHAT_END_IDS + 1u];",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "#endif /* CHAT_FRAMES_H */",
    ]
    return "\n".join(lines) + "\n"


def chat_source(frames: Mapping[str, Frame], ends: Ends) -> str:
    """Write chat_frames.c."""
    lines = ["/* What stands around the texts of a chat, in tokens. */", f'#include "{HEADER_FILE}"']
    for name, frame in frames.items():
        lines += _arrays(name, frame)
    lines += ["", "const struct chat_frame chat_frames[CHAT_FRAMES] = {"]
    lines += [_entry(name, frame) for name, frame in frames.items()]
    lines += ["};", "", "const uint32_t chat_end_ids[CHAT_END_IDS + 1u] = {"]
    for end in ends.ids:
        origins = comment(f"{shown(end['token'])}: {', '.join(end['named_by'])}")
        lines.append(f"    {end['id']}u, /* {origins} */")
    lines += ["    0xFFFFFFFFu,", "};"]
    return "\n".join(lines) + "\n"


def _arrays(name: str, frame: Frame) -> Iterator[str]:
    yield ""
    yield f"/* {name}: {comment(shown(frame.text))} */"
    for part, text in (("head", frame.head), ("tail", frame.tail)):
        if text:
            yield from _array(f"uint8_t {name}_{part}", [str(byte) for byte in text.encode()])
    if frame.ids:
        yield from _array(f"uint32_t {name}_ids", [f"{token}u" for token in frame.ids])


def _array(what: str, values: Sequence[str]) -> Iterator[str]:
    yield f"static const {what}[] = {{"
    for at in range(0, len(values), _A_LINE):
        yield f"    {', '.join(values[at : at + _A_LINE])},"
    yield "};"


def _entry(name: str, frame: Frame) -> str:
    head, tail = len(frame.head.encode()), len(frame.tail.encode())
    pointers = (
        f"{name}_{part}" if count else "0"
        for part, count in (("head", head), ("ids", len(frame.ids)), ("tail", tail))
    )
    return f"    {{{', '.join(pointers)}, {head}u, {len(frame.ids)}u, {tail}u}}, /* {name} */"
