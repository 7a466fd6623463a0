"""`pipeline diff`: files, folders, limits, exit codes, and calls that are wrong."""

import shutil

import pytest
from command_line import call


@pytest.fixture
def two(built):
    """Give two output folders that are alike."""
    other = built.root / "other"
    shutil.copytree(built.out, other)
    return built.out, other


def change(path, *places):
    data = bytearray(path.read_bytes())
    for at in places:
        data[at] ^= 2
    path.write_bytes(data)


def test_equal_files_and_folders(two):
    old, new = two
    assert call("diff", old / "vocab.bin", new / "vocab.bin").done().lines == ["vocab.bin: no difference"]
    (line,) = call("diff", old, new).done().lines
    assert line.startswith("0 of ")
    assert call("diff", "--json", old, new).done().lines == []


def test_a_changed_token_type(two):
    old, new = two
    change(new / "token_types.bin", 264 * 4)
    outcome = call("diff", old / "token_types.bin", new / "token_types.bin")
    assert outcome.code == 1
    assert outcome.lines == [
        "token_types.bin: 1 change",
        "  token_types: 1 changed (token_type 1)",
        "token_types[264].token_type: 3 control -> 1 normal (token 264 '<|im_end|>')",
    ]
    (count, found) = call("diff", old / "token_types.bin", new / "token_types.bin", "--json").objects
    assert count == {
        "file": "token_types.bin",
        "section": "token_types",
        "kind": "changed",
        "count": 1,
        "fields": {"token_type": 1},
    }
    assert (found["old"], found["new"], found["token"]) == ("3 control", "1 normal", "token 264 '<|im_end|>'")


def test_details_have_a_limit_and_counts_do_not(two):
    old, new = two
    change(new / "token_types.bin", *range(0, 400, 8))
    outcome = call("diff", old / "token_types.bin", new / "token_types.bin")
    assert outcome.lines[0] == "token_types.bin: 50 changes"
    assert len(outcome.lines) == 2 + 20 + 1
    assert outcome.lines[-1] == "30 more; --limit 0 shows all"
    assert len(call("diff", old / "token_types.bin", new / "token_types.bin", "--limit", "0").lines) == 2 + 50
    assert (
        len(call("diff", old / "token_types.bin", new / "token_types.bin", "--limit", "3").lines) == 2 + 3 + 1
    )


def test_folders(two):
    old, new = two
    (new / "merges.txt").unlink()
    (new / "extra.xyz").write_bytes(b"1")
    (old / "notes.xyz").write_bytes(b"abc")
    (new / "notes.xyz").write_bytes(b"abd")
    change(new / "tensors" / "token_embd.weight.bin", 7)
    outcome = call("diff", old, new)
    assert outcome.code == 1
    assert "merges.txt: removed" in outcome.lines
    assert "extra.xyz: added" in outcome.lines
    assert "notes.xyz: 1 change" in outcome.lines
    assert "tensors/token_embd.weight.bin: 1 change" in outcome.lines
    assert outcome.lines[-1].startswith("4 of ")


def test_damaged_files_are_compared_as_far_as_they_go(two):
    old, new = two
    path = new / "vocab.bin"
    path.write_bytes(path.read_bytes()[:500])
    outcome = call("diff", old / "vocab.bin", path)
    assert outcome.code == 1
    assert "removed" in outcome.out
    assert "before the end" in outcome.err
    assert "Traceback" not in outcome.err


def test_bytes_that_could_not_be_read_have_a_name(two):
    old, new = two
    path = new / "q25_tokenizer.img"
    path.write_bytes(path.read_bytes()[:300])
    lines = call("diff", old / "q25_tokenizer.img", path).lines
    assert "  unread: 1 added" in lines
    assert "unread: added 12 bytes" in lines


def test_hostile_values_are_escaped(two):
    old, new = two
    data = (new / "vocab.bin").read_bytes().replace(b"<|im_end|>", b"<\x1b[31m\xff>\n ")
    (new / "vocab.bin").write_bytes(data)
    outcome = call("diff", old / "vocab.bin", new / "vocab.bin")
    assert all(line.isprintable() for line in outcome.lines)
    assert "\\x1b[31m\\xff>\\n" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["out", "out/vocab.bin"], "expected two files or two folders"),
        (["out/vocab.bin", "out/nothing"], "there is no such file or folder"),
        (["out/vocab.bin", "tiny.gguf"], "expected two files of one format, found vocab_bin and gguf"),
        (["m.yaml", "m.yaml"], "nothing tells its format"),
        (["out/vocab.bin", "out/vocab.bin", "--limit", "-1"], "--limit: expected 0 or more, found -1"),
        (["out/vocab.bin", "out/vocab.bin", "--limit", "x"], "invalid int value: 'x'"),
        (["out/vocab.bin"], "the following arguments are required: B"),
    ],
)
def test_calls_that_are_wrong(built, monkeypatch, arguments, words):
    monkeypatch.chdir(built.root)
    assert words in call("diff", *arguments).refused(2)
