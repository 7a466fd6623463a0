"""Maps as strips to scale, each with a table of its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.report.elements import LINE, Html, join, row, share_bar, share_words, table, tag
from pipeline.report.maps import Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipeline.report.maps import MapPart, ScaledMap

COLORS = 8
_NARROW = 0.004
"""Parts of a smaller share are drawn again in a strip of their own, if there are several side by side."""
_NAMED = 0.08
"""Parts of a smaller share have no name in the strip."""
_TICKS = 4
_HINT = "Point at a part, or go from part to part with the Tab key."
_CLASSES = {Part.GAP: "gap", Part.UNREAD: "unread", Part.RESERVED: "reserved"}


def map_view(number: int, drawn: ScaledMap, copies: dict[str, list[str]]) -> Html:
    """Draw a map.

    Args:
        number: of the map in the page.
        drawn: the map.
        copies: names of the build's files by SHA-256, to tell which files hold a part's bytes.

    """
    ids = {part: f"m{number}p{index}" for index, part in enumerate(drawn.parts)}
    colors = _colors(drawn.parts)
    strips = [_strip(drawn, drawn.parts, ids, colors, "map")]
    for run in _narrow_runs(drawn):
        start, end = run[0].offset, run[-1].offset + run[-1].size
        factor = f"{drawn.size / (end - start):,.0f}"
        words = f"0x{drawn.base + start:X} to 0x{drawn.base + end - 1:X}, magnified {factor} times"
        strips += [tag("p", words, class_="soft"), _strip(drawn, run, ids, colors, "map fine")]
    return join(
        tag("h3", drawn.title, id=f"m{number}"),
        LINE,
        tag("p", f"{drawn.meaning} {drawn.size:,} bytes."),
        LINE,
        strips,
        _table(drawn, ids, colors, copies),
    )


def _colors(parts: Sequence[MapPart]) -> dict[MapPart, str]:
    used = [part for part in parts if part.kind is Part.USED]
    numbers = {part: f"c{index % COLORS}" for index, part in enumerate(used)}
    return {part: numbers.get(part) or _CLASSES[part.kind] for part in parts}


def _narrow_runs(drawn: ScaledMap) -> Iterator[list[MapPart]]:
    """Give the runs of parts side by side that are too narrow to be told apart."""
    run: list[MapPart] = []
    for part in drawn.parts:
        if part.size < _NARROW * drawn.size:
            run.append(part)
            continue
        if len(run) > 1:
            yield run
        run = []
    if len(run) > 1:
        yield run


def _strip(
    drawn: ScaledMap,
    parts: Sequence[MapPart],
    ids: dict[MapPart, str],
    colors: dict[MapPart, str],
    style: str,
) -> Html:
    start, end = parts[0].offset, parts[-1].offset + parts[-1].size
    whole = end - start
    segments = []
    for part in parts:
        words = part_words(drawn, part)
        share = 100 * part.size / whole
        name = tag("span", _short(part.name), class_="name") if part.size >= _NAMED * whole else ""
        segments += [
            LINE,
            tag(
                "a",
                name,
                tag("span", words, class_="tip"),
                href=f"#{ids[part]}",
                class_=f"seg {colors[part]}",
                style=f"flex-grow:{share:.4f}",
                aria_label=words,
            ),
        ]
    return join(
        tag(
            "div",
            tag("div", segments, class_="strip", role="group", aria_label=f"map of {drawn.title}"),
            _axis(drawn.base + start, whole) if style == "map" else "",
            tag("div", _HINT if style == "map" else "", class_="hint", aria_hidden="true"),
            class_=style,
        ),
        LINE,
    )


def _axis(first: int, size: int) -> Html:
    """Mark addresses at round distances."""
    step = 1
    while step * _TICKS < size:
        step *= 2
    ticks = range(-(-first // step) * step, first + size, step)
    marks = [
        tag("span", f"0x{at:X}", style=f"left:{100 * (at - first) / size:.3f}%")
        for at in ticks
        if (at - first) / size < 0.9
    ]
    return tag("div", marks, class_="axis", aria_hidden="true")


def part_words(drawn: ScaledMap, part: MapPart) -> str:
    """Say where a part lies."""
    first = drawn.base + part.offset
    return (
        f"{part.name}: 0x{first:X} to 0x{first + part.size - 1:X}, {part.size:,} bytes, "
        f"{share_words(part.size, drawn.size)}"
    )


def _short(name: str) -> str:
    return name.removeprefix("sections.")


def _table(
    drawn: ScaledMap, ids: dict[MapPart, str], colors: dict[MapPart, str], copies: dict[str, list[str]]
) -> Html:
    has_sums = any(part.sha256 for part in drawn.parts)
    has_crc = any(part.crc32 is not None for part in drawn.parts)
    head = ["part", "first", "last", "bytes", "share"]
    head += ["CRC-32"] * has_crc + ["SHA-256"] * has_sums
    rows = []
    for part in drawn.parts:
        first = drawn.base + part.offset
        swatch = tag("span", class_=f"swatch {colors[part]}", aria_hidden="true")
        cells: list[str] = [
            join(swatch, part.name),
            _mono(f"0x{first:X}"),
            _mono(f"0x{first + part.size - 1:X}"),
            f"{part.size:,}",
            share_bar(part.size, drawn.size),
        ]
        if has_crc:
            cells.append(_crc(part))
        if has_sums:
            cells.append(_digest(part, drawn.title, copies))
        rows.append(row(*cells, numbers=(1, 2, 3), id=ids[part]))
    return table(f"Parts of {drawn.title}", head, rows, (1, 2, 3), "sections")


def _mono(words: str) -> Html:
    return tag("span", words, class_="mono address")


def _crc(part: MapPart) -> Html:
    if part.crc32 is None:
        return Html("")
    words = _mono(f"0x{part.crc32:08X}")
    if part.is_sound:
        return words
    return join(words, tag("small", f" its bytes have 0x{part.found_crc32:08X}", class_="bad"))


def _digest(part: MapPart, title: str, copies: dict[str, list[str]]) -> Html:
    if not part.sha256:
        return Html("")
    same = [name for name in copies.get(part.sha256, []) if name != title]
    words = tag("code", part.sha256, class_="digest")
    return join(words, tag("small", " as " + ", ".join(same))) if same else words
