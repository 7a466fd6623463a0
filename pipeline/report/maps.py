"""Maps to scale: what lies where in each packed file, and in the memory that files are loaded into."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from formats.catalog import FORMATS
from formats.errors import FormatError
from formats.layout.tree import Rows
from pipeline.firmware.memory_map import MemoryMap, Region
from pipeline.sizes import PADDING, UNREAD, Extent, extents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pipeline.artifact_files import ArtifactFile
    from pipeline.report.build import Build

MOST_PARTS = 200
"""Parts of one map that are drawn one by one; what is behind them is one part."""
_PACKED = frozenset(known.artifact for known in FORMATS if known.artifact and not known.is_text)
"""Layouts, by their names in a build record, that are no text."""


class Part(Enum):
    """What a part of a map is."""

    USED = "used"
    GAP = "gap"
    UNREAD = "unread"
    RESERVED = "reserved"


@dataclass(frozen=True)
class MapPart:
    """A part of a map.

    Attributes:
        name: its path in the file, or the name of what lies there.
        offset, size: from the map's base, in bytes.
        kind: what it is.
        sha256: of its bytes, in hex; empty where nobody asks.
        crc32: as the file states it, or None.
        found_crc32: as its bytes have it, or None.

    """

    name: str
    offset: int
    size: int
    kind: Part = Part.USED
    sha256: str = ""
    crc32: int | None = None
    found_crc32: int | None = None

    @property
    def is_sound(self) -> bool:
        """Whether the part has the checksum that the file states, if it states one."""
        return self.crc32 == self.found_crc32


@dataclass(frozen=True)
class ScaledMap:
    """A map.

    Attributes:
        title: the file's name, or the memory's.
        meaning: what it is.
        base: address of its first byte; 0 for a file.
        size: in bytes.
        parts: side by side, from the first byte to the last.
        is_memory: whether it is a map of memory, not of a file.

    """

    title: str
    meaning: str
    base: int
    size: int
    parts: tuple[MapPart, ...]
    is_memory: bool = False


def file_maps(build: Build) -> list[ScaledMap]:
    """Map every packed file that has more parts than one; what cannot be read is noted in the build."""
    maps = []
    for file in build.files.values():
        # What lies in a folder of its own is a tensor, a slice, a part of a firmware.
        if not file.readable or file.record.layout not in _PACKED or "/" in file.record.name:
            continue
        found = build.open(file)
        placed = [] if found is None or found.format.is_text else extents(found.walk)
        if found is not None and len(placed) > 1:
            meaning = found.format.layout.meaning
            parts = _parts(found, placed, build)
            maps.append(ScaledMap(file.record.name, meaning, 0, len(found.data), parts))
    # The file with the most sections is what people come for.
    return sorted(maps, key=lambda entry: -len(entry.parts))


def _parts(found: ArtifactFile, placed: list[Extent], build: Build) -> tuple[MapPart, ...]:
    stated = dict(_stated_sums(found))
    parts = []
    if len(placed) > MOST_PARTS:
        rest = placed[MOST_PARTS - 1 :]
        words = f"{len(rest):,} more parts"
        placed = [*placed[: MOST_PARTS - 1], Extent(words, rest[0].offset, rest[-1].end - rest[0].offset)]
    for extent in placed:
        if extent.part in (PADDING, UNREAD):
            kind = Part.GAP if extent.part == PADDING else Part.UNREAD
            parts.append(MapPart(extent.part, extent.offset, extent.size, kind))
            continue
        data = found.data[extent.offset : extent.end]
        crc = stated.get((extent.offset, extent.size))
        held = None if crc is None else zlib.crc32(data)
        sha256 = hashlib.sha256(data).hexdigest()
        part = MapPart(extent.part, extent.offset, extent.size, Part.USED, sha256, crc, held)
        if not part.is_sound:
            build.note(
                FormatError(
                    f"the CRC-32 0x{crc:08X} of the directory",
                    f"0x{held:08X}",
                    path=part.name,
                    offset=part.offset,
                    file=str(found.path),
                )
            )
        parts.append(part)
    return tuple(parts)


def _stated_sums(found: ArtifactFile) -> Iterator[tuple[tuple[int, int], int]]:
    """Give the CRC-32 that a directory states of each section, by the section's offset and size."""
    directory = next((part for part in found.walk.root.parts if part.path == "directory"), None)
    if not isinstance(directory, Rows) or not {"offset", "length", "crc32"} <= set(
        directory.columns.dtype.names or ()
    ):
        return
    for entry in directory.columns[:MOST_PARTS]:
        yield (int(entry["offset"]), int(entry["length"])), int(entry["crc32"])


def memory_maps(build: Build) -> list[ScaledMap]:
    """Map the memory that the step `firmware` has files loaded into; none where it loads none."""
    maps = []
    for step in build.record.steps.values():
        if step.step == "firmware":
            try:
                maps += list(_regions(step.parameters, build))
            except (KeyError, TypeError, ValueError, AttributeError):
                build.note("build.json: steps.firmware.parameters: expected those of the step, found others")
    return maps


def _regions(parameters: Mapping[str, object], build: Build) -> Iterator[ScaledMap]:
    load = parameters["load"]
    if not isinstance(load, dict) or not load:
        return
    memory = MemoryMap.of(parameters)
    sizes = {name: file.record.size for name, file in build.files.items()}
    loaded = [Region(name, int(address), sizes.get(name, 0)) for name, address in load.items()]
    taken = [(region, Part.RESERVED) for region in memory.reserved]
    taken += [(region, Part.USED) for region in loaded]
    for home in memory.memory:
        inside = [(region, kind) for region, kind in taken if home.overlaps(region) and region.size]
        if any(kind is Part.USED for _, kind in inside):
            parts = tuple(_filled(home, sorted(inside, key=lambda pair: pair[0].address)))
            yield ScaledMap(
                home.name,
                "Memory that files are loaded into.",
                home.address,
                home.size,
                parts,
                is_memory=True,
            )


def _filled(home: Region, taken: list[tuple[Region, Part]]) -> Iterator[MapPart]:
    """Give what lies in a region, and what is free between."""
    at = home.address
    for region, kind in taken:
        start, end = max(region.address, at), min(region.end, home.end)
        if end <= start:
            continue
        if start > at:
            yield MapPart("free", at - home.address, start - at, Part.GAP)
        yield MapPart(region.name, start - home.address, end - start, kind)
        at = end
    if at < home.end:
        yield MapPart("free", at - home.address, home.end - at, Part.GAP)
