"""Builds of all kinds: parts of one, with parity, loaded into memory, damaged, hostile, and what is none."""

import json
import os
import random
import resource

import pytest
from command_line import call, child, without_rights
from report_pages import Page, number

from pipeline.commands.report import COMMAND

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e&\"'"
TABLES = ["tokenizer", "ps_bundle", "runtime_image", "vocab_bin", "tokenizer_bin"]


def report(folder, code=0):
    outcome = call("report", folder, "-o", "-")
    assert outcome.code == code, outcome
    assert all(line.isprintable() for line in outcome.err.splitlines())
    return Page(outcome.out), outcome.err.splitlines()


@pytest.mark.parametrize(
    ("steps", "headings"),
    [
        (["inspect"], ["Tensors", "Provenance"]),
        (["layers"], ["Provenance"]),
        (["tokenizer"], ["Vocabulary", "Provenance"]),
        (["ps_bundle"], ["Vocabulary", "Provenance"]),
        (["model_table"], ["Memory maps", "Tensors", "Provenance"]),
        (["tensors"], ["Tensors", "Provenance"]),
        (["vocab_bin"], ["Memory maps", "Provenance"]),
    ],
    ids=lambda value: value[0],
)
def test_a_part_of_a_build(project, steps, headings):
    project.write_manifest(steps=steps)
    project.run().done()
    page, _ = report(project.out)
    assert page.headings() == headings
    count = len(project.recorded())
    assert f"{count:,}" == page.figures()["files"]
    line = call("report", project.out).done().lines[0]
    assert line.endswith(f"{count} file" if count == 1 else f"{count} files")


def test_every_source_of_a_vocabulary_gives_the_same_counts(built):
    def counted(*missing):
        for name in missing:
            (built.out / name).unlink()
        page, _ = report(built.out, int(bool(missing)))
        lengths, scripts = page.table("Base tokens by length in bytes"), page.table("Base tokens by script")
        shown = page.figures()
        return [shown[name] for name in ("tokens", "base", "added", "padded")], lengths, scripts

    whole = counted()
    assert counted("q25_tokenizer.img") == whole
    assert counted("token_index.bin") == whole


def test_the_parity_table(project):
    (project.root / "short").write_text("abcd\na  b\nhi<|im_end|>\n", encoding="utf-8")
    project.write_manifest(steps=[*TABLES, {"parity": {"corpus": "short"}}])
    project.run().done()
    document = json.loads((project.out / "parity.json").read_bytes())
    page, _ = report(project.out)
    assert page.headings() == ["Memory maps", "Vocabulary", "Parity", "Provenance"]
    rows = {row[0]: row for row in page.table("Tokenizers against the reference")}
    assert set(rows) == {"reference", *(party["party"] for party in document["parties"])}
    for party in document["parties"]:
        assert rows[party["party"]][1] == f"{party['equal']} of {party['samples']}"
        assert number(rows[party["party"]][4]) == party["differences"]
    classes = page.table("Differences by class")
    assert {row[0] for row in classes} == {
        party["party"] for party in document["parties"] if party["differences"]
    }


def test_memory_that_files_are_loaded_into(project):
    firmware = {
        "link": ["vocab.bin"],
        "load": {"q25_tokenizer.img": 0x8_0000_1000},
        "memory": {
            "ddr": {"address": 0x1000, "size": "1MiB"},
            "high": {"address": 0x8_0000_0000, "size": "64KiB"},
        },
        "reserved": {"monitor": {"address": 0x8_0000_0000, "size": "2KiB"}},
    }
    project.write_manifest(steps=[*TABLES, {"firmware": firmware}])
    project.run().done()
    page, _ = report(project.out)
    size = (project.out / "q25_tokenizer.img").stat().st_size
    rows = [(row[0], number(row[1]), number(row[3])) for row in page.table("Parts of high")]
    assert rows == [
        ("monitor", 0x8_0000_0000, 2048),
        ("free", 0x8_0000_0800, 2048),
        ("q25_tokenizer.img", 0x8_0000_1000, size),
        ("free", 0x8_0000_1000 + size, 0x1_0000 - 0x1000 - size),
    ]
    assert "Parts of ddr" not in page.text


def test_damaged_files_are_named_in_the_page_and_beside_it(built, monkeypatch):
    image = built.out / "q25_tokenizer.img"
    data = bytearray(image.read_bytes())
    data[500] ^= 1
    image.write_bytes(data)
    cut = built.out / "vocab.bin"
    cut.write_bytes(cut.read_bytes()[:1001])
    (built.out / "model.json").write_bytes(b"{")
    (built.out / "tokenizer.bin").unlink()
    page, lines = report(built.out, 1)
    listed = [item.text for item in page.root.one("div", class_="faults").all("li")]
    assert listed == [line.replace(f"{built.out}/", "") for line in lines]
    monkeypatch.chdir(built.root)
    assert call("report", "out", "-o", "-").out == call("report", built.out, "-o", "-").out
    for name in ("q25_tokenizer.img", "vocab.bin", "model.json", "tokenizer.bin"):
        assert any(str(built.out / name) in line for line in lines), name
    assert any("sections.token_index at offset 0x1C0 (448): expected the CRC-32" in line for line in lines)
    rows = {row[0]: row for row in page.table("Parts of q25_tokenizer.img")}
    assert "its bytes have" in rows["sections.token_index"][5]
    assert page.table("Parts of vocab.bin")[-1][0] == "unread"
    # Without model.json the tensors are those of the export.
    assert "as tensor_payload_export_manifest.json lists them" in page.text


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 100, b"Q25TOKRT", b"Q25TOKRT" + b"\xff" * 5000, b"GGUF" + b"\xff" * 50]
)
def test_files_that_hold_something_else(built, content):
    names = (
        "q25_tokenizer.img",
        "token_index.bin",
        "vocab.bin",
        "tokenizer.bin",
        "model.json",
        "tokens.jsonl",
    )
    for name in names:
        (built.out / name).write_bytes(content)
    page, lines = report(built.out, 1)
    assert all(any(name in line for line in lines) for name in names)
    assert page.headings()[-1] == "Provenance"


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"tensors": 7},
        {"tensors": [7]},
        {"tensors": [{"name": 1, "type": "F32", "ne": [1], "size": 4}]},
        {"tensors": [{"name": "a", "type": "F32", "ne": ["x"], "size": 4}]},
        {"tensors": [{"name": "a", "type": "F32", "ne": [1], "size": "4"}]},
    ],
)
def test_documents_that_are_not_what_they_should_be(built, document):
    (built.out / "model.json").write_text(json.dumps(document))
    page, lines = report(built.out, 1)
    assert any("model.json" in line for line in lines)
    assert "as tensor_payload_export_manifest.json lists them" in page.text


def test_a_file_in_the_place_of_another_kind(built):
    for name, make in (("vocab.bin", os.mkdir), ("tokenizer.bin", os.mkfifo)):
        (built.out / name).unlink()
        make(built.out / name)
    _, lines = report(built.out, 1)
    assert any("vocab.bin: expected a file, found a folder" in line for line in lines)
    assert any("tokenizer.bin: expected a file, found a device, pipe or socket" in line for line in lines)


def test_hostile_values_are_escaped(built):
    """Values of a record, of a document and of a tensor's name."""

    def poison(document):
        document["source"] |= {
            "kind": HOSTILE,
            "name": HOSTILE,
            "ollama_manifest": HOSTILE,
            "gguf": {"size": -1},
        }
        document["source"]["layers"] = [{"kind": HOSTILE, "digest": HOSTILE, "size": HOSTILE}, 7]
        document["steps"][0]["parameters"] = {HOSTILE: HOSTILE, "n": 10**40}
        document["steps"][1]["parameters"] = {}

    built.edit_record(poison)
    path = built.out / "model.json"
    document = json.loads(path.read_bytes())
    document["tensors"][0] |= {"name": HOSTILE, "type": HOSTILE}
    path.write_text(json.dumps(document))
    page, _ = report(built.out, 1)
    assert "<script>alert(1)</script>\\x1b[31m\\u202e&\"'" in page.root.one("h1").text
    assert page.table("Tensors by size")[0][0].startswith("<script>")
    assert not list(page.root.all("script"))


FIRMWARE = {
    "step": "firmware",
    "version": 1,
    "tool": "",
    "inputs": {},
    "artifacts": [],
    "parameters": {"load": {"a": "b"}, "memory": 7, "reserved": {}},
}


def change(*keys):
    def edit(document):
        *path, last, value = keys
        for key in path:
            document = document[key]
        document[last] = value

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        change("source", {}),
        change("source", "gguf", None),
        change("source", "layers", {}),
        change("source", "name", ["x"]),
        change("steps", 0, "artifacts", 0, "name", "../../etc/passwd"),
        change("steps", 0, "artifacts", 0, "name", "a\nb"),
        change("steps", 0, "artifacts", 0, "size", 10**30),
        change("steps", 0, "artifacts", 0, "size", -5),
        change("steps", 0, "artifacts", 0, "sha256", "x"),
        change("steps", 0, "step", "firmware"),
        change("steps", 0, FIRMWARE),
        change("steps", []),
    ],
)  # fmt: skip
def test_records_that_are_strange(built, edit):
    built.edit_record(edit)
    outcome = call("report", built.out, "-o", "-")
    assert outcome.code in (0, 1)
    assert "internal error" not in outcome.err
    assert Page(outcome.out).headings()[-1] == "Provenance"


def assert_damage_is_shown(built, times, seed):
    """Damage several files at a time, the record among them."""
    chance = random.Random(seed)
    good = {path: path.read_bytes() for name in built.names() if (path := built.out / name).is_file()}
    for _ in range(times):
        for path in chance.sample(sorted(good), 3):
            data = bytearray(good[path])
            for _ in range(chance.randint(1, 4)):
                at = chance.randrange(len(data) + 1)
                match chance.randrange(3):
                    case 0:
                        data[at : at + 4] = chance.randbytes(chance.randint(0, 4))
                    case 1:
                        data[at:at] = chance.choice(
                            [b"\x1b", b"<", b'"', b"9" * 30, b"\xff", b"null", b"\0" * 70]
                        )
                    case 2 if chance.random() < 0.3:
                        del data[at:]
            path.write_bytes(data)
        outcome = call("report", built.out, "-o", "-")
        assert outcome.code in (0, 1), outcome.err
        assert all(line.isprintable() for line in outcome.err.splitlines())
        if outcome.out:
            assert Page(outcome.out).headings()[-1] == "Provenance"
        else:
            assert "build.json" in outcome.refused(1)
        for path, data in good.items():
            path.write_bytes(data)
    assert report(built.out)[1] == []


def test_damage_of_any_kind(built):
    assert_damage_is_shown(built, 12, seed=1)


@pytest.mark.long
def test_much_damage_of_any_kind(built):
    assert_damage_is_shown(built, 600, seed=2)


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"record_version": 2}', b"[" * 100_000])
def test_a_folder_whose_record_is_none(built, content):
    (built.out / "build.json").write_bytes(content)
    line = call("report", built.out).refused(1)
    assert "build.json: expected a build record, found something else" in line


def test_what_is_no_build(built, tmp_path_factory):
    empty = tmp_path_factory.mktemp("empty")
    assert (
        call("report", empty)
        .refused(1)
        .endswith("build.json: No such file or directory; name the output folder of a build")
    )
    assert "there is no such file or folder" in call("report", empty / "nothing").refused(2)
    assert "expected the output folder of a build, found a file" in call("report", built.gguf).refused(2)
    assert not list(empty.parent.glob("empty*.html"))


def test_where_the_page_goes(built, monkeypatch):
    name = built.out.with_name("out.html")
    line = call("report", built.out).done().lines[0]
    assert line == f"{name}: 3 maps, 8 tensors, 272 tokens, {len(built.recorded())} files"
    page = name.read_bytes()
    # Again, and by other names of the same folder: the same bytes in the same place.
    name.unlink()
    monkeypatch.chdir(built.out)
    call("report", ".").done()
    assert name.read_bytes() == page == call("report", ".", "-o", "-").done().stdout
    assert call("report", f"{built.out}/").done().out.startswith(f"{name}: ")
    assert call("report", built.out, "--output", built.root / "p").done()
    assert (built.root / "p").read_bytes() == page


def test_a_page_inside_the_folder_changes_nothing_for_the_other_commands(built):
    call("report", built.out, "-o", built.out / "report.html").done()
    first = (built.out / "report.html").read_bytes()
    call("report", built.out, "-o", built.out / "report.html").done()
    assert (built.out / "report.html").read_bytes() == first
    call("verify", built.out).done()
    assert built.status().code == 0
    assert set(built.states().values()) == {"fresh"}
    built.clean().done()
    assert (built.out / "report.html").read_bytes() == first


@pytest.mark.parametrize("name", ["vocab.bin", "build.json", "q25_tokenizer.img", "layers"])
def test_nothing_of_a_build_is_replaced(built, name):
    (built.out / "layers").mkdir(exist_ok=True)
    before = built.contents()
    outcome = call("report", built.out, "-o", built.out / name)
    assert "page" in outcome.refused(2)
    assert built.contents() == before


def test_places_where_no_page_can_be(built):
    stranger = built.out.with_name("out.html")
    stranger.write_text("<!DOCTYPE html>\n<p>mine")
    line = call("report", built.out).refused(2)
    assert "there is a file that is no such page; move it away, or name another place" in line
    assert stranger.read_text() == "<!DOCTYPE html>\n<p>mine"
    assert "expected a folder for the page" in call("report", built.out, "-o", built.root / "no/x").refused(2)
    os.mkfifo(built.root / "pipe")
    assert "found a device, pipe or socket" in call("report", built.out, "-o", built.root / "pipe").refused(2)


def test_a_place_without_permission(built):
    folder = built.root / "locked"
    folder.mkdir()
    folder.chmod(0o500)
    outcome = child("report", built.out, "-o", folder / "x.html", preexec_fn=without_rights)
    assert "Permission denied" in outcome.refused(4)
    assert not list(folder.iterdir())


def test_a_page_that_finds_no_room_leaves_nothing_and_the_old_one(built):
    page = built.out.with_name("out.html")
    call("report", built.out).done()
    before, names = page.read_bytes(), sorted(built.root.iterdir())
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # noqa: E731
    assert "File too large" in child("report", built.out, preexec_fn=limit).refused(4)
    assert page.read_bytes() == before
    assert sorted(built.root.iterdir()) == names


def test_another_locale_and_another_hash_order_give_the_same_bytes(built):
    first = child("report", built.out, "-o", "-", env={"LC_ALL": "C", "PYTHONHASHSEED": "1"}).done().stdout
    second = child(
        "report",
        ".",
        "-o",
        "-",
        cwd=built.out,
        env={"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "2", "NO_COLOR": "1"},
    )
    assert second.done().stdout == first


def test_the_help_says_where_it_goes():
    assert "beside the folder" in COMMAND.description
