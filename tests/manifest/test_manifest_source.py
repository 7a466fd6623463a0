"""The file itself: what is there, how large, in which encoding, with which characters."""

import errno
import time
from pathlib import Path

import pytest
from manifest_samples import HEAD, STEPS, parse

from pipeline.errors import MachineError
from pipeline.manifest import ManifestError, load_manifest
from pipeline.manifest.source import LIMIT

TEXT = (HEAD + "  - inspect\n").encode()


def refusal(text):
    with pytest.raises(ManifestError) as caught:
        parse(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"a: \xff", "1:4: byte 0xFF at offset 3 (0x3) is not UTF-8; save the file as UTF-8"),
        (
            b"a: b\r\n\xc3\xa9\xed\xa0\x80",
            "2:2: byte 0xED at offset 8 (0x8) is not UTF-8; save the file as UTF-8",
        ),
        (b"\xef\xbb\xbfa\xc3", "1:2: byte 0xC3 at offset 4 (0x4) is not UTF-8; save the file as UTF-8"),
        (b"\xff\xfea\0", "1:1: the file is UTF-16; save it as UTF-8"),
        (b"\xfe\xff\0a", "1:1: the file is UTF-16; save it as UTF-8"),
        (b"a\0", "1:2: the character U+0000 is not allowed in a manifest; save the file as UTF-8"),
        (b"a: b\na: \x1b[31m", "2:4: the character U+001B is not allowed in a manifest"),
        (b"a: '\x7f'", "1:5: the character U+007F is not allowed in a manifest"),
        (b"# \xc2\x85", "1:3: the character U+0085 is not allowed in a manifest"),
        ("a: b\u2028c: d".encode(), "1:5: the character U+2028 is not allowed in a manifest"),
        ("a: \ufeffb".encode(), "1:4: the character U+FEFF is not allowed in a manifest"),
        (b"\xef\xbb\xbf\xef\xbb\xbfa: b", "1:1: the character U+FEFF is not allowed in a manifest"),
        ("a: \uffff".encode(), "1:4: the character U+FFFF is not allowed in a manifest"),
    ],
)
def test_bytes_that_are_no_plain_text(data, line):
    assert refusal(data) == f"manifests/m.yaml:{line}"


def test_what_is_allowed():
    assert parse(b"\xef\xbb\xbf" + TEXT) == parse(TEXT)
    assert parse(TEXT.replace(b"../build", "../größe 🙂".encode())).out == Path("größe 🙂")


TOO_LARGE = f"the file is larger than {LIMIT} bytes (0x{LIMIT:X}), the most for a manifest"


def test_the_largest_size():
    room = LIMIT - len(TEXT)
    assert parse(TEXT + b"#" * room) == parse(TEXT)
    assert refusal(TEXT + b"#" * (room + 1)) == f"manifests/m.yaml:1:1: {TOO_LARGE}"


def test_a_large_file_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "m.yaml"
    with path.open("wb") as file:
        file.truncate(10 << 20)
    began = time.perf_counter()
    with pytest.raises(ManifestError) as caught:
        load_manifest(path, STEPS)
    assert str(caught.value) == f"{path}:1:1: {TOO_LARGE}"
    assert time.perf_counter() - began < 1


@pytest.mark.parametrize("text", ["[" * LIMIT, "- " * (LIMIT // 2), "a: &a [*a, *a]\n" * 1000, "? " * 1000])
def test_hostile_nesting_ends_soon(text):
    began = time.perf_counter()
    assert "manifests/m.yaml:1:" in refusal(text)
    assert time.perf_counter() - began < 5


def test_a_file_is_read(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_bytes(TEXT)
    manifest = load_manifest(str(path), STEPS, ["out=x"])
    assert manifest.path == path
    assert manifest.out == tmp_path / "x"
    assert str(manifest.place("model", "ollama")) == f"{path}:2:9"


def test_no_such_file(tmp_path):
    (tmp_path / "qwen25.yaml").write_bytes(TEXT)
    with pytest.raises(ManifestError) as caught:
        load_manifest(tmp_path / "qwen2.yaml", STEPS)
    assert str(caught.value) == (
        f"{tmp_path}/qwen2.yaml: there is no such manifest file; did you mean {tmp_path}/qwen25.yaml?"
    )
    with pytest.raises(ManifestError, match=r"nowhere/x\.yaml: there is no such manifest file$"):
        load_manifest(tmp_path / "nowhere" / "x.yaml", STEPS)
    with pytest.raises(ManifestError, match=r"qwen25\.yaml/x\.yaml: there is no such manifest file$"):
        load_manifest(tmp_path / "qwen25.yaml" / "x.yaml", STEPS)


def test_a_folder(tmp_path):
    with pytest.raises(ManifestError) as caught:
        load_manifest(tmp_path, STEPS)
    assert str(caught.value) == f"{tmp_path}: is a folder; expected a manifest file"


def test_a_file_that_cannot_be_read(tmp_path, monkeypatch):
    def refuse(*_args, **_options):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(MachineError) as caught:
        load_manifest(tmp_path / "m.yaml", STEPS)
    assert str(caught.value) == f"{tmp_path}/m.yaml: cannot read the manifest: Permission denied"
    assert caught.value.exit_code == 4


def test_a_name_that_would_drive_a_terminal():
    with pytest.raises(ManifestError) as caught:
        load_manifest("\x1b[31m.yaml", STEPS)
    assert str(caught.value) == r"'\x1b[31m.yaml': there is no such manifest file"
