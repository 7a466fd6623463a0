"""Step `layers`: the text layers of a model in the Ollama store."""

import pytest
from ollama_stores import make_model

LAYERS = (
    ("system", "Be brief.\r\n\u2028".encode()),
    ("template", b"{{ .Prompt }}"),
    ("license", b"one"),
    ("params", b'{"stop": ["<|im_end|>"]}'),
    ("license", b"two"),
    ("messages", b"[]"),
    ("license", b"\xff\x00three"),
    ("projector", b"GGUF"),
    ("adapter", b"GGUF"),
)


@pytest.fixture
def store(project, alone, monkeypatch):
    """A store, and the project's manifest on its model `tiny`."""
    root = alone / "models"
    monkeypatch.setenv("OLLAMA_MODELS", str(root))
    project.write_manifest(model={"ollama": "tiny"}, steps=["layers"])
    make_model(root, project.gguf.read_bytes(), layers=LAYERS)
    return root


def test_every_text_layer_byte_for_byte(project, store):
    outcome = project.run().done()
    assert {name: (project.out / name).read_bytes() for name in project.names() if name != "build.json"} == {
        "layers/license-2.txt": b"two",
        "layers/license-3.txt": b"\xff\x00three",
        "layers/license.txt": b"one",
        "layers/messages.json": b"[]",
        "layers/params.json": b'{"stop": ["<|im_end|>"]}',
        "layers/system.txt": "Be brief.\r\n\u2028".encode(),
        "layers/template.txt": b"{{ .Prompt }}",
    }
    assert "               system, template, license, params, license-2, messages, license-3" in outcome.lines


def test_the_record_names_the_store_and_every_layer(project, store):
    project.run().done()
    source = project.record()["source"]
    assert (source["kind"], source["name"]) == ("ollama", "tiny:latest")
    assert [layer["kind"] for layer in source["layers"]] == ["model", *(kind for kind, _ in LAYERS)]
    assert str(store) not in (project.out / "build.json").read_text()


def test_an_adapter_is_named_as_not_packed(project, store):
    assert project.run().done().lines[0] == (
        "note: tiny:latest has 1 adapter layer; its GGUF is packed as it is, without, so its weights are not those "
        "that Ollama runs"
    )


def test_another_layer_is_a_reason_another_template_alone_is_none_for_the_rest(project, store):
    project.write_manifest(model={"ollama": "tiny"}, steps=["layers", "inspect"])
    project.run().done()
    make_model(store, project.gguf.read_bytes(), layers=LAYERS[:3])
    (reason,) = project.reasons()["layers"]
    assert reason.startswith("the model's other layers changed (")
    assert project.reasons() == {}
    assert project.clean().done().lines[-1].startswith("4 removed, 0 kept")
    assert [name for name in project.names() if "layers/" in name] == [
        "layers/license.txt",
        "layers/system.txt",
        "layers/template.txt",
    ]


def test_a_layer_whose_bytes_changed(project, store):
    (blob,) = [path for path in (store / "blobs").iterdir() if path.read_bytes() == b"one"]
    blob.write_bytes(b"0ne")
    line = project.run().refused(3)
    assert str(blob) in line
    assert project.names() == []


def test_a_model_with_no_text_layers(project, store):
    make_model(store, project.gguf.read_bytes())
    outcome = project.run().done()
    assert "               the model has no text layers" in outcome.lines
    assert project.names() == ["build.json"]


def test_a_gguf_has_none(project):
    project.write_manifest(steps=["layers"])
    lines = project.run().done().lines
    assert "               the model has no text layers" in lines
    assert project.names() == ["build.json"]
    assert project.reasons() == {}
