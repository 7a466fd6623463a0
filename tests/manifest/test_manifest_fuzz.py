"""Whatever the text: a manifest, or a refusal with a place inside the text and printable lines."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from manifest_samples import FULL, PATH, parse
from yaml import SafeLoader, ScalarNode

from pipeline.manifest import ManifestError
from pipeline.manifest.implicit import misread
from pipeline.manifest.source import Source

PIECES = [
    "\t", "\n", "\r", "\r\n", " ", "  ", "&a ", "*a", "!", "!!", "!<", "!a!b", "%", "%YAML 1.1\n",
    "%TAG !a! b:\n", "---", "...", "- ", "? ", ": ", "[", "]", "{", "}", ",", "#", "|", "|2", ">-\n",
    "'", '"', "\\", "\\x", "\\u12", "\\U00110000", "\\\n", "<<", "=", "~", "null", "no", "010",
    "12:30", "1e3", "0x", "\ufeff", "\u2028", "\x85", "é", "🙂", "\0", "\x1b", "@", "`",
    "64KiB", "version", "steps", "inspect",
]  # fmt: skip
edits = st.lists(
    st.tuples(st.integers(0, len(FULL)), st.integers(0, 12), st.sampled_from(PIECES) | st.text(max_size=3)),
    min_size=1,
    max_size=5,
)


def check(text, *overrides):
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    try:
        parse(data, *overrides)
    except ManifestError as error:
        shown = data.decode("utf-8", "replace").removeprefix("\ufeff")
        lines = shown.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for problem in error.problems:
            assert problem.message.isprintable()
            place = problem.place
            if place.line is None:
                assert place.source.startswith("--set ")
            else:
                assert place.source == PATH
                assert 1 <= place.line <= len(lines)
                assert 1 <= place.column <= len(lines[place.line - 1]) + 1


@settings(max_examples=500, deadline=None)
@given(edits=edits)
def test_an_edited_manifest(edits):
    text = FULL
    for at, removed, piece in edits:
        text = text[:at] + piece + text[at + removed :]
    check(text)


@settings(max_examples=300, deadline=None)
@given(pieces=st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=15))
@example(pieces=["%YAML 1." + "1" * 5000, "\n---\na"])
def test_pieces_of_yaml(pieces):
    check("".join(pieces))
    check(FULL, "out=" + "".join(pieces), "steps.tensors=" + "".join(pieces))


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=40))
def test_bytes(data):
    check(data)


@settings(max_examples=200, deadline=None)
@given(key=st.sampled_from(PIECES) | st.text(max_size=20), value=st.text(max_size=10))
def test_any_override(key, value):
    check(FULL, f"{key}={value}")
    check(FULL, f"steps.{key}.a={value}")
    check(FULL, f"{key}{value}")


LOADER = SafeLoader("")

# What some reader of YAML takes for no text: letters and digits of all those forms.
plain_texts = st.text(alphabet="0123456789abcefinoxyNTZ_.:+-<=~ ", min_size=1, max_size=12) | st.from_regex(
    r"[-+]?[0-9]{1,3}([:_.][0-5]?[0-9]){0,3}([eE][-+]?[0-9])?|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"([Tt ][0-9]:[0-9]{2}:[0-9]{2}(\.[0-9])?( ?Z|[-+][0-9]{1,2}(:[0-9]{2})?)?)?",
    fullmatch=True,
)


@settings(max_examples=1000, deadline=None)
@given(text=plain_texts)
def test_all_that_pyyaml_resolves_is_misread(text):
    if LOADER.resolve(ScalarNode, text, (True, False)) != "tag:yaml.org,2002:str":
        assert misread(text) is not None


@given(text=st.text(alphabet="a\r\n\t ", max_size=20))
def test_every_index_has_a_place_in_its_line(text):
    source = Source(PATH, text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for index in range(len(text.rstrip(" \t\r\n"))):
        if text[index] == "a":
            place = source.place(index)
            assert lines[place.line - 1][place.column - 1] == "a"
