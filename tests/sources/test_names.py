"""Every form of a model's name, and every reason to refuse one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import UsageError
from pipeline.sources.names import ModelName, name_of_path, parse_name

PUBLIC = "registry.ollama.ai"


@pytest.mark.parametrize(
    ("text", "parts", "short"),
    [
        ("qwen2.5", (PUBLIC, "library", "qwen2.5", "latest"), "qwen2.5:latest"),
        ("qwen2.5:0.5b", (PUBLIC, "library", "qwen2.5", "0.5b"), "qwen2.5:0.5b"),
        ("ns/m:tag", (PUBLIC, "ns", "m", "tag"), "ns/m:tag"),
        ("library/m", (PUBLIC, "library", "m", "latest"), "m:latest"),
        (
            "hf.co/Org/Repo:Q4_K_M",
            ("hf.co", "Org", "Repo", "Q4_K_M"),
            "hf.co/Org/Repo:Q4_K_M",
        ),
        ("host:5000/ns/m", ("host:5000", "ns", "m", "latest"), "host:5000/ns/m:latest"),
        ("host:5000/ns/m:t", ("host:5000", "ns", "m", "t"), "host:5000/ns/m:t"),
        ("http://host:5000/ns/m:t", ("host:5000", "ns", "m", "t"), "host:5000/ns/m:t"),
        ("https://ollama.com/library/qwen2.5", (PUBLIC, "library", "qwen2.5", "latest"), "qwen2.5:latest"),
        ("OLLAMA.com/Library/Qwen2.5:0.5B", (PUBLIC, "Library", "Qwen2.5", "0.5B"), "Library/Qwen2.5:0.5B"),
        ("localhost/library/m", ("localhost", "library", "m", "latest"), "localhost/library/m:latest"),
        ("_a/_b:_c", (PUBLIC, "_a", "_b", "_c"), "_a/_b:_c"),
        ("a..b:1.0-x_y", (PUBLIC, "library", "a..b", "1.0-x_y"), "a..b:1.0-x_y"),
        ("9", (PUBLIC, "library", "9", "latest"), "9:latest"),
        ("h" * 350 + "/" + "n" * 80 + "/" + "m" * 80 + ":" + "t" * 80, None, None),
    ],
)
def test_forms(text, parts, short):
    name = parse_name(text)
    if parts is None:
        assert str(name) == text
    else:
        assert name == ModelName(*parts)
        assert name.short == short
    assert parse_name(name.short) == name
    assert parse_name(str(name)) == name


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "found an empty text"),
        ("m:", "the tag is empty"),
        (":tag", "the model is empty"),
        ("ns/", "the model is empty"),
        ("ns/:tag", "the model is empty"),
        ("/m", "the namespace is empty"),
        ("//m", "the host is empty"),
        ("/ns/m", "the host is empty"),
        ("https:///ns/m", "the host is empty"),
        ("https://", "the model is empty"),
        ("a/b/c/d", "at most three parts are divided by '/', found 4"),
        ("ftp://http://h/n/m", "at most three parts are divided by '/', found 5"),
        ("a b", "the model holds ' '"),
        (" m", "the model begins with ' '"),
        ("m ", "the model holds ' '"),
        ("m\n", r"the model holds '\n'"),
        ("m\x1b[31m", r"the model holds '\x1b'"),
        ("..", "the model begins with '.'"),
        ("../../etc/passwd", "at most three parts"),
        ("../x", "the namespace begins with '.'"),
        ("-m", "the model begins with '-'"),
        ("m:-t", "the tag begins with '-'"),
        ("m:a:b", "the model holds ':'"),
        ("n:s/m", "the namespace holds ':'"),
        ("hf.co/Repo", "the namespace 'hf.co' has a '.'; a host needs both"),
        ("C:\\models\\m", r"the tag begins with '\\'"),
        ("m:t/x:y/z", "the namespace holds ':'"),
        ("m@sha256:" + "0" * 64, "a digest is not given in the name"),
        ("é", "the model begins with 'é'"),
        ("mé", "the model holds 'é'"),
        ("m٣", "the model holds '٣'"),
        ("m" * 81, "the model has 81 characters, at most 80"),
        ("n" * 81 + "/m", "the namespace has 81 characters, at most 80"),
        ("m:" + "t" * 81, "the tag has 81 characters, at most 80"),
        ("h" * 351 + "/n/m", "the host has 351 characters, at most 350"),
        ("m\0", r"the model holds '\x00'"),
        ("m\ud800", r"the model holds '\ud800'"),
    ],
)
def test_wrong_names(text, reason):
    with pytest.raises(UsageError) as caught:
        parse_name(text)
    message = str(caught.value)
    assert reason in message
    assert message.startswith("model name")
    assert message.isprintable()


def test_names_of_paths():
    assert name_of_path((PUBLIC, "library", "m", "t")) == ModelName(PUBLIC, "library", "m", "t")
    assert name_of_path(("ollama.com", "library", "m", "t")) == ModelName(PUBLIC, "library", "m", "t")
    assert name_of_path(("h:1", "n", "m", "t")) == ModelName("h:1", "n", "m", "t")
    for parts in [
        ("h", "n", "m"),
        ("h", "n", "m", ".DS_Store"),
        ("h", "n.x", "m", "t"),
        ("h", "n", "m", "t~"),
    ]:
        assert name_of_path(parts) is None


@given(st.text(alphabet="aZ0_.-:/@ \\\u00e9", max_size=30))
def test_a_name_is_read_or_refused_in_one_line(text):
    try:
        name = parse_name(text)
    except UsageError as error:
        refusal = str(error)
    else:
        refusal = ""
    assert refusal.isprintable()
    if refusal:
        return
    assert parse_name(str(name)) == name
    assert parse_name(name.short) == name
    assert name_of_path((name.host, name.namespace, name.model, name.tag)) == name
