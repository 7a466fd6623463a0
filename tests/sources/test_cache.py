"""The cache folder's place, and small files that are whole or absent."""

from pathlib import Path

import pytest

from pipeline import cache
from pipeline.cache import cache_folder, read_small, write_small


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({"PIPELINE_CACHE": "/c", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "linux", "/c"),
        ({"PIPELINE_CACHE": "  ", "XDG_CACHE_HOME": "/x"}, "linux", "/x/q25-firmware-assets"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "linux", "/h/.cache/q25-firmware-assets"),
        ({"HOME": "/h"}, "linux", "/h/.cache/q25-firmware-assets"),
        ({"HOME": "/h"}, "darwin", "/h/Library/Caches/q25-firmware-assets"),
        ({"LOCALAPPDATA": "/l", "USERPROFILE": "/u"}, "win32", "/l/q25-firmware-assets"),
        ({"USERPROFILE": "/u", "HOME": "/h"}, "win32", "/u/AppData/Local/q25-firmware-assets"),
    ],
)
def test_the_folder_of_each_system(environ, platform, expected):
    assert cache_folder(environ, platform) == Path(expected)


def test_a_relative_name_is_taken_from_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cache_folder({"PIPELINE_CACHE": "c"}, "linux") == tmp_path / "c"


def test_without_a_home_there_is_no_cache(monkeypatch):
    def no_home():
        raise RuntimeError

    monkeypatch.setattr(cache.Path, "home", no_home)
    assert cache_folder({}, "linux") is None
    assert cache_folder({}, "win32") is None
    assert cache_folder({"XDG_CACHE_HOME": "/x"}, "linux") == Path("/x/q25-firmware-assets")


def test_a_file_is_written_whole_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "deep" / "er" / "entry.json"
    assert write_small(path, b"one")
    assert write_small(path, b"two")
    assert read_small(path) == b"two"
    assert [file.name for file in path.parent.iterdir()] == ["entry.json"]


def test_what_cannot_be_written_or_read_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    assert write_small(tmp_path / "file" / "below", b"x") is False
    assert read_small(tmp_path / "absent") is None
    assert read_small(tmp_path) is None
    (tmp_path / "long").write_bytes(bytes(cache.SMALL + 1))
    assert read_small(tmp_path / "long") is None

    def refuse(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache.Path, "replace", refuse)
    assert write_small(tmp_path / "entry", b"x") is False
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "long"]
