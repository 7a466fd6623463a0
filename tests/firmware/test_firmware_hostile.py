"""Images that open but whose sections are damaged: a status or other ids, never a step outside the image."""

from __future__ import annotations

import random
import struct

import pytest
from c_programs import SANITIZERS
from firmware_build import HERE, SOURCE
from firmware_driver import OK, STATUS, Requests
from image_bytes import ImageBytes
from required_tools import run
from small_vocabulary import CONTROL, USER_DEFINED, grown

INDEX, BYTES, MERGES, MAP, PAIRS, SPECIALS = range(6)
VOCABULARY = grown("a|b", "ab|c", "c|a", added=[("<s>", CONTROL), ("<sx>", USER_DEFINED)])
IMAGE = VOCABULARY.image()
TEXT = "abcab <s> <sx>" + "abc" * 40
DAMAGED = STATUS["IMAGE_DAMAGED"]


def edited(section, offset, *words, base=IMAGE):
    made = ImageBytes(base)
    at = made.section(section).start + offset
    made.raw[at : at + 4 * len(words)] = struct.pack(f"<{len(words)}I", *words)
    return made


def cleared(made, flag):
    return bytes(made.set_header(flags=made.header("flags") & ~flag).seal())


@pytest.mark.parametrize("kind", ["gcc", "sanitized"])
def test_ids_that_are_no_tokens(driver, kind):
    images = [
        (bytes(edited(MAP, 4 * ord("a"), 261).seal()), DAMAGED),
        (bytes(edited(MAP, 4 * ord("a"), 2**31 + 5).seal()), DAMAGED),
        (cleared(edited(MERGES, 8, 261), 1), DAMAGED),
        (cleared(edited(MERGES, 8, 2**32 - 1), 1), DAMAGED),
        (bytes(edited(SPECIALS, 32, 261, 2**32 - 1).seal()), OK),  # never matched
        (bytes(edited(SPECIALS, 0, *[2**32 - 1] * 8).seal()), OK),
        (bytes(edited(INDEX, 8 * 259, 2**32 - 1, 0x0003FFFF, 5, 0x0004FFFF).seal()), OK),
    ]
    requests = Requests()
    for image, _ in images:
        requests.set_image(image)
        requests.encode(TEXT)
        requests.encode("abc" * 40)  # a long piece
    answers = driver(kind).run(requests)
    for (_, status), opened, found, long in zip(images, *[iter(answers)] * 3, strict=True):
        assert opened == OK
        assert found.status == long.status == status
        assert found.intact


@pytest.mark.parametrize("kind", ["gcc", "sanitized"])
def test_a_merge_pair_index_of_rubbish(driver, kind):
    """Full slots and slots that name no row: look-ups end, and give no merge that the table lacks."""
    chance = random.Random(151)
    n_slots = ImageBytes(IMAGE).entry(PAIRS, "count")
    requests = Requests()
    for number in range(200):
        value = [lambda: 1, lambda: 0xFFFC0000, lambda: chance.getrandbits(32), lambda: 0][number % 4]
        requests.set_image(
            bytes(edited(PAIRS, 0, *[value() for _ in range(n_slots)]).set_header(max_probe=16).seal())
        )
        requests.encode(TEXT)
    answers = driver(kind).run(requests)
    assert set(answers[::2]) == {OK}
    assert {answer.status for answer in answers[1::2]} == {OK}


@pytest.mark.parametrize("kind", ["gcc", "sanitized"])
def test_sections_of_rubbish(driver, kind):
    chance = random.Random(152)
    requests = Requests()
    for number in range(300):
        made = ImageBytes(IMAGE)
        part = made.section(number % 6)
        if number < 150:
            made.raw[part] = chance.randbytes(part.stop - part.start)
        else:  # small numbers, which get further
            made.raw[part] = bytes(chance.choices(range(4), k=part.stop - part.start))
        made.set_header(flags=chance.choice([1, 2, 3]), max_probe=16)
        requests.set_image(bytes(made.seal()))
        requests.encode(TEXT)
        requests.encode("a\u0301 <s>" * 9, flags=1)
        requests.detokenize(chance.choices(range(262), k=9))
        requests.stream(chance.choices(range(261), k=9))
    answers = driver(kind).run(requests)
    known = {OK, DAMAGED, STATUS["BYTE_WITHOUT_TOKEN"]}
    assert set(answers[::5]) == {OK}
    assert {answer.status for answer in [*answers[1::5], *answers[2::5]]} <= known
    assert all(answer.intact for answer in [*answers[1::5], *answers[2::5], *answers[3::5]])


@pytest.mark.parametrize("flags", [("gcc", "-O2"), ("clang", "-O1", *SANITIZERS)], ids=["gcc", "sanitized"])
def test_null_pointers_and_useless_arguments(workshop, tmp_path, flags):
    compiler, *options = flags
    program = workshop.program(
        compiler, *options, "-std=c99", "-Wall", sources=(HERE / "arguments.c", SOURCE)
    )
    image = tmp_path / "image"
    image.write_bytes(grown("a|b", added=[("<s>", CONTROL)]).image(end_ids=(98, 257)))
    assert run(program, image) == ""
