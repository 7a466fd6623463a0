"""The page of a build: one HTML file without script, with nothing to load."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.errors import FormatError
from pipeline.report.elements import LINE, Html, figure, join, tag
from pipeline.report.figures_view import parity_view, tensors_view, vocabulary_view
from pipeline.report.map_view import map_view
from pipeline.report.maps import file_maps, memory_maps
from pipeline.report.provenance_view import blob_of, model_name, provenance_view
from pipeline.report.style import STYLE
from pipeline.report.tensors import list_tensors
from pipeline.report.vocabulary import count_vocabulary
from pipeline.runner.fingerprint import DISTRIBUTION
from pipeline.verification.parity_json import check_parity
from pipeline.version import VERSION

if TYPE_CHECKING:
    from pipeline.report.build import Build
    from pipeline.report.maps import ScaledMap
    from pipeline.report.tensors import TensorList
    from pipeline.report.vocabulary import VocabularyCounts

START = f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="{DISTRIBUTION} report">
"""
"""How every page begins: a file that begins otherwise is none."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Whatever a browser finds in the page, it loads nothing and runs nothing."""


@dataclass(frozen=True)
class _Section:
    """A part of the page: its anchor, its heading, and what stands under it."""

    anchor: str
    heading: str
    body: Html


@dataclass(frozen=True)
class Page:
    """A page: its HTML, and what is in it in a few words each."""

    html: str
    contents: tuple[str, ...]


def report_page(build: Build) -> Page:
    """Write the page; what cannot be read on the way is noted in the build, and named in the page."""
    maps = [*memory_maps(build), *file_maps(build)]
    tensors, vocabulary = list_tensors(build), count_vocabulary(build)
    sections = [_maps(build, maps)] if maps else []
    if tensors is not None:
        sections.append(_Section("tensors", "Tensors", tensors_view(tensors)))
    if vocabulary is not None:
        sections.append(_Section("vocabulary", "Vocabulary", vocabulary_view(vocabulary)))
    parity = _parity(build)
    if parity:
        sections.append(_Section("parity", "Parity", parity))
    sections.append(_Section("provenance", "Provenance", provenance_view(build, maps)))
    title = f"Build of {model_name(build.record.source)}"
    body = tag(
        "body",
        LINE,
        tag("a", "To the content", href="#content", class_="skip"),
        LINE,
        tag("header", tag("h1", title), _figures(build, tensors, vocabulary), _navigation(sections)),
        LINE,
        tag("main", _state(build), [_written(section) for section in sections], id="content"),
        LINE,
        tag("footer", tag("p", f"Made by {DISTRIBUTION} {VERSION} from build.json and the files it lists.")),
        LINE,
    )
    head = join(
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        LINE,
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        LINE,
        tag("title", title),
        LINE,
        tag("style", Html(f"\n{STYLE}")),
    )
    contents = [_counted(len(maps), "map")] if maps else []
    contents += [] if tensors is None else [_counted(len(tensors.rows), "tensor")]
    contents += [] if vocabulary is None else [_counted(vocabulary.tokens, "token")]
    contents += ["parity"] if parity else []
    contents.append(_counted(len(build.files), "file"))
    return Page(f"{START}{head}\n</head>\n{body}\n</html>\n", tuple(contents))


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _written(section: _Section) -> Html:
    heading = tag("h2", section.heading, id=f"{section.anchor}-heading")
    return join(
        LINE,
        tag(
            "section",
            heading,
            LINE,
            section.body,
            id=section.anchor,
            aria_labelledby=f"{section.anchor}-heading",
        ),
    )


def _navigation(sections: list[_Section]) -> Html:
    links = [tag("li", tag("a", section.heading, href=f"#{section.anchor}")) for section in sections]
    return tag("nav", tag("ul", links), aria_label="parts of the page")


def _figures(build: Build, tensors: TensorList | None, vocabulary: VocabularyCounts | None) -> Html:
    sha256, size = blob_of(build.record.source)
    blob = "" if size is None else f"{size:,} bytes"
    listed = [
        figure("model", model_name(build.record.source)),
        figure("blob sha256", sha256[:12] or "not stated", blob),
    ]
    total = sum(file.record.size for file in build.files.values())
    listed.append(figure("files", f"{len(build.files):,}", f"{total:,} bytes"))
    if vocabulary is not None:
        listed.append(figure("tokens", f"{vocabulary.tokens:,}", f"{vocabulary.added:,} added"))
    if tensors is not None:
        listed.append(figure("tensors", f"{len(tensors.rows):,}", f"{tensors.size:,} bytes"))
    return join(LINE, tag("dl", listed, class_="figures"), LINE)


def _state(build: Build) -> Html:
    if not build.faults:
        words = "Every file is as the build record has it."
        return join(LINE, tag("p", words, class_="good"))
    faults = [tag("li", build.inside(fault)) for fault in build.faults]
    heading = tag("strong", f"Not as it should be ({len(faults)})", class_="bad")
    return join(LINE, tag("div", heading, tag("ul", faults), class_="faults", role="alert"))


def _maps(build: Build, maps: list[ScaledMap]) -> _Section:
    copies: dict[str, list[str]] = {}
    for file in build.files.values():
        if not file.fault:
            copies.setdefault(file.record.sha256, []).append(file.record.name)
    return _Section(
        "maps", "Memory maps", join(map_view(number, drawn, copies) for number, drawn in enumerate(maps))
    )


def _parity(build: Build) -> Html:
    """Show parity.json; nothing where there is none that can be read."""
    for file in build.of_layout("parity"):
        try:
            data = file.path.read_bytes()
            check_parity(data, str(file.path))
            return parity_view(json.loads(data))
        except (FormatError, OSError) as error:
            build.note(error)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            # What the tables need and the check does not ask for.
            build.note(FormatError("a document of this version", type(error).__name__, file=str(file.path)))
    return Html("")
