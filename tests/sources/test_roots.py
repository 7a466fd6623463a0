"""The places where a store may lie, in order, on each system."""

import errno
import os
from pathlib import Path

import pytest

from pipeline.sources.errors import StoreFault, StoreUnreadable
from pipeline.sources.roots import StoreRoot, store_roots

SERVICE = "/usr/share/ollama/.ollama/models"
CONTAINER = "/root/.ollama/models"


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({"HOME": "/h"}, "linux", ["/h/.ollama/models", SERVICE, CONTAINER]),
        ({"HOME": "/root"}, "linux", [CONTAINER, SERVICE]),
        ({"HOME": "/usr/share/ollama"}, "linux", [SERVICE, CONTAINER]),
        ({"HOME": "/h"}, "darwin", ["/h/.ollama/models"]),
        ({"USERPROFILE": "/u", "HOME": "/h"}, "win32", ["/u/.ollama/models"]),
        ({"OLLAMA_MODELS": "/m", "HOME": "/h"}, "linux", ["/m"]),
        ({"OLLAMA_MODELS": "  '/m n'  ", "HOME": "/h"}, "linux", ["/m n"]),
        ({"OLLAMA_MODELS": '"/m"', "HOME": "/h"}, "win32", ["/m"]),
        ({"OLLAMA_MODELS": ' "" ', "HOME": "/h"}, "darwin", ["/h/.ollama/models"]),
    ],
)
def test_places_in_order(environ, platform, expected):
    assert [str(root.path) for root in store_roots(environ, platform)] == expected


def test_only_the_containers_place_of_another_user_is_private():
    assert [root.private for root in store_roots({"HOME": "/h"}, "linux")] == [False, False, True]
    assert [root.private for root in store_roots({"HOME": "/root"}, "linux")] == [False, False]


def test_a_relative_place_is_taken_from_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (root,) = store_roots({"OLLAMA_MODELS": "models"}, "linux")
    assert root.path == tmp_path / "models"


def test_the_process_environment_is_the_default(monkeypatch):
    monkeypatch.setenv("OLLAMA_MODELS", "/from/the/environment")
    assert [root.path for root in store_roots()] == [Path("/from/the/environment")]


@pytest.mark.parametrize("folder", ["manifests", "manifests-v2", "blobs"])
def test_a_store_is_known_by_its_folders(tmp_path, folder):
    root = StoreRoot(tmp_path, "test")
    assert not root.has_store()
    (tmp_path / folder).mkdir()
    assert root.has_store()


def test_a_refusal_counts_except_in_a_private_place(tmp_path, monkeypatch):
    def refuse(self, **kwargs):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "stat", refuse)
    assert not StoreRoot(tmp_path, "test", private=True).has_store()
    with pytest.raises(StoreUnreadable) as caught:
        StoreRoot(tmp_path, "test").has_store()
    assert caught.value.fault is StoreFault.NO_PERMISSION
    assert caught.value.exit_code == 4
    assert "join the group that owns it" in str(caught.value)
