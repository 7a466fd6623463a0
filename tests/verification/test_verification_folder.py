"""A folder held against its record: what changed is named and nothing else, and no record leads outside."""

import hashlib
import json
import os
import random
import shutil

import pytest
from refusals import refusal

from formats.errors import shown
from pipeline.errors import CheckFailed, ModelError
from pipeline.verification import folder as module
from pipeline.verification.folder import verify_file, verify_folder

RERUN = "; run the manifest again"


def faults(built):
    return list(verify_folder(built.out).faults)


def flipped(data, bit):
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_a_folder_as_it_was_built(built):
    verdict = verify_folder(built.out)
    assert verdict.faults == ()
    assert set(verdict.checked) == set(built.recorded())


def check_flips(built, count, seed):
    chance = random.Random(seed)
    for name in built.recorded():
        path = built.out / name
        good = path.read_bytes()
        for bit in chance.sample(range(8 * len(good)), min(count, 8 * len(good))):
            path.write_bytes(flipped(good, bit))
            (line,) = faults(built)
            assert line.startswith(f"{path}: "), (name, bit, line)
            assert line.isprintable()
            assert list(verify_file(path).faults) != []
        path.write_bytes(good)
    assert faults(built) == []


def test_a_flipped_bit_of_any_artifact_is_found_and_only_that_file_is_blamed(built):
    check_flips(built, 4, seed=30)


@pytest.mark.long
def test_many_flipped_bits_of_every_artifact(built):
    check_flips(built, 200, seed=31)


def test_the_layout_tells_where(built):
    path = built.out / "token_index.bin"
    good = path.read_bytes()
    path.write_bytes(flipped(good, 8 * 8 * 3 + 1))
    assert faults(built) == [f"{path}: token_index[3].byte_offset at offset 0x18 (24): expected 3, found 1"]
    path.write_bytes(good)
    path = built.out / "vocab.bin"
    path.write_bytes(path.read_bytes() + b"\0")
    (line,) = faults(built)
    assert line.endswith(": expected the end after 266 entries, found 1 bytes more")


def test_the_digest_tells_what_no_layout_does(built):
    """A text that was edited in its middle is still a text."""
    path = built.out / "chat_template.txt"
    path.write_bytes(path.read_bytes().replace(b"role", b"rule"))
    recorded = built.recorded()["chat_template.txt"]["sha256"]
    (line,) = faults(built)
    assert line.startswith(f"{path}: expected sha256:{recorded}, found sha256:")
    assert line.endswith(RERUN)


@pytest.mark.parametrize("name", ["token_bytes.bin", "token_index.bin", "merge_table_u32.bin"])
def test_a_cut_table_is_blamed_and_those_beside_it_are_not(built, name):
    path = built.out / name
    path.write_bytes(path.read_bytes()[:-8])
    (line,) = faults(built)
    assert line.startswith(f"{path}: ")


@pytest.mark.parametrize("size", [0, 1, 7, 100])
def test_cut_files(built, size):
    names = list(built.recorded())
    for name in names:
        path = built.out / name
        path.write_bytes(path.read_bytes()[:size])
    found = faults(built)
    assert len(found) == len([name for name in names if built.recorded()[name]["size"] > size])


def replace(path, kind):
    path.unlink()
    match kind:
        case "nothing":
            pass
        case "a folder":
            path.mkdir()
        case "a pipe":
            os.mkfifo(path)
        case "a link to nothing":
            path.symlink_to("nowhere")
        case "a circle":
            path.symlink_to(path.name)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("nothing", f"missing{RERUN}"),
        ("a folder", "expected a file, found a folder; correct the path or move that away"),
        ("a pipe", "expected a file, found a device, pipe or socket; correct the path or move that away"),
        ("a link to nothing", f"missing{RERUN}"),
        ("a circle", "symbolic links that lead in a circle; remove the link"),
    ],
)
@pytest.mark.parametrize("name", ["vocab.bin", "tensors/token_embd.weight.bin", "q25_tokenizer.img"])
def test_something_else_in_a_files_place(built, name, kind, words):
    """A pipe is not opened: that would wait for ever."""
    path = built.out / name
    replace(path, kind)
    assert faults(built) == [f"{path}: {words}"]


def test_a_pipe_or_a_folder_by_itself(built):
    pipe = built.out / "pipe.bin"
    os.mkfifo(pipe)
    assert refusal(verify_file, pipe, error=ModelError).startswith(
        f"{pipe}: expected a file, found a device, pipe"
    )
    assert "found a folder" in refusal(verify_file, built.out / "tensors", error=ModelError)


@pytest.mark.parametrize("kind", ["nothing", "a folder", "a pipe", "a link to nothing"])
def test_a_record_that_is_no_file(built, kind):
    replace(built.out / "build.json", kind)
    assert refusal(verify_folder, built.out, error=CheckFailed).startswith(f"{built.out / 'build.json'}: ")


PAYLOAD_NAMES = ["vocab", "token_index", "tokens.jsonl", "q25_tokenizer.img", "model.json", "tokenizer"]


def test_a_payload_is_no_table_whatever_it_is_called_and_however_it_begins(built):
    """Tensors may have any name, and any bytes: `tensors/vocab.bin` is no vocab.bin."""
    made = []
    for number, name in enumerate(PAYLOAD_NAMES):
        file = f"tensors/{name}.bin" if "." not in name else f"tensors/{name}"
        (built.out / file).write_bytes((b"GGUF", b"Q25TOKRT", b"", b"\0" * 9)[number % 4] + b"payload")
        made.append(file)

    def add(document):
        step = next(step for step in document["steps"] if step["step"] == "tensors")
        for file in made:
            step["artifacts"].append({**step["artifacts"][0], "name": file, **digest_of(built.out / file)})

    built.edit_record(add)
    assert faults(built) == []
    for file in made:
        assert verify_file(built.out / file).faults == ()


def digest_of(path):
    data = path.read_bytes()
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def test_a_broken_table_that_the_record_stands_for(built):
    """The digest holds, so the layout alone tells that the build itself went wrong."""
    path = built.out / "token_types.bin"
    path.write_bytes(b"\x09" + path.read_bytes()[1:])

    def adopt(document):
        for step in document["steps"]:
            for artifact in step["artifacts"]:
                if artifact["name"] == "token_types.bin":
                    artifact.update(digest_of(path))

    built.edit_record(adopt)
    (line,) = faults(built)
    assert line.startswith(f"{path}: token_types[0].token_type at offset 0x0 (0): expected one of 1 normal")


# Records by a hostile writer

OUTSIDE = [
    "../secret.txt", "../../secret.txt", "a/../../secret.txt", "/etc/passwd", "..", ".", "", "a//b", "./vocab.bin",
    "C:\\secret", "c:secret", "..\\secret.txt", "a\\..\\..\\secret.txt", "\\\\host\\share\\x", "a\0b",
    "tensors/../vocab.bin",
]  # fmt: skip


def with_first_artifact(built, **fields):
    def change(document):
        document["steps"][0]["artifacts"][0].update(fields)

    built.edit_record(change)


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_name_that_leads_outside_is_neither_read_nor_removed(built, name, monkeypatch):
    secret = built.root / "secret.txt"
    secret.write_bytes(b"secret")
    with_first_artifact(built, name=name, **digest_of(secret))
    looked_at = []
    for function in ("hash_file", "check_for", "stat_or_none"):
        original = getattr(module, function)

        def watched(path, *rest, original=original):
            looked_at.append(path)
            return original(path, *rest)

        monkeypatch.setattr(module, function, watched)
    found = faults(built)
    record = built.out / "build.json"
    assert found == [f"{record}: expected artifacts inside the folder, found {shown(name)}"]
    assert all(path.resolve().is_relative_to(built.out) for path in looked_at)
    assert secret.read_bytes() == b"secret"


def test_a_link_out_of_the_folder_is_followed_but_hashed_only(built):
    """A link that a user made is the user's: its target's bytes must be those of the record."""
    path = built.out / "vocab.bin"
    moved = built.root / "elsewhere.bin"
    shutil.move(path, moved)
    path.symlink_to(moved)
    assert faults(built) == []
    moved.write_bytes(moved.read_bytes()[:-1])
    assert len(faults(built)) == 1
    assert moved.exists()


@pytest.mark.parametrize(
    "sha256", ["", "0" * 63, "0" * 65, "G" * 64, "A" * 64, "\x1b[2J" + "0" * 60, "sha256:" + "0" * 64]
)
def test_a_digest_that_is_none(built, sha256):
    with_first_artifact(built, sha256=sha256)
    name = built.record()["steps"][0]["artifacts"][0]["name"]
    try:
        (line,) = faults(built)
    except CheckFailed as error:  # the record as a whole is refused
        line = str(error)
    else:
        assert line == (
            f"{built.out / 'build.json'}: expected a SHA-256 of 64 hex digits for '{name}', found {shown(sha256)}"
        )
    assert line.isprintable()


@pytest.mark.parametrize("size", [0, -1, 2**63, 2**200, 1.5, True])
def test_a_size_that_is_not_the_files(built, size):
    with_first_artifact(built, size=size)
    try:
        (line,) = faults(built)
    except CheckFailed as error:
        line = str(error)
    assert line.startswith(f"{built.out}")
    assert line.isprintable()


@pytest.mark.parametrize(
    "document",
    [b"", b"\0", b"\xff\xfe", b"null", b"[]", b"{}", b"1e999", b'"x"', b"[" * 100_000, b'{"record_version": 2}',
     b'{"record_version": 1}', b'{"record_version": 1, "source": {}, "steps": 5}',
     b'{"record_version": 1, "source": {}, "steps": [5]}',
     b'{"record_version": 1, "source": {}, "steps": [{"step": "a"}]}', b'{"record_version": ' + b"9" * 5000 + b"}"],
    ids=range(15),
)  # fmt: skip
def test_what_is_no_record(built, document):
    path = built.out / "build.json"
    path.write_bytes(document)
    line = refusal(verify_folder, built.out, error=CheckFailed)
    assert line == f"{path}: expected a build record, found something else; run the manifest again"
    # A file beside it is then known by its layout alone.
    assert verify_file(built.out / "vocab.bin").faults == ()


@pytest.mark.parametrize(("step", "name"), [("inspect", "model"), ("runtime_image", "token_index.bin")])
def test_inputs_that_contradict_the_record(built, step, name):
    path = built.out / "build.json"
    record = built.record()
    (changed,) = [entry for entry in record["steps"] if entry["step"] == step]
    good = changed["inputs"][name]
    changed["inputs"][name] = "sha256:" + "0" * 64
    path.write_text(json.dumps(record), encoding="utf-8")
    assert faults(built) == [
        f"{path}: steps.{step}.inputs: {name}: expected '{good}', found 'sha256:{'0' * 64}'; run the manifest again"
    ]


ODD = [
    None,
    True,
    -1,
    0,
    2**70,
    1.5,
    "",
    "x\x1b[2J\n",
    "\ud800",
    "a" * 5000,
    [],
    {},
    [None],
    {"a": {"b": []}},
    "1e999",
]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_an_odd_value_anywhere_in_a_record(built, odd):
    """Each value in turn: refused as a whole, blamed in one line, or of no consequence."""
    record, whole = (built.out / "build.json").read_bytes(), built.contents()
    good = json.dumps(built.record())
    for path in places(json.loads(good)):
        document = json.loads(good)
        part = document
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = float("inf") if odd == "1e999" else odd
        (built.out / "build.json").write_text(json.dumps(document), encoding="utf-8")
        try:
            lines = faults(built)
        except CheckFailed as error:
            lines = [str(error)]
        assert all(line.isprintable() for line in lines), (path, lines)
        assert all(len(line) < 6_000 for line in lines), (path, lines)  # a path is shown whole
    (built.out / "build.json").write_bytes(record)
    assert built.contents() == whole


def places(value, path=()):
    """List the paths of a document's values: of each list and of each kind of step the first only."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def test_a_file_of_the_record_of_the_folder_above(built):
    path = built.out / "tensors" / "token_embd.weight.bin"
    assert verify_file(path).faults == ()
    path.write_bytes(path.read_bytes()[:-1])
    size = built.recorded()["tensors/token_embd.weight.bin"]["size"]
    assert verify_file(path).faults == (f"{path}: expected {size} bytes, found {size - 1}{RERUN}",)


def test_a_file_that_no_record_lists(built):
    path = built.out / "notes.bin"
    path.write_bytes(b"x")
    assert refusal(verify_file, path, error=CheckFailed).startswith(
        f"{path}: nothing is known of such a file; "
    )
