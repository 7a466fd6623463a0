"""Whole-file digests: once per file, and never from an entry that may be stale."""

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.errors import MachineError, ModelError
from pipeline.sources import digests
from pipeline.sources.digests import DigestCache, FileStamp, check_unchanged, hash_file, stamp_of
from pipeline.sources.errors import InputChanged, StoreError, StoreFault

HOUR_NS = 3600 * 10**9


@pytest.fixture
def hashed(monkeypatch):
    """Names of the files that were really read."""
    names = []
    real = digests.hash_file

    def counting(path, progress=None):
        names.append(path.name)
        return real(path, progress)

    monkeypatch.setattr(digests, "hash_file", counting)
    return names


@pytest.fixture
def later(monkeypatch):
    """Let the clock stand an hour after now, so that files just written count as settled."""
    now = digests.time.time_ns
    monkeypatch.setattr(digests.time, "time_ns", lambda: now() + HOUR_NS)


def test_the_digest_is_the_files(tmp_path):
    path = tmp_path / "blob"
    data = bytes(range(256)) * 8192  # two chunks
    path.write_bytes(data)
    calls = []
    found = hash_file(path, lambda done, total: calls.append((done, total)))
    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert calls == [(1 << 20, 2 << 20), (2 << 20, 2 << 20)]
    assert found.stamp == stamp_of(path) == FileStamp.of_status(path.stat())


def test_a_settled_file_is_hashed_once(tmp_path, hashed, later):
    path = tmp_path / "blob"
    path.write_bytes(b"abc")
    first = DigestCache(tmp_path / "cache").sha256(path)
    second = DigestCache(tmp_path / "cache").sha256(path)
    assert first == second
    assert hashed == ["blob"]


def test_the_entry_is_found_through_a_link(tmp_path, hashed, later):
    path = tmp_path / "blob"
    path.write_bytes(b"abc")
    (tmp_path / "link").symlink_to(path)
    cache = DigestCache(tmp_path / "cache")
    assert cache.sha256(path) == cache.sha256(tmp_path / "link")
    assert hashed == ["blob"]


def test_a_file_that_changed_just_before_is_not_remembered(tmp_path, hashed):
    path = tmp_path / "blob"
    path.write_bytes(b"abc")
    cache = DigestCache(tmp_path / "cache")
    cache.sha256(path)
    cache.sha256(path)
    assert hashed == ["blob", "blob"]
    assert not (tmp_path / "cache").exists()


def test_an_old_mtime_does_not_make_a_new_file_settled(tmp_path, hashed):
    path = tmp_path / "blob"
    path.write_bytes(b"abc")
    os.utime(path, ns=(0, 0))  # as `cp -p` and archives leave it; the ctime is now
    cache = DigestCache(tmp_path / "cache")
    cache.sha256(path)
    cache.sha256(path)
    assert hashed == ["blob", "blob"]


def test_a_change_of_the_same_size_and_mtime_is_noticed(tmp_path, hashed, later):
    path = tmp_path / "blob"
    path.write_bytes(b"abc")
    cache = DigestCache(tmp_path / "cache")
    before = cache.sha256(path)
    path.write_bytes(b"abd")
    os.utime(path, ns=(before.stamp.mtime_ns, before.stamp.mtime_ns))
    assert cache.sha256(path).sha256 == hashlib.sha256(b"abd").hexdigest()
    assert hashed == ["blob", "blob"]


@pytest.mark.parametrize(
    "entry",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b"[" * 60_000,
        b'{"sha256": "zz"}',
        b'{"sha256": 5}',
        bytes(70_000),
    ],
)
def test_a_damaged_entry_is_ignored_and_renewed(tmp_path, hashed, later, entry):
    path = tmp_path / "blob"
    path.write_bytes(b"abc")
    cache = DigestCache(tmp_path / "cache")
    cache.sha256(path)
    (file,) = (tmp_path / "cache" / "digests").iterdir()
    good = file.read_bytes()
    file.write_bytes(entry)
    assert cache.sha256(path).sha256 == hashlib.sha256(b"abc").hexdigest()
    assert hashed == ["blob", "blob"]
    assert file.read_bytes() == good


def test_an_entry_of_another_file_is_not_taken(tmp_path, hashed, later):
    path = tmp_path / "blob"
    path.write_bytes(b"abc")
    cache = DigestCache(tmp_path / "cache")
    cache.sha256(path)
    (file,) = (tmp_path / "cache" / "digests").iterdir()
    record = json.loads(file.read_bytes())
    file.write_text(json.dumps({**record, "path": "/elsewhere", "sha256": "0" * 64}))
    assert cache.sha256(path).sha256 == record["sha256"]


@pytest.mark.parametrize("place", [None, "file/below"])
def test_without_a_cache_it_is_only_slower(tmp_path, hashed, later, place):
    (tmp_path / "file").write_bytes(b"")
    path = tmp_path / "blob"
    path.write_bytes(b"abc")
    cache = DigestCache(None if place is None else tmp_path / place)
    assert cache.sha256(path) == cache.sha256(path)
    assert hashed == ["blob", "blob"]


def test_a_change_while_hashing_is_noticed(tmp_path):
    path = tmp_path / "blob"
    path.write_bytes(bytes(2 << 20))

    def meddle(done, total):
        if done < total:
            with path.open("r+b") as file:
                file.write(b"x")

    with pytest.raises(InputChanged, match="written to while it was being read"):
        hash_file(path, meddle)


def test_a_file_that_shrinks_while_hashing_is_noticed(tmp_path):
    path = tmp_path / "blob"
    path.write_bytes(bytes(2 << 20))
    with pytest.raises(InputChanged, match="changed from 2,097,152 to 1,048,576 bytes"):
        hash_file(path, lambda done, total: os.truncate(path, 1 << 20))


def test_a_file_that_is_replaced_while_hashing_is_noticed(tmp_path):
    path = tmp_path / "blob"
    path.write_bytes(bytes(2 << 20))

    def replace(done, total):
        shutil.copy2(path, tmp_path / "other")
        (tmp_path / "other").replace(path)

    with pytest.raises(InputChanged, match="replaced by another file"):
        hash_file(path, replace)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda path: path.unlink(), "removed"),
        (lambda path: path.write_bytes(b"abcd"), "changed from 3 to 4 bytes"),
        (lambda path: os.utime(path, ns=(1, 1)), "written to"),
        (
            lambda path: (path.with_name("new").write_bytes(b"abc"), path.with_name("new").replace(path)),
            "replaced",
        ),
    ],
)
def test_a_change_afterwards_is_noticed(tmp_path, change, word):
    path = tmp_path / "blob"
    path.write_bytes(b"abc")
    stamp = stamp_of(path)
    check_unchanged(path, stamp)
    change(path)
    with pytest.raises(InputChanged, match=word) as caught:
        check_unchanged(path, stamp)
    assert caught.value.exit_code == 3


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(ModelError, match="expected a file, found nothing there"):
        hash_file(tmp_path / "absent")
    with pytest.raises(ModelError, match="expected a file, found nothing there"):
        hash_file(Path("a\0b"))
    with pytest.raises(StoreError, match="found a folder"):
        hash_file(tmp_path)
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for ever
    with pytest.raises(StoreError, match="found a device, pipe or socket"):
        hash_file(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("number", "fault"), [(errno.EACCES, StoreFault.NO_PERMISSION), (errno.EIO, StoreFault.READ_FAILED)]
)
def test_a_refusal_of_the_system_is_the_machines_fault(tmp_path, monkeypatch, number, fault):
    path = tmp_path / "blob"
    path.write_bytes(b"abc")

    def refuse(self, *args, **kwargs):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(MachineError) as caught:
        hash_file(path)
    assert caught.value.fault is fault
    assert str(path) in str(caught.value)


def test_writers_at_once_leave_whole_entries(tmp_path):
    path = tmp_path / "blob"
    path.write_bytes(b"abc")
    os.utime(path)
    code = (
        "import sys, time; from pathlib import Path; from pipeline.sources import digests\n"
        "now = time.time_ns\n"
        "digests.time.time_ns = lambda: now() + 10**13\n"
        "path, cache = Path(sys.argv[1]), Path(sys.argv[2])\n"
        "for _ in range(200):\n"
        "    for entry in (cache / 'digests').glob('*.json'): entry.unlink(missing_ok=True)\n"
        "    print(digests.DigestCache(cache).sha256(path).sha256)\n"
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path), str(tmp_path / "cache")],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for run in runs:
        out, _ = run.communicate(timeout=60)
        assert run.returncode == 0
        assert set(out.split()) == {hashlib.sha256(b"abc").hexdigest()}
    assert [file.suffix for file in (tmp_path / "cache" / "digests").iterdir()] == [".json"]
