"""What is no YAML, or YAML that a manifest does without: each with its exact line."""

import pytest
import yaml
from manifest_samples import HEAD, parse

from pipeline.manifest import ManifestError
from pipeline.manifest.implicit import misread

COLON = "a ':' in a place where no key can stand; check the indentation, or quote the text that the ':' belongs to"
LINE_END = "text without quotes goes on over a line's end; check indentation and brackets, or quote it"
DIRECTIVE = "YAML directives (%YAML, %TAG) are not used in a manifest; delete the line"
QUOTES = "text that begins with {} needs quotes around it"
ESCAPE = r"a \ in double quotes begins an escape, and this is none; use single quotes, or \\"
ALIAS = 'YAML aliases are not used in a manifest: write the value out; if the text is meant, quote it: "{}"'
ANCHOR = 'YAML anchors are not used in a manifest: write the value out; if the text is meant, quote it: "{}"'
TAG = "YAML tags are not used in a manifest: delete '{}'; if the text is meant, put it in quotes"
MAPPING = "expected a mapping with version, model, out, expect, budget, steps, found {}"
TAB = "a tab; use spaces to indent and to part words"
TWICE = "the key {} is given twice; it stands at manifests/m.yaml:{} already"
OPEN = "the text ends where a value was expected; is each [ and { closed?"
DEEP = "lists and mappings are nested more than 20 deep"
RANGE = "not YAML: an escape or a number that is out of range"

CASES = [
    ("a:\tb", [f"1:3: {TAB}"]),
    ("a: b\n\tc: d", [f"2:1: {TAB}"]),
    ("a: b \t# comment", [f"1:6: {TAB}"]),
    ("a: [*]", ["1:5: " + QUOTES.format("*")]),
    ("a: [*.weight]", ["1:5: " + QUOTES.format("*")]),
    ("a: &", ["1:4: " + QUOTES.format("&")]),
    ("a: !<x", ["1:4: " + QUOTES.format("!")]),
    ("a: @x", ["1:4: " + QUOTES.format("@")]),
    ("a: `x`", ["1:4: " + QUOTES.format("`")]),
    ("a: %x", ["1:4: " + QUOTES.format("%")]),
    ("%x: a", ["1:1: " + QUOTES.format("%")]),
    ("a: |x\n b", ["1:4: " + QUOTES.format("|")]),
    ("a: >x\n b", ["1:4: " + QUOTES.format(">")]),
    ("a: *x", ["1:4: " + ALIAS.format("*x")]),
    ("a: &x y", ["1:4: " + ANCHOR.format("&x")]),
    ("&a [*a]", ["1:1: " + ANCHOR.format("&a"), "1:5: " + ALIAS.format("*a")]),
    ("a: *" + "x" * 50, ["1:4: " + ALIAS.format("...")]),
    ("a: !!python/object:os.system x", ["1:4: " + TAG.format("!!python/object:os.system")]),
    ("a: ! b", ["1:4: " + TAG.format("!")]),
    ("a: !x [b]", ["1:4: " + TAG.format("!x")]),
    ("a: !x!y z", ["1:4: not YAML: found undefined tag handle '!x!'"]),
    ("%YAML 1.2\n---\na: b", [f"1:1: {DIRECTIVE}"]),
    ("%FOO\n---\na: b", [f"1:1: {DIRECTIVE}"]),
    ("%YAML 1." + "1" * 5000 + "\n---\na: b", [f"1:9: {RANGE}"]),
    ("a: b: c", [f"1:5: {COLON}"]),
    ("a: b\n  c: d", [f"1:4: {LINE_END}", f"2:4: {COLON}"]),
    ("a: b\n  c", [f"1:4: {LINE_END}"]),
    ("a: - b", ["1:4: a '- ' in a place where no list can stand; begin the list on a line of its own"]),
    ("a: [1, 2", ["1:4: this [ is never closed"]),
    ("a: {b: 1, \n\n", [f"1:10: {OPEN}"]),
    ('a: "x\nb: 1\n', ['1:4: this " is never closed']),
    ("a: 'x", ["1:4: this ' is never closed"]),
    ("a: {b: 'x'\nc: 2", ["2:1: expected ',' or '}' here; is the { at manifests/m.yaml:1:4 closed?"]),
    ("a: ['x'\nc: d]", ["2:1: expected ',' or ']' here; is the [ at manifests/m.yaml:1:4 closed?"]),
    ("-a: [", [f"1:6: {OPEN}"]),
    ("a: [b]]", ["1:7: this ] closes nothing"]),
    ("a: {b: c}}", ["1:10: this } closes nothing"]),
    ("a: [b, , c]", ["1:8: expected a value, found ,"]),
    ("a:\n  b: 1\n c: 2", ["3:2: the indentation fits none of the lines above"]),
    ("- a\nb: c", ["2:1: the indentation fits none of the lines above"]),
    ("a: 1\nb", ["2:1: expected 'key: value', found text without ': ' behind it"]),
    ("a: 'x' y", ["1:8: expected the line's end; quote the whole text if this belongs to it"]),
    ("a\n...\nb", ["3:1: expected the end of the text; the value ends before this"]),
    (r'a: "C:\models"', [f"1:8: {ESCAPE}"]),
    (r'a: "\x4"', [f"1:7: {ESCAPE}"]),
    (r'a: "\ud800"', [r"1:4: an escape names half a character (\uD800 to \uDFFF)"]),
    (r'a: "\U00110000"', [f"1:7: {RANGE}"]),
    (r'a: "\UFFFFFFFF"', [f"1:7: {RANGE}"]),
    (
        "a: 'b\n---\nc'",
        [
            (
                "2:1: not YAML: found unexpected document separator while scanning a quoted scalar "
                "from manifests/m.yaml:1:4"
            )
        ],
    ),
    ("a: 1\na: 2\n'a': 3", ["2:1: " + TWICE.format("'a'", "1:1"), "3:1: " + TWICE.format("'a'", "1:1")]),
    ("a: {b: 1, c: {b: 1, b: 2}}", ["1:21: " + TWICE.format("'b'", "1:15")]),
    ("? [a]\n: b", ["1:3: expected a key, found a list or a mapping; keys are text"]),
    ("no: 1", ['1:1: the key no is true or false to YAML; keys are text, so quote it: "no"']),
    ("010: 2", ['1:1: the key 010 is a number in base 8 to YAML; keys are text, so quote it: "010"']),
    ("~: 2", ["1:1: expected a key, found nothing"]),
    ("<<: {a: b}", ["1:1: YAML merge keys (<<) are not used in a manifest; write the keys out"]),
    ("a: b\n---\nc: d", ["2:1: a second document begins here; a manifest is one document"]),
    ("", ["1:1: the manifest is empty"]),
    ("# only a comment\n", ["1:1: the manifest is empty"]),
    ("---\n", ["1:4: " + MAPPING.format("nothing")]),
    ("[a]", ["1:1: " + MAPPING.format("a list of 1")]),
    ("qwen", ["1:1: " + MAPPING.format("'qwen'")]),
    ("[" * 10_000, [f"1:21: {DEEP}"]),
    ("- " * 10_000, [f"1:41: {DEEP}"]),
    ("{a: " * 10_000, [f"1:81: {DEEP}"]),
]


@pytest.mark.parametrize(("text", "lines"), CASES, ids=[repr(text)[:30] for text, _ in CASES])
def test_refusal(text, lines):
    with pytest.raises(ManifestError) as caught:
        parse(text)
    assert str(caught.value).split("\n") == [f"manifests/m.yaml:{line}" for line in lines]
    assert caught.value.exit_code == 2


def test_lines_are_counted_as_editors_do():
    text = "version: 1\r\nmodel: {ollama: a}\rout: b\nsteps: 5\r\n"
    with pytest.raises(ManifestError, match=r"^manifests/m\.yaml:4:8: steps: "):
        parse(text)


def test_columns_are_counted_in_characters():
    with pytest.raises(ManifestError, match=r"^manifests/m\.yaml:2:29: model\.digest: "):
        parse("version: 1\nmodel: {gguf: '语🙂', digest: x}\nout: b\nsteps: [inspect]\n")


def test_what_is_allowed():
    manifest = parse("\ufeff---  # start\n" + HEAD.replace("\n", "\r\n") + "  - 'inspect' # c\n...\n")
    assert [step.name for step in manifest.steps] == ["inspect"]
    assert str(manifest.steps[0].place) == "manifests/m.yaml:6:5"


def test_the_first_twenty_problems_are_listed():
    text = HEAD + "  - tensors: {include: [" + ", ".join(["no"] * 23) + "]}\n"
    with pytest.raises(ManifestError) as caught:
        parse(text)
    lines = str(caught.value).split("\n")
    assert len(lines) == 21
    assert lines[19].startswith("manifests/m.yaml:5:101: steps.tensors.include[19]: ")
    assert lines[20] == "and 3 more such problems"
    assert len(caught.value.problems) == 23


MISREAD = {
    "nothing": ["", "~", "null", "Null", "NULL"],
    "true or false": ["y", "N", "yes", "No", "ON", "off", "true", "False", "TRUE"],
    "a number": [
        "0",
        "-1",
        "1_000",
        "1.10",
        "1.",
        ".5",
        "1e3",
        "1.5e+3",
        "0x1F",
        ".inf",
        "-.INF",
        ".NaN",
        "089",
    ],
    "a number in base 8": ["010", "-017", "0o17"],
    "a number in base 2": ["0b101"],
    "a number in base 60": ["12:30", "1:02:03", "190:20:30.15"],
    "a date": ["2024-01-01", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10 -5", "2001-1-1"],
    "a merge key": ["<<"],
    "a default value": ["="],
}
TEXTS = [
    "qwen2.5:7b",
    "qwen2.5",
    "1.2.3",
    "a",
    "0x",
    "0xg",
    "12:60",
    "yess",
    "2024-01",
    "-a",
    ".",
    "..",
    "1:2b",
    "1e",
]


@pytest.mark.parametrize(("reading", "text"), [(key, text) for key, all_ in MISREAD.items() for text in all_])
def test_misread(reading, text):
    assert misread(text) == reading


@pytest.mark.parametrize("text", TEXTS)
def test_not_misread(text):
    assert misread(text) is None
    assert yaml.safe_load(text) == text
