"""The process that renders: what Jinja is given, and that no template holds the build up."""

import json
import subprocess
import sys
import time

import pytest
from refusals import refusal

from pipeline.chat import rendering
from pipeline.errors import MachineError, ModelError

CHATS = [{"messages": [{"role": "user", "content": "a <b> é"}], "x": None}, {"messages": []}]


def render(template, chats=CHATS, **options):
    return rendering.render("T", template, chats, **options)


def test_settings_are_those_of_chat_libraries():
    template = (
        "{% for m in messages %}\n"
        "   {% if m.role == 'user' %}\n"  # blanks before a block go, and the line feed behind it
        "{{ m.content }}|{{ m | tojson }}|{{ m.nothing }}|{{ x }}\n"
        "   {% endif %}\n"
        "{% break %}"
        "{% endfor %}"
        "{% set a = 1 %}{% generation %}{% set a = 2 %}g{% endgeneration %}{{ a }}\n\n"
    )
    first, second = render(template)
    assert first == 'a <b> é|{"role": "user", "content": "a <b> é"}||None\ng1\n'
    assert second == "g1\n"


def test_a_refusal_ends_the_list():
    found = render("{{ raise_exception('no \x1b chat') if messages else 'text' }}", [CHATS[1], *CHATS])
    assert found[0] == "text"
    assert [str(each) for each in found[1:]] == ["'no \\x1b chat'"]


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{% for", "T: expected a template in Jinja, found \"line 1: unexpected 'end of template'\""),
        ("\n{% nonsense %}", "line 2: Encountered unknown tag 'nonsense'"),
        ("{% include 'other' %}", "no loader for this environment"),
        ("{{" + "(" * 5000 + ")" * 5000 + "}}", "T: expected"),
    ],
)
def test_a_template_that_is_none(template, words):
    try:
        (line,) = [str(each) for each in render(template)]
    except ModelError as error:
        line = str(error)
    assert words in line
    assert "\n" not in line


NESTED = "{% for a in range(99999) %}" * 3 + "{% endfor %}" * 3
DOUBLED = "{% set n = namespace(a='x') %}{% for i in range(60) %}{% set n.a = n.a + n.a %}{% endfor %}"


def test_a_template_that_does_not_end(monkeypatch):
    monkeypatch.setattr(rendering, "SECONDS", 1)
    begun = time.monotonic()
    assert refusal(render, NESTED, error=ModelError) == (
        "T: expected chats to be rendered within 1 s, found none: it does not end"
    )
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (DOUBLED, "it needs too much memory"),
        ("{{ 'x' * 100000000000 }}", "it needs too much memory"),
        (
            "{% for i in range(9999) %}{{ 'x' * 1000 }}{% endfor %}",
            "it writes more than 1,048,576 characters",
        ),
        ("{{ range(1000000) }}", "Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000)."),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "maximum recursion depth exceeded"),
    ],
)
def test_a_template_that_wants_too_much(template, words):
    assert words in str(render(template)[0])


def test_two_runs_write_the_same_whatever_the_hash_seed(monkeypatch):
    template = "{{ {'a': 1, 'b': 2, 'c': 3} | list }}{{ 'abcdefgh' | unique | list }}{{ messages[0] | list }}"
    found = []
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        found.append(render(template, CHATS[:1]))
    assert found[0] == found[1]


def test_without_the_library(monkeypatch):
    monkeypatch.setattr(rendering, "LIBRARY", "jinja2_that_is_not_there")
    with pytest.raises(MachineError, match=r"not installed: pip install '\.\[chat\]'$"):
        render("x")


def test_a_child_that_fails_is_named(monkeypatch, tmp_path):
    child = tmp_path / "child.py"
    child.write_text("raise SystemExit('broken\\nfor a reason')")
    monkeypatch.setattr(rendering, "_CHILD", child)
    assert (
        refusal(render, "x", error=MachineError)
        == "T: the process that renders chats ends with 1: 'for a reason'"
    )
    child.write_text("import os\nos.kill(os.getpid(), 11)")
    assert refusal(render, "x", error=ModelError) == (
        "T: expected rendered chats, found that the process was ended by signal 11"
    )
    monkeypatch.setattr(rendering.sys, "executable", str(tmp_path / "no python"))
    assert refusal(render, "x", error=MachineError).endswith(
        "no python: cannot be started: No such file or directory"
    )


def test_the_child_reads_no_module_of_the_folder_it_is_started_in(tmp_path):
    (tmp_path / "json.py").write_text("raise SystemExit('a foreign module')")
    request = {"template": "x", "date": None, "characters": 9, "seconds": 9, "memory": 1 << 28, "chats": [{}]}
    ended = subprocess.run(
        [sys.executable, "-P", rendering._CHILD],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert json.loads(ended.stdout) == {"rendered": [{"text": "x"}]}
