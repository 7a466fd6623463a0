"""Deriving the Unicode data: the committed modules are what comes out, and what is refused."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from pipeline.bpe import ask_classes, ask_nfc, class_data, derive_tables, nfc_data
from pipeline.bpe.ask_classes import DerivationError


def class_text():
    return Path(class_data.__file__).read_text(encoding="ascii")


def test_committed_tables_are_what_the_reference_gives(capsys):
    assert derive_tables.main(["--check"]) == 0
    assert capsys.readouterr() == ("", "")


def test_check_names_the_module_that_differs(monkeypatch, capsys):
    monkeypatch.setattr(derive_tables, "class_module", lambda _version: class_text())
    monkeypatch.setattr(derive_tables, "nfc_module", lambda _version: "other\n")
    assert derive_tables.main(["--check"]) == 1
    assert capsys.readouterr().err == (
        "nfc_data.py is not what the installed tokenizers gives; run python -m pipeline.bpe.derive_tables\n"
    )


def test_without_the_reference_there_is_one_line(monkeypatch, capsys):
    def absent(_name):
        raise PackageNotFoundError

    monkeypatch.setattr(derive_tables, "version", absent)
    assert derive_tables.main([]) == 4
    assert capsys.readouterr().err == "the tables are derived from the package tokenizers; install it\n"


def test_unicode_version_needs_probes_on_both_sides():
    ages = {(1, 0, 0): (0x61,), (2, 0, 0): (0x62, 0x63), (3, 0, 0): (0x64,)}
    assert ask_classes.newest_known({"a", "b", "c"}, ages) == (2, 0, 0)
    with pytest.raises(ask_classes.DerivationError, match="1 of 2 probes"):
        ask_classes.newest_known({"a", "b"}, ages)
    with pytest.raises(ask_classes.DerivationError, match="do not bracket"):
        ask_classes.newest_known({"a", "b", "c", "d"}, ages)
    with pytest.raises(ask_classes.DerivationError, match="do not bracket"):
        ask_classes.newest_known(set(), ages)


def test_writing(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(derive_tables, "class_module", lambda version: f"classes {version}\n")
    monkeypatch.setattr(derive_tables, "nfc_module", lambda version: f"nfc {version}\n")
    monkeypatch.setattr(derive_tables, "__file__", str(tmp_path / "derive_tables.py"))
    assert derive_tables.main([]) == 0
    assert (tmp_path / "class_data.py").read_bytes() == b"classes 0.23.3\n"
    assert (tmp_path / "nfc_data.py").read_bytes() == b"nfc 0.23.3\n"
    assert derive_tables.main(["--check"]) == 0

    gone = tmp_path / "gone"
    monkeypatch.setattr(derive_tables, "__file__", str(gone / "derive_tables.py"))
    assert derive_tables.main([]) == 4
    assert capsys.readouterr().err == f"{gone / 'class_data.py'}: No such file or directory\n"


def test_code_points_are_written_as_ranges():
    assert derive_tables._ranges("abcxz{") == ["61-63", "78", "7A-7B"]
    assert derive_tables._class_ranges({"a": 1, "b": 1, "c": 2, "e": 2}) == ["61-62:1", "63:2", "65:2"]


class Reference(ask_nfc.Normalizer):
    """The reference with some answers replaced."""

    def __init__(self, answers):
        super().__init__()
        self.answers = answers

    def nfd(self, texts):
        return [
            self.answers.get(text, answer) for text, answer in zip(texts, super().nfd(texts), strict=True)
        ]


def test_hangul_must_follow_the_arithmetic():
    with pytest.raises(DerivationError, match=r"^U\+AC01 does not decompose by the Hangul arithmetic$"):
        ask_nfc.decompositions(Reference({"\uac01": "\u1100\u1161"}))


def test_marks_must_sort_by_class():
    ruler = "".join(map(chr, ask_nfc.MARKS_BY_CLASS.values()))
    with pytest.raises(DerivationError, match="do not sort in the order of their classes"):
        ask_nfc.combining_classes(Reference({ruler[::-1]: ruler[::-1]}), {})
    with pytest.raises(DerivationError, match=r"^U\+0301 has none of the known combining classes$"):
        ask_nfc.combining_classes(Reference({f"{ruler}\u0301{ruler}": ruler}), nfc_data_decomposed())


def nfc_data_decomposed():
    return dict.fromkeys(chr(int(word.split("=")[0], 16)) for word in nfc_data.DECOMPOSITIONS.split())


def test_answers_must_be_as_many_as_questions():
    with pytest.raises(DerivationError, match=r"^2 texts to normalize gave 3 answers$"):
        ask_nfc.Normalizer().nfd(["a", "b\x01c"])
