"""Chats with Qwen3's vocabulary: frames and texts, joined in Python and in C, against the reference.

The reference encodes the whole chat, as Jinja renders it, at once. Where a text holds special tokens it
cannot be asked so: it encodes the stretches between the template's own special tokens instead.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from c_programs import SANITIZERS, WARNINGS
from firmware_build import A53, LIBRARY, STRICT
from required_tools import need, run

sys.path.append(str(Path(__file__).parents[1] / "chat"))

from chat_templates import renderer

from pipeline.chat.chats import SHAPES, Chat, hostile_chats, marked_chats
from pipeline.chat.end_ids import Ends
from pipeline.chat.frames import ChatEncoder
from pipeline.chat.template_form import read_form
from pipeline.firmware.chat_c import chat_header, chat_source
from pipeline.sources.sample.texts import CHAT_TEMPLATES

EXAMPLE = LIBRARY.with_name("chat_frames")
SYSTEM = "{{ '<|im_start|>system\\nYou are told: 100 % <|im_end|>\\n' }}"
TEMPLATES = {
    "qwen3": CHAT_TEMPLATES["qwen3"],
    "default system": "{% if messages[0].role != 'system' %}" + SYSTEM + "{% endif %}" + CHAT_TEMPLATES["qwen2.5"],
    "no specials": (
        "{% for m in messages %}{{ m.role + ':\n' + m.content + '\n\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ 'assistant:\n' }}{% endif %}"
    ),
    "specials inside": CHAT_TEMPLATES["qwen2.5"].replace("'<|im_start|>'", "'\\n<|im_start|>'"),
}  # fmt: skip


@pytest.fixture(scope="module", params=TEMPLATES)
def form(request, qwen3):
    added = [qwen3.token_bytes(token).decode() for token in qwen3.added_tokens]
    return read_form("T", renderer(TEMPLATES[request.param]), added), added


def expected(form, chat, text, oracles, specials):
    """Give the reference's ids of a rendered chat, of which `form` tells only where the texts stand."""
    if not any(special in said for said in chat.texts for special in specials):
        return oracles["all"].encode(text)
    cut = re.compile("(" + "|".join(map(re.escape, sorted(specials, key=len, reverse=True))) + ")")
    stretches = [""]
    for name, part in form.parts(chat):
        for piece in cut.split(part) if name else [part]:
            if name and piece in specials:
                stretches += [piece, ""]
            else:
                stretches[-1] += piece
    assert "".join(stretches) == text
    return [
        token
        for number, stretch in enumerate(stretches)
        for token in oracles["all" if number % 2 else "none"].encode(stretch)
    ]


def test_frames_and_texts_give_the_ids_of_the_whole_chat(form, qwen3, oracles):
    form, added = form
    encoder = ChatEncoder(form, qwen3)
    chats = [*marked_chats(), *hostile_chats(added)]
    assert [chat for chat, _ in form.chats] == chats
    for chat, text in form.chats:
        assert encoder.encode(chat) == expected(form, chat, text, oracles, added), chat
    assert encoder.check() > 100


PIECES = [
    "\n",
    "\n\n",
    " ",
    "  ",
    "\r\n",
    "\t",
    "a",
    "user",
    "The",
    "12",
    "'s",
    "é",
    "\u0301",
    "中",
    "!",
    "%",
    "<",
    "|>",
    "\u3000",
]


def test_random_chats(form, qwen3, oracles):
    form, _ = form
    encoder = ChatEncoder(form, qwen3)
    chance = random.Random(6)
    for _ in range(150):
        roles = chance.choice(SHAPES)
        texts = ("".join(chance.choices(PIECES, k=chance.randrange(6))) for _ in roles)
        chat = Chat(roles, tuple(texts), thinking=chance.choice([None, True, False]))
        assert encoder.encode(chat) == oracles["all"].encode(form.rendered(chat)), chat


def test_the_empty_thought_of_qwen3(qwen3):
    form = read_form("T", renderer(TEMPLATES["qwen3"]), ())
    frames = ChatEncoder(form, qwen3).frames
    assert frames["generation_no_thinking"].ids == (151644, 77091, 198, 151667, 271, 151668, 271)
    assert frames["before_user"].ids == (151644,)
    assert frames["before_user"].tail == "user\n"


def test_a_line_feed_at_the_start_of_a_text_merges_with_that_of_the_frame(qwen3, oracles):
    form = read_form("T", renderer(TEMPLATES["qwen3"]), ())
    chat = Chat(("user",), ("\n\nHi",))
    ids = ChatEncoder(form, qwen3).encode(chat)
    assert ids == oracles["all"].encode("<|im_start|>user\n\n\nHi<|im_end|>\n<|im_start|>assistant\n")
    assert ids[:3] == [151644, 872, 1406]  # and not 198, 271


@pytest.fixture(scope="module")
def frames_folder(form, qwen3, tmp_path_factory):
    """Write a template's frames as C."""
    form, _ = form
    folder = tmp_path_factory.mktemp("frames")
    ends = Ends(({"id": 151645, "token": "<|im_end|>", "named_by": ["a key"]},), ())
    frames = ChatEncoder(form, qwen3).frames
    (folder / "chat_frames.h").write_text(chat_header(frames, ends, form, "0" * 64), encoding="ascii")
    (folder / "chat_frames.c").write_text(chat_source(frames, ends), encoding="ascii")
    return folder


def program(workshop, folder, compiler="gcc", *flags):
    tokenizer = workshop.object("gcc", *STRICT, "-O2")
    sources = [EXAMPLE / "main.c", EXAMPLE / "q25_chat.c", folder / "chat_frames.c", tokenizer]
    made = folder / f"chat {compiler}"
    run(need(compiler), "-std=c99", *WARNINGS, *flags, f"-I{folder}", f"-I{LIBRARY}", *sources, "-o", made)
    return made


def words_of(chat):
    opening = {None: [], True: ["--think"], False: ["--no-think"]}[chat.thinking]
    return [*opening, *(word for pair in zip(chat.roles, chat.texts, strict=True) for word in pair)]


@pytest.mark.parametrize("form", ["qwen3", "no specials", "specials inside"], indirect=True)
def test_the_example_in_c_gives_the_same_ids(workshop, frames_folder, form, qwen3, qwen_fast_image):
    """And touches nothing beyond its buffers."""
    form, added = form
    encoder = ChatEncoder(form, qwen3)
    made = program(workshop, frames_folder, "clang", *SANITIZERS)
    for chat in [*marked_chats()[-4:], *hostile_chats(added)[::6], *hostile_chats(added)[-4:]]:
        printed = run(made, qwen_fast_image, *words_of(chat))
        assert [int(word) for word in printed.split()] == encoder.encode(chat), chat


@pytest.mark.parametrize("form", ["qwen3"], indirect=True)
def test_the_example_builds_for_the_board(frames_folder):
    includes = (f"-I{frames_folder}", f"-I{LIBRARY}")
    for source in (EXAMPLE / "q25_chat.c", frames_folder / "chat_frames.c"):
        made = frames_folder / "board.o"
        run(need("aarch64-linux-gnu-gcc"), *STRICT, *A53, "-O2", *includes, "-c", source, "-o", made)
        undefined = run(need("aarch64-linux-gnu-nm"), "-u", made).replace("U", "").split()
        assert set(undefined) <= {"chat_frames", "chat_end_ids", "q25_nl_tokenizer_bundle_encode_bpe_bounded"}
        run(need("g++"), "-x", "c++", "-std=c++11", *WARNINGS, *includes, "-fsyntax-only", source)


@pytest.mark.parametrize("form", ["qwen3"], indirect=True)
def test_the_program_refuses_what_is_no_chat(workshop, frames_folder, qwen_fast_image, tmp_path):
    made = program(workshop, frames_folder)
    for words in (
        (),
        ("user",),
        ("assistant", "x"),
        ("user", "x", "user", "x"),
        ("system", "x"),
        ("--think",),
    ):
        ended = subprocess.run([made, qwen_fast_image, *words], capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr.split(":")[0]) == (2, "usage")
    cut = tmp_path / "cut.img"
    cut.write_bytes(qwen_fast_image.read_bytes()[:-64])
    for path, code, words in ((cut, 3, "BAD_TOTAL_BYTES"), (tmp_path / "none", 4, "cannot be read")):
        ended = subprocess.run([made, path, "user", "x"], capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (code, f"chat: {path}: {words}\n")
