"""The script of the step `firmware` in a real U-Boot, on QEMU's board `virt`: loaded, cut and missing files."""

from __future__ import annotations

import re
import struct
import subprocess
import threading
import zlib
from pathlib import Path

import pytest
from required_tools import miss, need

UBOOT = Path("/usr/lib/u-boot/qemu_arm64/u-boot.bin")
MEMORY = {
    "low": {"address": 0x4000_0000, "size": 0xC000_0000},
    "high": {"address": 0x1_0000_0000, "size": "1GiB"},
}
LOAD = {"vocab.bin": 0x1_0000_0040, "token_bytes.bin": 0x4800_0000, "token_index.bin": 0x1_0010_0000}
SECONDS = 120


def script_image(text):
    """Wrap a script as `mkimage -A arm64 -T script -C none` does: a header of 64 bytes, big-endian."""
    data = struct.pack(">II", len(text), 0) + text

    def header(crc):
        fields = (0x27051956, crc, 0, len(data), 0, 0, zlib.crc32(data))
        return struct.pack(">7I4B32s", *fields, 5, 22, 6, 0, b"")  # Linux, arm64, script, not compressed

    return header(zlib.crc32(header(0))) + data


class Console:
    """U-Boot's console: sends a line, and gives what comes back up to the next prompt."""

    def __init__(self, *command):
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._alarm = threading.Timer(SECONDS, self._process.kill)
        self._alarm.start()

    def until(self, end):
        text = b""
        while not text.endswith(end):
            byte = self._process.stdout.read(1)
            assert byte, text.decode("latin-1")
            text += byte
        return text.decode("latin-1").replace("\r", "")

    def say(self, line):
        self._process.stdin.write(line.encode() + b"; echo done\n")
        self._process.stdin.flush()
        return self.until(b"\ndone\r\n=> ").removesuffix("\ndone\n=> ")

    def close(self):
        self._alarm.cancel()
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            stream.close()


@pytest.fixture
def console(tmp_path):
    """Start U-Boot with a disk that has the files of the folder `disk`; give it once it listens."""
    if not UBOOT.is_file():
        miss("no U-Boot for QEMU on this machine: install u-boot-qemu")
    opened = Console(
        *(need("qemu-system-aarch64"), "-M", "virt", "-cpu", "cortex-a53", "-m", "5G", "-nographic", "-bios", UBOOT),
        *("-drive", f"file=fat:{tmp_path / 'disk'},format=raw,if=none,id=disk,readonly=on"),
        *("-device", "virtio-blk-device,drive=disk"),
    )  # fmt: skip
    opened.until(b"autoboot: ")
    opened.say("true")
    yield opened
    opened.close()


@pytest.fixture
def disk(project, tmp_path):
    """Make three folders of files: whole, one cut, one missing."""
    steps = ["tokenizer", "ps_bundle", "runtime_image", "vocab_bin"]
    project.write_manifest(steps=[*steps, {"firmware": {"link": [], "load": LOAD, "memory": MEMORY}}])
    project.run().done()
    (tmp_path / "disk").mkdir()
    for case in ("whole", "cut", "missing"):
        folder = tmp_path / "disk" / case
        folder.mkdir()
        for name in LOAD:
            data = (project.out / name).read_bytes()
            if name != "token_bytes.bin" or case == "whole":
                (folder / name).write_bytes(data)
            elif case == "cut":
                (folder / name).write_bytes(data[:-1])
    script = (project.out / "firmware/q25_assets.cmd").read_bytes()
    (tmp_path / "disk" / "a.scr").write_bytes(script_image(script))
    return project


def test_whole_cut_and_missing_files(disk, console):
    console.say("virtio scan")
    console.say("setenv devtype virtio")
    for case, last in (
        ("whole", "token_index.bin: 0x"),
        ("cut", "token_bytes.bin: expected 0x"),
        ("missing", "token_bytes.bin: not loaded"),
    ):
        console.say(f"setenv prefix {case}/")
        printed = console.say("load virtio 0 ${scriptaddr} a.scr; source ${scriptaddr}")
        words = [line for line in printed.splitlines() if re.match(r"\w+\.bin: ", line)]
        assert words, printed
        assert words[-1].startswith(last)
        assert len(words) == (3 if case == "whole" else 2)
        found = console.say("echo is ${q25_assets_loaded} ${q25_assets_failed}.").splitlines()
        assert found[-1] == ("is 1 ." if case == "whole" else "is 0 token_bytes.bin.")
        if case == "whole":
            for name, address in LOAD.items():
                data = (disk.out / name).read_bytes()
                sums = console.say(f"crc32 {address:x} {len(data):x}")
                assert f"==> {zlib.crc32(data):08x}" in sums
