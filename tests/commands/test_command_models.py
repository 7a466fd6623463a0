"""`models`: every model of the store, and what this tool can do with it."""

import pytest
from command_line import call
from ollama_stores import make_model
from tiny_model import write_tiny

from formats.gguf.value_types import ValueType

LIBRARY = "registry.ollama.ai/library"


@pytest.fixture
def store(alone, tmp_path, monkeypatch):
    """Give a function that adds a model to a store."""
    root = alone / "models"
    monkeypatch.setenv("OLLAMA_MODELS", str(root))
    (root / "manifests").mkdir(parents=True)
    (root / "blobs").mkdir()

    def add(name, changes=None, data=None):
        if data is None:
            data = write_tiny(tmp_path / "x.gguf", changes).read_bytes()
        return make_model(root, data, name)

    add.root = root
    return add


def uses():
    """Give what is said of each model, by its name."""
    return {row["name"]: (row["usable"], row["use"]) for row in call("models", "--json").done().objects}


def test_what_can_be_done_with_each(store):
    store(f"{LIBRARY}/good/latest")
    store(f"{LIBRARY}/other/rule", {"tokenizer.ggml.pre": (ValueType.STRING, "gpt-2")})
    store(f"{LIBRARY}/no/rule", {"tokenizer.ggml.pre": None})
    store(f"{LIBRARY}/llama/1b", {"tokenizer.ggml.model": (ValueType.STRING, "llama")})
    store("hf.co/Org/Repo/Q4_K_M", {"general.architecture": (ValueType.STRING, "qwen3")})
    store(f"{LIBRARY}/cut/latest", data=b"GGUF\x03\0\0\0")
    missing = store(f"{LIBRARY}/missing/latest", data=b"gone")
    for blob in (store.root / "blobs").iterdir():
        if blob.read_bytes() == b"gone":
            blob.unlink()
    store(f"{LIBRARY}/empty/latest").write_bytes(b"")
    found = uses()
    tables = "qwen2: tensors and tables; no encoding, pre-tokenizer "
    assert found.pop("good:latest") == (True, "qwen2: tensors, tables and exact encoding")
    assert found.pop("other:rule") == (True, f"{tables}'gpt-2' is not served")
    usable, words = found.pop("no:rule")
    assert usable
    assert words.startswith("qwen2: tensors and tables; no encoding")
    assert found.pop("llama:1b") == (
        True,
        "qwen2: tensors only; tokenizer model 'llama' is not byte-level BPE",
    )
    assert found.pop("hf.co/Org/Repo:Q4_K_M") == (True, "qwen3: tensors, tables and exact encoding")
    usable, words = found.pop("cut:latest")
    assert "offset" in words
    usable, words = found.pop("missing:latest")
    assert not usable
    assert "ollama pull missing" in words
    usable, words = found.pop("empty:latest")
    assert not usable
    assert "the manifest is empty" in words
    assert found == {}
    assert missing.exists()


def test_text_has_a_line_for_each(store):
    store(f"{LIBRARY}/b/latest")
    store(f"{LIBRARY}/a/1b")
    lines = call("models").done().lines
    assert [line.split()[0] for line in lines] == ["a:1b", "b:latest"]
    (row,) = [row for row in call("models", "--json").done().objects if row["name"] == "b:latest"]
    assert lines[1].split()[:3] == [
        "b:latest",
        row["digest"].removeprefix("sha256:")[:12],
        f"{row['size']:,}",
    ]
    assert lines[1].endswith(f"  {row['use']}")


def test_no_store_and_no_models(store, alone, monkeypatch):
    assert call("models").done().out == f"no models; looked in {store.root}\n"
    assert call("models", "--json").done().out == ""
    monkeypatch.setenv("OLLAMA_MODELS", str(alone / "nothing"))
    assert call("models").done().lines == [f"no models; looked in {alone / 'nothing'}"]


def test_hostile_names_stay_on_their_lines(store):
    store(f"{LIBRARY}/good/latest")
    odd = store.root / "manifests" / LIBRARY / "a\nb\x1b[2J" / "latest"
    odd.parent.mkdir(parents=True)
    odd.write_bytes(b"{}")
    store(f"{LIBRARY}/arch/latest", {"general.architecture": (ValueType.STRING, "q\n\x1b[2J")})
    outcome = call("models").done()
    assert all(line.isprintable() for line in outcome.lines)
    assert "good:latest" in outcome.out
    assert outcome.stdout.count(b"\n") == len(outcome.lines)


def test_keys_of_another_type(store):
    store(f"{LIBRARY}/odd/latest", {"tokenizer.ggml.pre": (ValueType.UINT32, 5)})
    (words,) = [words for _, words in uses().values()]
    assert "tokenizer.ggml.pre" in words
