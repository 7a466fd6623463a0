"""File names for foreign names: inside their folder, distinct on every file system, plain ones untouched."""

import doctest
import hashlib
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import safe_names as module
from pipeline.safe_names import safe_names

# Names that Windows keeps for devices, whatever follows the first dot.
DEVICES = {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}


def assert_safe(names):
    files = safe_names(names)
    assert list(files) == list(dict.fromkeys(names))
    lowered = [file.lower() for file in files.values()]
    assert len(set(lowered)) == len(lowered)
    for file in files.values():
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", file)
        assert len(file) <= 120
        assert not file.endswith(".")
        assert file.partition(".")[0].lower() not in DEVICES
    return files


@pytest.mark.parametrize(
    "name",
    ["blk.0.attn_q.weight", "token_embd.weight", "output", "a-b", "a_b", "x" * 120, "con_", "com", "com10", "nulx.txt",
     "0", "_", "a..b", "com1x"],
)  # fmt: skip
def test_a_plain_name_stays_as_it_is(name):
    assert assert_safe([name]) == {name: name}


HOSTILE = ["../x", "a/b", "a_b", "W", "w", "con", "nul.txt", "x" * 300, ""]


def test_hostile_names_beside_each_other():
    files = assert_safe(HOSTILE)
    assert files["a_b"] == "a_b"
    assert files["a/b"].startswith("a_b-")
    assert files["w"].startswith("w-")
    assert files["con"].startswith("_con-")
    assert files["nul.txt"].startswith("_nul.txt-")
    assert files["../x"].startswith("_.._x-")


@pytest.mark.parametrize(
    "name",
    [".", "..", "...", "/", "//", "/etc/passwd", "C:\\x", "a:b", "\\\\host\\x", "-rf", "--", ".hidden", "a.", "a..",
     " ", "a ", "\0", "a\nb", "\x1b[2J", "CON", "Con.tar.gz", "aux.", "LPT9", "com1.x", "名前", "é", "\ud800",
     "x" * 121],
)  # fmt: skip
def test_a_name_that_a_file_system_could_trip_over(name):
    (file,) = assert_safe([name]).values()
    assert file != name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    assert file.endswith(f"-{digest[:12]}")


def test_names_that_differ_in_case_only():
    files = assert_safe(["Blk.0", "blk.0", "BLK.0", "other"])
    assert files["other"] == "other"
    assert all(re.search(r"-[0-9a-f]{12}$", files[name]) for name in ("Blk.0", "blk.0", "BLK.0"))


def test_a_name_depends_on_nothing_but_itself_and_those_it_collides_with():
    alone = safe_names(["../x"])["../x"]
    assert safe_names(["a", "../x", "b"])["../x"] == alone
    assert safe_names(reversed(HOSTILE)) == safe_names(HOSTILE)


def test_a_name_made_to_look_like_a_marked_one():
    """`a/b` becomes `a_b-` and a digest; a tensor of that very name must not become the same file."""
    marked = safe_names(["a/b"])["a/b"]
    for imitation in (marked, marked.upper(), f"{marked[:-12]}{marked[-12:].swapcase()}"):
        files = assert_safe(["a/b", imitation])
        assert files["a/b"] == marked
        assert files[imitation] != imitation
    whole = f"a_b-{hashlib.sha256(b'a/b').hexdigest()}"
    assert assert_safe([whole])[whole] != whole
    again = assert_safe(["a/b", marked, safe_names([marked])[marked]])
    assert len(again) == 3


def test_digests_whose_first_digits_are_alike(monkeypatch):
    """Twelve digits can be made to agree; then the whole digest is taken. Here two digits stand for twelve."""
    monkeypatch.setattr(module, "_MARK_DIGITS", 2)
    names = ["a" + "/" * size for size in range(1, 100)] + [chr(code) for code in range(32)]
    files = safe_names(names)
    assert len({file.lower() for file in files.values()}) == len(names)
    assert {len(re.search(r"-([0-9a-f]+)$", file)[1]) for file in files.values()} == {2, 64}
    assert all(len(file) <= 120 for file in files.values())


def test_long_names_that_share_their_beginning():
    names = ["x" * 300 + end for end in ("", "a", "b", "/")] + ["x" * 120]
    files = assert_safe(names)
    assert files["x" * 120] == "x" * 120


NAME = st.one_of(
    st.text(max_size=12),
    st.text("aAbB._-/", max_size=6),
    st.text(string.ascii_letters + string.digits + "._-", max_size=140),
    st.sampled_from([*HOSTILE, "CON", "a_b-" + "0" * 12, "A_B", "a.B", "a.b"]),
    st.text("ab/", max_size=4).map(lambda name: safe_names([name])[name]),
)


@given(names=st.lists(NAME, max_size=30))
def test_any_names(names):
    files = assert_safe(names)
    for name, file in files.items():
        if file == name:
            assert len([other for other in files if other.lower() == name.lower()]) == 1


def test_examples_in_the_docstring():
    assert doctest.testmod(module) == (0, 1)
