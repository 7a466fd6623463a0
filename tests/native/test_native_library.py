"""The built library in the cache: whole or not used, built once, and never needed."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from command_line import child, environment, without_rights
from refusals import refusal
from small_vocabulary import grown

from formats.q25tokrt.verify import verify_image
from pipeline.errors import MachineError
from pipeline.native import library
from pipeline.native.compiler import find_compiler, suffix
from pipeline.native.engine import NativeEncoder

pytestmark = pytest.mark.usefixtures("compiler")


@pytest.fixture
def image():
    return grown("a|b").image()


def works(data):
    """Load the library anew and encode with it."""
    library.load.cache_clear()
    return NativeEncoder(verify_image(data)).encode("ab a") == [256, 32, 97]


def kept(folder):
    """Give the pointer and the library that a cache holds, and no more."""
    pointer, built = sorted(folder.iterdir(), key=lambda path: path.suffix)
    assert built.name == pointer.read_text() + suffix()
    assert pointer.name == find_compiler().key()
    return pointer, built


def test_it_is_built_once(fresh, wrapper, image):
    made = wrapper()
    assert works(image)
    kept(fresh)
    assert made.builds() == 1
    assert works(image)
    assert made.builds() == 1


@pytest.mark.parametrize("damage", ["cut", "flipped", "removed", "pointer", "foreign pointer"])
def test_a_damaged_one_is_built_again(fresh, wrapper, image, damage):
    """In a child: a cut library may end the process that loads it."""
    path = fresh.parent / "image"
    fresh.parent.mkdir()
    path.write_bytes(image)
    made = wrapper()
    assert child("encode", path, "ab", "--engine", "c").done().out == "256\n"
    pointer, built = kept(fresh)
    whole = built.read_bytes()
    if damage == "cut":
        built.write_bytes(whole[: len(whole) // 2])
    elif damage == "flipped":
        built.write_bytes(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
    elif damage == "removed":
        built.unlink()
    elif damage == "pointer":
        pointer.write_bytes(b"\xff/../\0")
    else:
        pointer.write_text("0" * 64)
    assert child("encode", path, "ab", "--engine", "c").done().out == "256\n"
    assert made.builds() == 2
    assert kept(fresh)[1].read_bytes() == whole


def test_changed_sources_are_built_anew(fresh, wrapper, image, monkeypatch):
    made = wrapper()
    assert works(image)
    monkeypatch.setenv("CC", f"{made.cc} -DCHANGED")
    assert works(image)
    assert made.builds() == 2


def test_a_cache_that_cannot_be_written(fresh, wrapper, image, tmp_path):
    made = wrapper()
    path = tmp_path / "image"
    path.write_bytes(image)
    fresh.parent.mkdir()
    fresh.parent.chmod(0o500)
    try:
        for number in (1, 2):
            ended = child("encode", path, "ab", "--engine", "c", preexec_fn=without_rights)
            assert ended.done().out == "256\n"
            assert made.builds() == number
    finally:
        fresh.parent.chmod(0o700)
    assert list(fresh.parent.iterdir()) == []


def test_no_cache_at_all(fresh, image, monkeypatch):
    monkeypatch.setattr(library, "cache_folder", lambda: None)
    assert works(image)
    assert not fresh.exists()


def test_a_cache_that_is_a_file(fresh, image):
    fresh.parent.write_text("in the way")
    assert works(image)


def test_a_disk_that_may_hold_no_programs(fresh, image, monkeypatch):
    """What is kept there cannot be loaded: what was just built is."""
    assert works(image)
    load = library.ctypes.CDLL

    def refuse(path):
        if str(fresh) in path:
            raise OSError("failed to map segment from shared object")
        return load(path)

    monkeypatch.setattr(library.ctypes, "CDLL", refuse)
    assert works(image)


def test_what_cannot_be_loaded(fresh, wrapper):
    wrapper('for last; do :; done; case "$*" in *-shared*) echo rubbish >"$last"; esac')
    line = refusal(library.load, error=MachineError)
    assert line.startswith("the C reader was built and cannot be loaded: ")
    assert line.endswith("; use --engine python")


def test_a_machine_of_the_other_byte_order(fresh, monkeypatch):
    monkeypatch.setattr(library.sys, "byteorder", "big")
    assert refusal(library.load, error=MachineError) == (
        "the C reader is for little-endian machines; use --engine python"
    )


def test_many_processes_build_at_once(fresh, wrapper, image, tmp_path):
    made = wrapper()
    path = tmp_path / "image"
    path.write_bytes(image)
    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(lambda _: child("encode", path, "ab a", "--engine", "c"), range(4)))
    assert [one.done().out for one in ended] == ["256 32 97\n"] * 4
    assert made.builds() >= 1
    kept(fresh)
    assert child("encode", path, "ab a", "--engine", "c").done().out == "256 32 97\n"


def test_nothing_is_left_in_the_folder_of_temporary_files(fresh, image, tmp_path):
    path, temporary = tmp_path / "image", tmp_path / "temporary"
    path.write_bytes(image)
    temporary.mkdir()
    assert child("encode", path, "ab", "--engine", "c", env={"TMPDIR": str(temporary)}).done().out == "256\n"
    assert list(temporary.iterdir()) == []


def test_an_interrupted_build_leaves_nothing_behind(fresh, wrapper, tmp_path, image):
    wrapper('case "$*" in *-shared*) kill -INT $PPID; sleep 5; esac')
    path = tmp_path / "image"
    path.write_bytes(image)
    ended = subprocess.run(
        [sys.executable, "-m", "pipeline", "encode", str(path), "ab", "--engine", "c"],
        env=environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's `&` ignores it
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "pipeline: interrupted\n")
    assert not fresh.exists()
