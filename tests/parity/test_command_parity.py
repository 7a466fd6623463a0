"""The command `parity`: on a build, with a corpus of the call's, in words and as JSON."""

import json
import os
import shutil

import pytest
from command_line import call, child
from tiny_model import STEPS, write_tiny

from formats.gguf.value_types import ValueType

OTHER_MERGES = ("a b", "ab c", "c d", "Ġ a", "h i", "Ġ hi")
"""The tiny model's in another order."""


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts"
    path.mkdir()
    (path / "one.txt").write_text("abcd\na  b\nhi\n", encoding="utf-8")
    (path / "two.txt").write_text("a\tb\tc\ncafe\u0301\n", encoding="utf-8")
    return path


def test_in_words(built, texts):
    lines = call("parity", built.manifest, "--corpus", texts).done().lines
    assert lines[0].startswith("model: the file tiny.gguf (sha256:")
    assert lines[1] == "corpus texts: 5 samples (lines), 21 bytes; reference tokenizers 0.23.3"
    found = {line.split("  ")[0]: line.split() for line in lines[3:11]}
    assert found["reference"][1:4] == found["exact"][1:4] == ["5", "of", "5"]
    assert found["greedy_base"][1:4] == ["1", "of", "5"]
    assert "greedy_base: merge order: one.txt, sample 1, bytes 0..4" in lines
    assert "  reference  257 256  'ab' 'cd'" in lines
    assert "  found      258 100  'abc' 'd'" in lines


def test_the_manifest_needs_no_such_step(built, few_texts):
    assert "parity" not in STEPS
    before = built.stamps()
    lines = call("parity", built.manifest).done().lines
    assert f"corpus built-in: {few_texts} samples (as suits each text)" in lines[1]
    assert built.stamps() == before, "it only looks"


def test_as_json(built, texts):
    ended = call("parity", built.manifest, "--corpus", texts, "--json")
    assert ended.code == 0
    (made,) = ended.objects
    assert made["corpus"]["samples"] == 5
    assert made["listed_differences"] == 200
    assert {entry["party"] for entry in made["differences"]} > {"greedy_base", "tokenizer_bin"}
    assert ended.err.startswith("model: the file tiny.gguf")
    again = call("parity", built.manifest, "--corpus", texts, "--json", "--differences", "0").objects[0]
    assert again["differences"] == []
    assert again["parties"] == made["parties"]


def test_it_is_what_the_step_writes(built, texts):
    built.write_manifest(steps=[*STEPS, {"parity": {"corpus": "texts", "differences": 2}}])
    built.run().done()
    written = json.loads((built.out / "parity.json").read_bytes())
    assert call("parity", built.manifest, "--json").objects == [written]


def test_the_steps_parameters_serve_where_the_call_has_none(built, texts):
    built.write_manifest(steps=[*STEPS, {"parity": {"corpus": "texts", "samples": "blocks"}}])
    assert "2 samples (blocks)" in call("parity", built.manifest).done().lines[1]
    assert "5 samples (lines)" in call("parity", built.manifest, "--samples", "lines").done().lines[1]
    one = texts / "one.txt"
    assert (
        "corpus one.txt: 1 samples (blocks)"
        in call("parity", built.manifest, "--corpus", one).done().lines[1]
    )


def test_a_corpus_is_seen_from_the_current_folder(built, texts, monkeypatch):
    monkeypatch.chdir(texts)
    assert "corpus one.txt" in call("parity", built.manifest, "--corpus", "one.txt").done().lines[1]
    assert "corpus texts" in call("parity", built.manifest, "--corpus", ".").done().lines[1]


def test_the_number_of_shown_differences(built, texts):
    def shown(*arguments):
        lines = call("parity", built.manifest, "--corpus", texts, *arguments).done().lines
        return sum(line.startswith("  found ") for line in lines)

    assert shown("--differences", "0") == 0
    assert 0 < shown() < shown("--differences", "100")
    assert "found -1" in call("parity", built.manifest, "--differences", "-1").refused(2)


def test_before_anything_is_built(project):
    line = call("parity", project.manifest).refused(2)
    assert line == f"pipeline: {project.out}: there is no such file or folder"
    project.out.mkdir()
    line = call("parity", project.manifest).refused(2)
    assert line == f"pipeline: {project.out / 'q25_tokenizer.img'}: there is no such file or folder"


def test_artifacts_that_are_not_there_are_left_out(built, texts):
    (built.out / "vocab.bin").unlink()
    lines = call("parity", built.manifest, "--corpus", texts).done().lines
    assert "note: there is no vocab.bin in the output folder; its engine is left out" in lines
    assert not [line for line in lines if line.startswith("greedy")]
    assert [line for line in lines if line.startswith("tokenizer_bin")]


def test_damaged_artifacts(built, texts):
    for name in ("vocab.bin", "tokenizer.bin"):
        path = built.out / name
        good = path.read_bytes()
        path.write_bytes(good[:-1])
        line = call("parity", built.manifest, "--corpus", texts).refused(3)
        assert line.startswith(f"pipeline: {path}: ")
        path.write_bytes(good)
    image = built.out / "q25_tokenizer.img"
    image.write_bytes(image.read_bytes()[:-64])
    assert call("parity", built.manifest).refused(3).startswith(f"pipeline: {image}: header.total_bytes")


def test_artifacts_of_another_model(built, texts):
    """The ids disagree, and that is said: no traceback, exit code 1."""
    write_tiny(built.gguf, merges=OTHER_MERGES)
    ended = call("parity", built.manifest, "--corpus", texts)
    assert ended.code == 1
    assert any(
        line.startswith("warning: the image was built from the model sha256:")
        and line.endswith("not from this one; run the manifest again")
        for line in ended.lines
    )
    (line,) = ended.err.splitlines()
    assert line.startswith("pipeline: the exact encoder on the image gives the reference's ids for ")
    assert "the first that differs: one.txt, sample 1, byte 0" in line


def test_a_model_of_which_no_image_is_exact(built, texts):
    """The manifest may ask for less; the call then succeeds."""
    write_tiny(built.gguf, merges=OTHER_MERGES)
    built.write_manifest(steps=[*STEPS, {"parity": {"fail_under": 0}}])
    call("parity", built.manifest, "--corpus", texts).done()


def test_another_vocabulary_in_the_output_folder(built, texts, tmp_path, qwen3_tables):
    (built.out / "q25_tokenizer.img").write_bytes(bytes(qwen3_tables.image()))
    (built.out / "vocab.bin").write_bytes(qwen3_tables.vocab_bin().data)
    (built.out / "tokenizer.bin").write_bytes(qwen3_tables.tokenizer_bin("loader"))
    ended = call("parity", built.manifest, "--corpus", texts)
    assert ended.code == 1
    assert "internal error" not in ended.err
    assert sum(" 0 of 5 " in line for line in ended.lines) == 7


@pytest.mark.parametrize("name", ["nothing", "empty", "binary", "folder"])
def test_a_corpus_that_is_none(built, tmp_path, name):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "binary").write_bytes(b"ok\n" + bytes(range(256)))
    (tmp_path / "folder").mkdir()
    path = tmp_path / name
    line = call("parity", built.manifest, "--corpus", path).refused(2)
    assert (
        line
        == {
            "nothing": f"pipeline: {path}: there is no such file or folder",
            "empty": "pipeline: empty: expected text to compare, found none; name another corpus",
            "binary": (
                f"pipeline: {path}: byte 0x83 (131): expected text in UTF-8, found bytes 80 81 82 83; "
                "leave the file out of the corpus, or convert it"
            ),
            "folder": f"pipeline: {path}: expected text files in it, found none",
        }[name]
    )


def test_odd_file_names(built, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in (b"\xff", b"a\nb", b"\x1b[31m"):
        with open(os.fsencode(folder) + b"/" + name, "wb") as file:  # noqa: PTH123
            file.write(b"abcd\n")
    lines = call("parity", built.manifest, "--corpus", folder).done().lines
    assert all(line.isprintable() for line in lines)
    made = call("parity", built.manifest, "--corpus", folder, "--json").objects[0]
    assert [group["name"] for group in made["corpus"]["groups"]] == ["\x1b[31m", "a\nb", "\\udcff"]


def test_a_rule_that_is_not_served(built):
    write_tiny(built.gguf, {"tokenizer.ggml.pre": (ValueType.STRING, "llama-bpe")})
    assert "pre-tokenizer 'llama-bpe' is not known here" in call("parity", built.manifest).refused(3)


def test_without_the_library(built, tmp_path):
    """A module of that name that cannot be imported stands for one that is not installed."""
    (tmp_path / "shadow").mkdir()
    (tmp_path / "shadow" / "tokenizers.py").write_text("raise ImportError")
    path = os.pathsep.join([str(tmp_path / "shadow"), os.environ.get("PYTHONPATH", "")])
    ended = child("parity", built.manifest, env={"PYTHONPATH": path}, cwd=tmp_path)
    assert ended.refused(4) == (
        "pipeline: the comparison needs the package tokenizers 0.23.3, which is not installed: "
        "pip install '.[parity]'"
    )


def test_the_help_imports_nothing_heavy():
    from command_line import imported_by

    assert imported_by("parity", "--help") == (0, [])


def test_a_copy_elsewhere_gives_the_same(built, texts, tmp_path):
    one = call("parity", built.manifest, "--corpus", texts, "--json").stdout
    other = tmp_path / "copy"
    shutil.copytree(built.root, other, ignore=shutil.ignore_patterns("copy"))
    env = {"PYTHONHASHSEED": "5", "LC_ALL": "C"}
    ended = child("parity", other / "m.yaml", "--corpus", other / "texts", "--json", env=env, cwd="/")
    assert ended.stdout == one
