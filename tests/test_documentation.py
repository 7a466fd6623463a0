"""The generated pages are those of the present code, and the README names every one."""

from pathlib import Path

import pytest

from pipeline.documentation.__main__ import main
from pipeline.documentation.pages import PAGES

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def sample(sample_cache, monkeypatch):
    """The page on parity is made of the sample."""
    monkeypatch.setenv("PIPELINE_CACHE", str(sample_cache))


@pytest.mark.parametrize("name", PAGES)
def test_page_is_as_the_code_makes_it(name):
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs`"


def test_check_names_a_page_that_differs_and_writes_nothing(tmp_path, capsys):
    assert main([str(tmp_path)]) == 0
    assert main(["--check", str(tmp_path)]) == 0
    page = tmp_path / "steps.md"
    page.write_text("edited", encoding="utf-8")
    capsys.readouterr()
    assert main(["--check", str(tmp_path)]) == 1
    assert capsys.readouterr().out == "differs: steps.md\n"
    assert page.read_text(encoding="utf-8") == "edited"


def test_readme_links_every_page():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in PAGES if f"docs/{name}" not in readme] == []
