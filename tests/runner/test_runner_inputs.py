"""The model changes while it is read: the run stops, and what was there stays whole."""

import os
import threading

import pytest
from tiny_model import tensor, write_tiny

from formats.ggml_types import GgmlType
from pipeline import tensor_export
from pipeline.steps import DECLARATIONS


@pytest.fixture
def disturbed(built, monkeypatch):
    """Give a function that has a change made to the model's file in the middle of the step `tensors`."""

    def disturb(change):
        real = tensor_export.tensor_chunks
        done = []

        def chunks(blob, info, buffer):
            for number, chunk in enumerate(real(blob, info, buffer)):
                yield chunk
                if not done and number == 0:
                    done.append(info.name)
                    change(built.gguf)

        monkeypatch.setattr(tensor_export, "tensor_chunks", chunks)
        return done

    write_tiny(built.gguf, body=[tensor("big", GgmlType.F32, (1024, 1024)), tensor("small")])
    return built, disturb


def append(path):
    with path.open("ab") as file:
        file.write(b"more")


def overwrite(path):
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")


def put_another_in_its_place(path):
    other = path.with_name("other.gguf")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def remove(path):
    path.unlink()


def cut(path):
    os.truncate(path, path.stat().st_size - 1000)


def touch_and_restore_the_time(path):
    status = path.stat()
    overwrite(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (append, "changed from "),
        (overwrite, "written to while it was being read"),
        (put_another_in_its_place, "replaced by another file while it was being read"),
        (remove, "removed while it was being read"),
        (touch_and_restore_the_time, "written to while it was being read"),
        (cut, "of them missing; the file was cut short while it was read"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_change_during_the_export(disturbed, change, words):
    built, disturb = disturbed
    good = {name: digest for name, digest in built.contents().items() if "tensor" in name}
    assert len(good) == 9
    done = disturb(change)
    line = built.run("--only", "tensors").refused(3)
    assert done == ["big"]
    assert words in line
    assert {name: built.contents()[name] for name in good} == good
    assert not (built.out / ".pipeline" / "staging").exists()


def test_a_thread_that_keeps_writing(disturbed):
    """The real thing: a download that goes on while the model is packed."""
    built, disturb = disturbed
    stop, started = threading.Event(), threading.Event()

    def write():
        with built.gguf.open("ab", buffering=0) as file:
            while not stop.is_set():
                file.write(b"more")
                started.set()

    thread = threading.Thread(target=write)

    def begin(path):
        thread.start()
        started.wait(10)

    disturb(begin)
    try:
        line = built.run("--only", "tensors").refused(3)
    finally:
        stop.set()
        thread.join(10)
    assert line.startswith(f"pipeline: {built.gguf}: changed from ")
    assert line.endswith(" bytes while it was being read; run again when nothing writes it")


@pytest.mark.parametrize("step", ["inspect", "tokenizer", "ps_bundle", "vocab_bin", "tokenizer_bin"])
def test_a_change_during_any_other_step(built, monkeypatch, step):
    good = built.contents()
    real = type(DECLARATIONS[step]).run

    def run(self, job):
        real(self, job)
        append(built.gguf)

    monkeypatch.setattr(type(DECLARATIONS[step]), "run", run)
    line = built.run("--only", step, "--force").refused(3)
    assert "changed from 12,192 to 12,196 bytes while it was being read" in line
    assert built.contents() == good


def test_a_change_before_the_model_is_hashed_is_just_another_model(built):
    append(built.gguf)
    (reason,) = built.reasons()["inspect"]
    assert reason.startswith("the model changed (")


def test_a_model_that_is_gone(built):
    good = built.contents()
    built.gguf.unlink()
    line = built.run().refused(3)
    assert line == f"pipeline: {built.gguf}: expected a file, found nothing there"
    assert built.status().refused(3) == line
    assert built.contents() == good


def test_a_pin_of_the_model(built):
    built.write_manifest(model={"gguf": "tiny.gguf", "digest": "sha256:" + "0" * 64})
    line = built.run().refused(3)
    assert line.startswith(f"pipeline: {built.gguf}: expected the GGUF with sha256:000")
    digest = built.record()["source"]["gguf"]["sha256"]
    built.write_manifest(model={"gguf": "tiny.gguf", "digest": f"sha256:{digest}"})
    assert built.reasons() == {}
