"""The list of files that are ours: what is not on it is kept, and however damaged it is nothing is lost."""

import json
import math
import shutil

import pytest
from projects import WORK, sha256

from pipeline.runner.known_files import KnownFiles, is_inside

ALIGN = "steps.runtime_image.align=4096"


def test_it_lists_what_was_written(built):
    known = built.known()
    assert sorted(known) == built.names()
    assert all(
        entry[0] == entry[1] == sha256((built.out / name).read_bytes()) for name, entry in known.items()
    )


@pytest.mark.parametrize("name", ["vocab.bin", "build.json", "tensors/blk.0.f32.weight.bin"])
def test_a_file_that_is_not_ours_is_refused_and_kept(project, name):
    path = project.out / name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"mine")
    line = project.run().refused(2)
    assert line == (
        f"pipeline: {path}: there is a file of that name that this tool did not write; move it away, or replace it "
        "with --force"
    )
    assert path.read_bytes() == b"mine"
    project.run("--force").done()
    assert path.read_bytes() != b"mine"
    assert project.reasons() == {}


def test_a_file_that_is_not_ours_but_equal_is_taken_as_it_is(built):
    shutil.rmtree(built.out / WORK)
    (built.out / "build.json").unlink()
    before = built.stamps()
    built.run().done()
    assert {name: stamp for name, stamp in built.stamps().items() if name in before} == before


def test_a_file_that_is_ours_and_was_edited_is_replaced(built):
    good = built.contents()
    (built.out / "vocab.bin").write_bytes(b"edited")
    built.run().done()
    assert built.contents() == good


def test_other_files_in_the_folder_are_left_alone(built):
    for name in ("notes.txt", "tensors/notes.txt"):
        (built.out / name).write_bytes(b"mine")
    built.run("--force").done()
    built.clean("--force").done()
    for name in ("notes.txt", "tensors/notes.txt"):
        assert (built.out / name).read_bytes() == b"mine"


def test_without_the_list_the_record_tells_what_is_ours(built):
    """As where a build folder was copied or kept without its hidden files."""
    shutil.rmtree(built.out / WORK)
    before = built.stamps()
    assert built.reasons() == {}
    assert built.stamps() == before
    assert sorted(built.known()) == built.names()
    assert built.reasons("--set", ALIGN) == {"runtime_image": ["align was 64, is 4096"]}


def test_without_the_list_a_stale_folder_is_brought_up_to_date_too(built):
    shutil.rmtree(built.out / WORK)
    assert built.reasons("--set", ALIGN) == {"runtime_image": ["align was 64, is 4096"]}


def test_without_the_list_an_edited_file_is_a_strangers(built):
    shutil.rmtree(built.out / WORK)
    path = built.out / "vocab.bin"
    path.write_bytes(b"edited")
    built.run().refused(2)
    assert path.read_bytes() == b"edited"


DAMAGED = {
    "empty": b"",
    "no JSON": b"{",
    "a list": b"[]",
    "deep": b"[" * 100_000,
    "not UTF-8": b"\xff\x00",
    "another version": b'{"version": 2, "files": {}}',
    "files that are none": b'{"version": 1, "files": []}',
    "an entry that is none": b'{"version": 1, "files": {"vocab.bin": 1}}',
    "an entry too short": b'{"version": 1, "files": {"vocab.bin": [null, null, null]}}',
    "a stamp too short": b'{"version": 1, "files": {"vocab.bin": [null, null, [1], 0]}}',
    "a stamp without end": b'{"version": 1, "files": {"vocab.bin": [null, null, [1, 1, 1, 1, Infinity], 0]}}',
    "a time that is none": b'{"version": 1, "files": {"vocab.bin": [null, null, null, NaN]}}',
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_list_heals(built, data):
    good, before = built.contents(), built.stamps()
    (built.out / WORK / "files.json").write_bytes(data)
    built.clean().done()
    assert built.reasons() == {}
    assert (built.contents(), built.stamps()) == (good, before)
    assert sorted(built.known()) == built.names()


HOSTILE = [
    "../victim",
    "tensors/../../victim",
    "/etc/hostname",
    "\ud800",
    "a\0b",
    "a\nb",
    "",
    ".",
    "..",
    "tensors",
    "tensors/",
    "x" * 5000,
    f"{WORK}/lock",
    f"{WORK.upper()}/lock",
    "C:/victim",
    "..\\victim",
]


def test_hostile_names_in_the_list_touch_nothing(built):
    victim = built.root / "victim"
    victim.write_bytes(b"precious")
    digest = sha256(b"precious")

    def change(files):
        files.update({name: [digest, digest, None, 0] for name in HOSTILE})

    built.edit_known(change)
    good = built.contents()
    for arguments in ((), ("--dry-run",), ("--force",)):
        assert built.clean(*arguments).done().lines[-1].split(" in ")[0] in (
            "0 removed, 0 kept",
            "0 would be removed, 0 kept",
        )
        built.run().done()
    assert victim.read_bytes() == b"precious"
    assert built.contents() == good
    assert (built.out / WORK / "lock").exists()
    assert sorted(built.known()) == built.names()


@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_lead_elsewhere(name):
    if name in ("tensors", "x" * 5000):
        assert is_inside(name)
    else:
        assert not is_inside(name)


def test_a_forged_stamp_cannot_hide_an_edit(built):
    """An entry without a settled time is hashed again, whatever it says of the file."""
    path = built.out / "vocab.bin"
    path.write_bytes(b"edited")
    status = path.stat()
    stamp = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev]
    good = built.known()["vocab.bin"][0]
    built.edit_known(lambda files: files.update({"vocab.bin": [good, good, stamp, status.st_ctime_ns]}))
    assert built.reasons() == {"vocab_bin": ["vocab.bin was edited"]}


def test_a_list_too_long_is_not_ours(built):
    with (built.out / WORK / "files.json").open("r+b") as file:
        file.truncate(65 << 20)
    assert built.reasons() == {}


def test_it_reads_what_it_writes(tmp_path):
    (tmp_path / "a").write_bytes(b"a")
    known = KnownFiles(tmp_path, None)
    known.claim("b")
    known.remember("a", sha256(b"a"))
    again = KnownFiles(tmp_path, known.document())
    assert again.names() == ["a", "b"]
    assert again.document() == known.document()
    assert again.is_as_written("a")
    assert not again.is_as_written("b")
    assert not again.is_as_written("c")
    assert json.loads(known.document())["version"] == 1
    assert math.isfinite(json.loads(known.document())["files"]["a"][3])


def test_a_file_written_and_then_edited_stays_edited_however_often_it_is_looked_at(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"written")
    known = KnownFiles(tmp_path, None)
    known.remember("a", sha256(b"written"))
    path.write_bytes(b"edited")
    for _ in range(3):
        assert known.digest("a") == sha256(b"edited")
        assert not known.is_as_written("a")
        known = KnownFiles(tmp_path, known.document())
