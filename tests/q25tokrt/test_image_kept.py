"""Images of released versions: readers of today read them, or refuse them by their major version.

`tests/kept/q25tokrt-MAJOR.MINOR.img` is never written anew; the JSON beside it says what it holds.
"""

import hashlib
import json
import re
from pathlib import Path

import pytest
from command_line import call
from refusals import refusal
from required_tools import need

from formats.q25tokrt.image import open_image
from formats.q25tokrt.layout import HEADER, MAJOR, MINOR
from formats.q25tokrt.verify import verify_image
from pipeline.image_facts import describe_image

KEPT = Path(__file__).resolve().parents[1] / "kept"
IMAGES = sorted(KEPT.glob("q25tokrt-*.img"))


def version_of(path):
    return tuple(map(int, re.fullmatch(r"q25tokrt-(\d+)\.(\d+)", path.stem).groups()))


def test_the_present_version_is_kept():
    assert (MAJOR, MINOR) in map(version_of, IMAGES)


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.stem)
def test_a_kept_image_is_read_or_refused_by_its_version(path):
    data = path.read_bytes()
    known = json.loads(path.with_suffix(".json").read_bytes())
    assert hashlib.sha256(data).hexdigest() == known["sha256"]
    major, _ = version_of(path)
    if major != MAJOR:
        assert f"header.major at offset 0x8 (8): expected {MAJOR}, found {major}" in refusal(
            verify_image, data, ""
        )
        return
    assert describe_image(verify_image(data)) == known["image"]
    for text, ids in known["texts"].items():
        assert call("encode", path, text).done().out.split() == [str(token) for token in ids]
        assert call("decode", path, *map(str, ids)).done().stdout == text.encode()


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.stem)
def test_the_c_reader_reads_a_kept_image_too(path, alone):
    need("gcc")
    if version_of(path)[0] != MAJOR:
        pytest.skip("another major version, which the C reader refuses: see the tests of its opening")
    for text, ids in json.loads(path.with_suffix(".json").read_bytes())["texts"].items():
        encoded = call("encode", "--engine", "c", path, text).done()
        assert encoded.out.split() == [str(token) for token in ids]


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.stem)
def test_another_major_version_is_refused_before_anything_else(path):
    data = bytearray(path.read_bytes())
    at = HEADER.offset_of("major")
    data[at : at + 2] = (MAJOR + 1).to_bytes(2, "little")
    data[at + 4 :] = bytes(len(data) - at - 4)  # whatever the rest may mean by then
    assert refusal(open_image, bytes(data)).startswith(
        f"header.major at offset 0x8 (8): expected {MAJOR}, found {MAJOR + 1}"
    )


def test_every_minor_version_is_accepted():
    import zlib

    from formats.q25tokrt.layout import DIRECTORY_ENTRY

    data = bytearray((KEPT / f"q25tokrt-{MAJOR}.{MINOR}.img").read_bytes())
    at, crc_at = HEADER.offset_of("minor"), HEADER.offset_of("crc32")
    data[at : at + 2] = (65535).to_bytes(2, "little")
    sections = int.from_bytes(data[24:28], "little")
    end = HEADER.size + sections * DIRECTORY_ENTRY.size
    crc = zlib.crc32(data[HEADER.size : end], zlib.crc32(data[:crc_at]))
    data[crc_at : crc_at + 4] = crc.to_bytes(4, "little")
    assert verify_image(bytes(data)).header.minor == 65535
