"""Tokens of an image of profile compact, which lie in parts: looked up by id and by text, and compared."""

import json

import pytest
from command_line import call
from small_vocabulary import CONTROL, USER_DEFINED, grown

from formats.q25tokrt.image import open_image
from formats.q25tokrt.layout import Kind, Profile

ADDED = [("<s>", CONTROL), ("<u>", USER_DEFINED)]
VOCABULARY = grown("a|b", "ab|c", "c|a", added=ADDED, pads=1)


@pytest.fixture
def images(tmp_path):
    """Give the file of each profile's image."""
    made = {profile: tmp_path / f"{profile.name.lower()}.img" for profile in Profile}
    for profile, path in made.items():
        path.write_bytes(VOCABULARY.image(profile=profile))
    return made


@pytest.mark.parametrize(
    ("token", "places", "text", "kind"),
    [
        (97, ["byte_values[97].byte"], b"a", "1 normal"),
        (257, ["merge_low_bits[1].left_low", "merge_low_bits[1].right_low"], b"abc", "1 normal"),
        (
            260,
            [*(f"stored_token_index[1].{name}" for name in ("byte_offset", "byte_length", "token_type")),
             "stored_token_bytes[3:6]"],
            b"<u>",
            "4 user_defined",
        ),
    ],
)  # fmt: skip
def test_a_token_by_its_id(images, token, places, text, kind):
    *rows, facts = map(json.loads, call("dump", "--json", images[Profile.COMPACT], str(token)).done().lines)
    assert [row["path"] for row in rows] == [f"sections.{place}" for place in places]
    assert (facts["token"], bytes.fromhex(facts["bytes"]), facts["type"]) == (token, text, kind)


def test_a_token_by_its_text(images):
    for text, token in (("abc", 257), ("<s>", 259), ("b", 98)):
        *_, facts = call("dump", "--json", images[Profile.COMPACT], f"text:{text}").done().lines
        assert json.loads(facts)["token"] == token
    line = call("dump", images[Profile.COMPACT], "262").refused(2)
    assert line == "pipeline: compact.img: expected a token id below 262, found 262"


def test_the_profile_is_named(images):
    for profile, path in images.items():
        (row,) = map(json.loads, call("dump", "--json", path, "header.flags").done().lines)
        assert row["words"].endswith(f"rank_is_out_id, nfc, profile {profile.name.lower()}")


def test_a_damaged_image_is_dumped_without_its_tokens(images):
    made = bytearray(images[Profile.COMPACT].read_bytes())
    at = open_image(bytes(made)).sections[Kind.MERGE_LOW_BITS].place.offset
    for data in (b"\xff\xff", b"\x01\x01"):  # a token that is none, and the one the merge makes
        made[at : at + 2] = data
        images[Profile.COMPACT].write_bytes(bytes(made))
        assert "sections.merge_low_bits[0].left_low" in call("dump", images[Profile.COMPACT]).done().out
        call("dump", images[Profile.COMPACT], "text:abc").refused(2)


def test_profiles_are_compared_by_what_they_hold(images):
    standard, compact = images[Profile.STANDARD], images[Profile.COMPACT]
    lines = call("diff", standard, compact).lines
    assert lines[1].strip() == "profile standard -> compact: the same 262 tokens, the same 3 merges"
    other = grown("a|b", "a|c", "c|a", added=ADDED, pads=1).image()
    standard.write_bytes(other)
    assert call("diff", standard, compact).lines[1].strip() == (
        "profile standard -> compact: 1 of 262 tokens differ, the first is token 257, "
        "1 of 3 merges differ, the first is merge 1"
    )
    standard.write_bytes(grown("a|b", added=ADDED).image())
    assert (
        "profile standard -> compact: 259 -> 262 tokens, 1 -> 3 merges" in call("diff", standard, compact).out
    )
    first = call("diff", "--json", images[Profile.FAST], compact).lines[0]
    assert json.loads(first)["note"].startswith("profile fast -> compact: the same 262 tokens")
