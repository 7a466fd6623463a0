"""What everything was made from: the model's layers, each step with what it read, each file, each section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipeline.report.elements import LINE, Html, join, row, table, tag
from pipeline.report.maps import Part
from pipeline.steps.step import MODEL
from pipeline.text_output import json_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pipeline.report.build import Build, BuiltFile
    from pipeline.report.maps import ScaledMap
    from pipeline.runner.record import StepRecord

_BLOB = "blob"
_WHOLE = "digest whole"
_OPEN_UP_TO = 12
"""Files of a step whose list is open at first."""


def provenance_view(build: Build, maps: Sequence[ScaledMap]) -> Html:
    """Show the way from the blob to the sections."""
    places = _Places(
        {drawn.title: number for number, drawn in enumerate(maps) if not drawn.is_memory},
        {drawn.title: drawn for drawn in maps if not drawn.is_memory},
        {MODEL: _BLOB} | {name: f"f{number}" for number, name in enumerate(build.files)},
    )
    return join(
        _source(build.record.source),
        [_step(build, step, places) for step in build.record.steps.values()],
    )


@dataclass(frozen=True)
class _Places:
    """Where things stand in the page.

    Attributes:
        numbers: the number of each file's map, by the file's name.
        maps: the maps, by the file's name.
        anchors: of the model and of each file's row, by name.

    """

    numbers: Mapping[str, int]
    maps: Mapping[str, ScaledMap]
    anchors: Mapping[str, str]

    def link(self, name: str) -> str:
        """Write a name, as a link where the page shows what it names."""
        return tag("a", name, href=f"#{self.anchors[name]}") if name in self.anchors else name


def model_name(source: Mapping[str, Any]) -> str:
    """Name the model in a few words."""
    name = _text(source.get("name")) or "a model without a name"
    return f"the sample of {name}" if source.get("kind") == "sample" else name


def _model_words(source: Mapping[str, Any]) -> str:
    if source.get("kind") != "sample":
        place = "a GGUF file" if source.get("kind") == "gguf" else "the Ollama store"
        return f"{model_name(source)}, read from {place}."
    instead = _text(source.get("in_place_of"))
    words = f", in place of {instead}" if instead else ""
    return f"It is {model_name(source)}{words}: real vocabulary, synthetic weights."


def blob_of(source: Mapping[str, Any]) -> tuple[str, int | None]:
    """Give the GGUF's SHA-256 and size, as far as a record states them."""
    gguf = source.get("gguf")
    if not isinstance(gguf, dict):
        return "", None
    size = gguf.get("size")
    return _text(gguf.get("sha256")), size if isinstance(size, int) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _digest(words: str, style: str = "digest") -> Html:
    return tag("code", words, class_=style)


def _words(words: str) -> Html:
    return tag("span", words, class_="words")


def _source(source: Mapping[str, Any]) -> Html:
    sha256, size = blob_of(source)
    known = "" if size is None else f"{size:,}"
    rows = [row("GGUF", known, _digest(f"sha256:{sha256}", _WHOLE), numbers=(1,), id=_BLOB)]
    manifest = source.get("ollama_manifest")
    if manifest:
        rows.append(row("Ollama manifest", "", _digest(_text(manifest), _WHOLE), numbers=(1,)))
    layers = source.get("layers")
    for layer in layers if isinstance(layers, list) else []:
        if isinstance(layer, dict):
            number = layer.get("size")
            words = f"{number:,}" if isinstance(number, int) else ""
            digest = _digest(_text(layer.get("digest")), _WHOLE)
            rows.append(row(f"layer {_text(layer.get('kind'))}", words, digest, numbers=(1,)))
    return join(
        tag("h3", "The model"),
        LINE,
        tag("p", _model_words(source)),
        table("What the model was read from", ("part", "bytes", "digest"), rows, (1,)),
    )


def _step(build: Build, step: StepRecord, places: _Places) -> Html:
    files = build.of_step(step)
    size = sum(file.record.size for file in files)
    count = f"{len(files):,} file{'s' * (len(files) != 1)}, {size:,} bytes"
    rows = [cell for file in files for cell in _file(file, build, places)]
    given = [f"{name} {json_line(value)}" for name, value in step.parameters.items()]
    inputs = [tag("li", places.link(name), " ", tag("code", digest)) for name, digest in step.inputs.items()]
    is_open = len(files) <= _OPEN_UP_TO
    made = tag(
        "details",
        tag("summary", tag("strong", step.step), tag("span", count, class_="soft")),
        LINE,
        tag("p", f"Version {step.version} of the step, tool {step.tool}."),
        tag("p", "Parameters: ", tag("span", ", ".join(given), class_="mono")) if given else "",
        tag("p", "Read:") if inputs else "",
        tag("ul", inputs, class_="inputs") if inputs else "",
        table(f"Files of the step {step.step}", ("file", "bytes", "SHA-256", "holds"), rows, (1,), "files"),
        LINE,
        open="open" if is_open else None,
    )
    return join(made, LINE)


def _file(file: BuiltFile, build: Build, places: _Places) -> Iterator[Html]:
    """Give a file's row, and one for each section that has a checksum of its own."""
    record = file.record
    state = tag("small", " ", build.inside(file.fault), class_="bad") if file.fault else ""
    name: str = record.name
    if name in places.numbers:
        name = tag("a", name, href=f"#m{places.numbers[name]}")
    holds = join(_words(record.summary), " ", tag("small", f"{record.layout} {record.layout_version}"))
    cells = (join(name, state), f"{record.size:,}", _digest(record.sha256), holds)
    yield row(*cells, numbers=(1,), id=places.anchors[record.name])
    drawn = places.maps.get(record.name)
    for part in [] if drawn is None else drawn.parts:
        if part.kind is Part.USED and part.crc32 is not None:
            crc = f"section at 0x{part.offset:X}, CRC-32 0x{part.crc32:08X}"
            yield row(f"↳ {part.name}", f"{part.size:,}", _digest(part.sha256), _words(crc), numbers=(1,))
