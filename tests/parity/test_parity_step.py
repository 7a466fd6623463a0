"""The step `parity` in a build: what it makes, when it is made again, and when it stops the build."""

import json
import os
import shutil

import pytest
from command_line import call, child
from projects import Project, contents
from tiny_model import STEPS, TOOL, tokens, write_tiny

from pipeline.bpe.encoder import Encoder

BASE = [step for step in STEPS if step not in ("inspect", "layers", "tensors")]


def with_parity(*steps, **parameters):
    """List steps with this one; its corpus is a short one, unless another is stated."""
    return [*(steps or BASE), {"parity": {"corpus": "short", **parameters}}]


@pytest.fixture
def small(tmp_path, alone):
    made = Project(tmp_path)
    (made.root / "short").write_text("abcd\na  b\nhi\n", encoding="utf-8")
    made.write_manifest(steps=with_parity())
    return made


def document(project):
    return json.loads((project.out / "parity.json").read_bytes())


def party(project, key):
    return next(entry for entry in document(project)["parties"] if entry["party"] == key)


def corpus(project, **files):
    folder = project.root / "texts"
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_it_makes_a_document_that_verifies(small, few_texts):
    """With the built-in texts, since it is told of no others."""
    small.write_manifest(steps=[*BASE, "parity"])
    lines = small.run().done().lines
    assert any(line.strip().startswith("exact") and " 0 %" in line for line in lines)
    made = document(small)
    assert [entry["party"] for entry in made["parties"]] == [
        "exact", "rank_bpe", "greedy_base", "greedy_A", "greedy_AB", "greedy_specials_first", "tokenizer_bin",
    ]  # fmt: skip
    assert made["corpus"]["name"] == "built-in"
    assert party(small, "exact")["equal"] == made["corpus"]["samples"] == few_texts
    assert party(small, "greedy_base")["equal"] < made["corpus"]["samples"]
    assert made["model"]["gguf_sha256"] == small.record()["source"]["gguf"]["sha256"]
    count = len(small.names()) - 1
    assert call("verify", small.out).done().lines == [f"{count} of {count} files verified in {small.out}"]
    assert small.recorded()["parity.json"]["layout"] == "parity"


def test_a_damaged_document_is_found(small):
    small.run().done()
    path = small.out / "parity.json"
    path.write_bytes(path.read_bytes().replace(b'"equal": ', b'"equal": 1', 1))
    ended = call("verify", path)
    assert ended.code == 1
    assert f"{path}: parties[0].equal: expected at most " in ended.err


def test_the_same_bytes_in_another_environment(small, tmp_path):
    small.run().done()
    other = tmp_path / "elsewhere"
    env = {"PYTHONHASHSEED": "99", "TZ": "Asia/Kabul", "LC_ALL": "C", "PYTHONUTF8": "0"}
    assert child("run", small.manifest, "--out", other, env=env, cwd="/").code == 0
    assert contents(other)["parity.json"] == contents(small.out)["parity.json"]


def test_only_what_the_manifest_makes_is_compared(small):
    """vocab.bin and tokenizer.bin are used where they are made, and the step depends on them then."""
    small.write_manifest(steps=with_parity("tokenizer", "ps_bundle", "runtime_image"))
    small.run().done()
    assert [entry["party"] for entry in document(small)["parties"]] == ["exact", "rank_bpe"]
    record = next(step for step in small.record()["steps"] if step["step"] == "parity")
    assert list(record["inputs"]) == ["model", "model.pre", "q25_tokenizer.img", "corpus"]
    small.write_manifest(steps=["vocab_bin", *with_parity("tokenizer", "ps_bundle", "runtime_image")])
    events = small.events()
    assert events["parity"]["state"] == "made"
    assert events["parity"]["reasons"] == ["vocab.bin changed"]
    assert party(small, "greedy_base")["samples"] > 0


def test_the_order_follows_from_what_is_used(small):
    small.write_manifest(steps=["parity", *BASE[::-1]])
    text = call("dag", small.manifest).done().out
    assert text.index("\nparity\n") > text.index("tokenizer_bin\n")
    assert "  reads  model, model.pre, q25_tokenizer.img, vocab.bin, tokenizer.bin" in text
    assert 'tokenizer_bin -->|"tokenizer.bin"| parity' in call("dag", small.manifest, "--mermaid").done().out


def test_without_the_image_there_is_nothing_to_prove(small):
    small.write_manifest(steps=[{"parity": {}}, "vocab_bin"])
    line = small.run().refused(2)
    assert line.endswith(
        "step parity reads q25_tokenizer.img, which step runtime_image writes; add runtime_image to the steps"
    )


def test_a_corpus_of_the_users(small):
    corpus(small, one="abcd\nhi a\n", two="a\tb\n")
    small.write_manifest(steps=with_parity(corpus="texts"))
    small.run().done()
    made = document(small)["corpus"]
    assert (made["name"], made["unit"], made["samples"]) == ("texts", "lines", 3)
    assert made["groups"] == [
        {"name": "one", "samples": 2, "bytes": 8},
        {"name": "two", "samples": 1, "bytes": 3},
    ]
    assert party(small, "greedy_base")["classes"] == {"unmatched byte": 1, "merge order": 1}
    small.write_manifest(steps=with_parity(corpus="texts/one", samples="blocks"))
    small.run().done()
    assert document(small)["corpus"]["groups"] == [{"name": "one", "samples": 1, "bytes": 10}]


def test_it_is_made_again_when_the_corpus_changes(small):
    folder = corpus(small, one="abcd\n", two="hi\n")
    small.write_manifest(steps=with_parity(corpus="texts"))
    small.run().done()
    assert small.reasons() == {}
    assert small.status().code == 0

    (folder / "one").write_text("abcde\n")
    (reason,) = small.reasons()["parity"]
    assert reason.startswith("corpus changed (")
    assert small.reasons() == {}
    (folder / "two").rename(folder / "three")
    assert small.reasons()["parity"][0].startswith("corpus changed (")
    (folder / "more").write_text("x")
    assert small.status().code == 1
    assert small.reasons()["parity"][0].startswith("corpus changed (")
    (folder / ".hidden").write_text("x")
    os.utime(folder / "more", (1, 1))
    assert small.reasons() == {}
    shutil.copytree(folder, small.root / "same")
    small.write_manifest(steps=with_parity(corpus="same"))
    assert small.reasons()["parity"] == ['corpus was "texts", is "same"']


def test_only_what_depends_on_it_is_made_again(small):
    small.run().done()
    small.write_manifest(steps=with_parity(differences=1))
    assert small.states()["parity"] == "made"
    assert small.reasons() == {}


def test_a_corpus_that_changes_meanwhile(small, monkeypatch):
    from pipeline.parity import judging

    folder = corpus(small, one="abcd\n")
    small.write_manifest(steps=with_parity(corpus="texts"))
    real = judging.compare

    def compare(*arguments, **options):
        verdict = real(*arguments, **options)
        (folder / "one").write_text("other text\n")
        return verdict

    monkeypatch.setattr(judging, "compare", compare)
    line = small.run().refused(3)
    assert line == (f"pipeline: {folder}: changed while it was being read; run again when nothing writes it")
    assert "parity.json" not in small.names()


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (shutil.rmtree, 2, "{folder}: there is no such file or folder"),
        (lambda folder: (folder / "one").unlink(), 2, "{folder}: expected text files in it, found none"),
        (
            lambda folder: (folder / "one").write_text("\n\n"),
            2,
            "texts: expected text to compare, found none",
        ),
        (
            lambda folder: (folder / "one").write_bytes(b"good\n\x89PNG"),
            2,
            "{folder}/one: byte 0x5 (5): expected text in UTF-8, found bytes 89 50 4e 47",
        ),
        (
            lambda folder: os.mkfifo(folder / "pipe"),
            3,
            "{folder}/pipe: expected a file, found a device, pipe",
        ),
    ],
    ids=["missing", "no files", "empty", "binary", "pipe"],
)
def test_a_corpus_that_is_none(small, no_hang, make, code, words):
    folder = corpus(small, one="abcd\n")
    make(folder)
    small.write_manifest(steps=with_parity(corpus="texts"))
    ended = small.run()
    line = ended.refused(code)
    assert words.format(folder=folder) in line
    assert "parity.json" not in small.names()
    assert small.status().code in (1, code)


@pytest.mark.parametrize(
    "name", ["out", "out/parity.json", "out/build.json", "out/.pipeline", "out/merges.txt", ".", "link"]
)
def test_a_corpus_that_runs_write(small, name):
    """It would change with every run, and a first run would not find it."""
    small.run().done()
    (small.root / "link").symlink_to("out/chat_template.txt")
    small.write_manifest(steps=with_parity(corpus=name))
    before = small.stamps()
    line = small.run().refused(2)
    assert line == (
        f"{small.manifest}:15:5: steps.parity.corpus: {small.root / name}: expected files that no run of this manifest "
        "writes, found some that it does; copy what is wanted elsewhere"
    )
    assert small.stamps() == before


def test_a_corpus_beside_the_artifacts(small):
    """The user's own files may lie there."""
    small.run().done()
    (small.out / "texts").mkdir()
    (small.out / "texts" / "one").write_text("abcd\n", encoding="utf-8")
    small.write_manifest(steps=with_parity(corpus="out/texts"))
    small.run().done()
    assert small.reasons() == {}


def test_the_place_of_a_missing_corpus_is_the_manifests(small):
    small.write_manifest(steps=with_parity(corpus="nowhere"))
    line = small.run().refused(2)
    assert line == (
        f"{small.manifest}:15:5: steps.parity.corpus: {small.root / 'nowhere'}: there is no such file or folder"
    )


def broken_encoder(monkeypatch):
    """Let the encoder on the image, and only that, give a wrong id."""
    from pipeline.bpe.image_tables import ImageTables

    real = Encoder.piece_ids

    def piece_ids(self, piece):
        ids = real(self, piece)
        return [TOOL] if isinstance(self._tables, ImageTables) and piece == "hi" else ids

    monkeypatch.setattr(Encoder, "piece_ids", piece_ids)


def test_an_image_that_is_not_exact_stops_the_build(small, monkeypatch):
    corpus(small, one="ab\nhi\ncd\na\n")
    small.write_manifest(steps=with_parity(corpus="texts/one"))
    broken_encoder(monkeypatch)
    line = small.run().refused(1)
    assert line == (
        "pipeline: step parity: the exact encoder on the image gives the reference's ids for 3 of 4 samples, 75.00 %; "
        "at least 100 % are wanted; the first that differs: one, sample 2, byte 0, 'hi': expected 260, found 265"
    )
    assert "parity.json" not in small.names()
    small.write_manifest(steps=with_parity(corpus="texts/one", fail_under=75))
    small.run().done()
    (entry,) = [entry for entry in document(small)["differences"] if entry["party"] == "exact"]
    assert (entry["reference"]["ids"], entry["found"]["ids"]) == ([260], [265])
    assert party(small, "exact")["equal"] == 3
    call("verify", small.out).done()


@pytest.mark.parametrize("value", ["-1", "101", "99.5", "all"])
def test_a_share_that_is_none(small, value):
    line = call("run", small.manifest, "--set", f"steps.parity.fail_under={value}").refused(2)
    assert "steps.parity.fail_under: expected a whole number from 0 to 100" in line


def test_without_the_library_the_build_stops_with_one_line(small, monkeypatch):
    from pipeline.errors import MachineError
    from pipeline.parity import reference

    def library_version():
        raise MachineError("the comparison needs the package tokenizers")

    monkeypatch.setattr(reference, "library_version", library_version)
    assert small.run().refused(4) == "pipeline: the comparison needs the package tokenizers"
    assert "q25_tokenizer.img" in small.names()


def test_a_rule_that_is_not_served(small):
    from formats.gguf.value_types import ValueType

    write_tiny(small.gguf, {"tokenizer.ggml.pre": (ValueType.STRING, "llama-bpe")})
    line = small.run().refused(3)
    assert "pre-tokenizer 'llama-bpe' is not known here" in line
    small.write_manifest(steps=with_parity(), model={"gguf": "tiny.gguf", "pre": "qwen2"})
    small.run().done()


def test_a_byte_without_a_token(small):
    """The reference leaves such a byte out; the exact encoder refuses it, and so the comparison says where."""
    rows = [("zz" if text == "z" else text, kind) for text, kind in tokens()]
    write_tiny(small.gguf, rows=rows)
    corpus(small, one="ab\nxyz\n")
    small.write_manifest(steps=with_parity(corpus="texts"))
    line = small.run().refused(3)
    assert line.startswith(
        "pipeline: exact: one, sample 2: byte 0x7A (122) of 'xyz': expected a token that is this byte"
    )
