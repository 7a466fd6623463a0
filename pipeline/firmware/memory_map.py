"""Where files are loaded: regions of memory, and why a place in them cannot be right.

Addresses are physical and of 64 bits. What the manifest alone shows is checked when it is read; the
rest when the sizes of the files are known.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from formats.errors import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ADDRESS_LIMIT = 1 << 64


@dataclass(frozen=True, slots=True)
class Region:
    """A run of bytes in memory: what it is called, where it starts, how long it is."""

    name: str
    address: int
    size: int

    @property
    def end(self) -> int:
        """The address behind it."""
        return self.address + self.size

    @property
    def words(self) -> str:
        """Name and bounds, for messages."""
        return f"{shown(self.name)} (0x{self.address:X} to 0x{self.end - 1:X})"

    def overlaps(self, other: Region) -> bool:
        """Tell whether two regions share a byte."""
        return self.address < other.end and other.address < self.end

    def holds(self, other: Region) -> bool:
        """Tell whether another region lies wholly inside."""
        return self.address <= other.address and other.end <= self.end


@dataclass(frozen=True)
class MemoryMap:
    """The memory of a board, and the parts of it that are taken.

    Attributes:
        memory: what there is, by address.
        reserved: parts that nothing may be loaded into.

    """

    memory: tuple[Region, ...]
    reserved: tuple[Region, ...]

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> MemoryMap:
        """Take the map from the step's parameters."""
        return cls(*(_regions(parameters[key]) for key in ("memory", "reserved")))

    def problems(self, loads: Mapping[str, int], align: int) -> Iterator[tuple[tuple[str, ...], str]]:
        """Say what cannot be right whatever the files' sizes are: the keys that lead there, and words."""
        for key, regions in (("memory", self.memory), ("reserved", self.reserved)):
            for region in regions:
                if region.end > ADDRESS_LIMIT:
                    yield (key, region.name), f"expected an end inside 64 bits, found 0x{region.end:X}"
        for before, after in itertools.pairwise(self.memory):
            if before.overlaps(after):
                yield (
                    ("memory", after.name),
                    f"expected regions side by side, found {after.words} over {before.words}",
                )
        for name, address in loads.items():
            if address % align:
                expected = f"an address that is a multiple of align {align}"
                yield ("load", name), f"expected {expected}, found 0x{address:X}"
            else:
                # Files have a byte at least: that one has to have a place.
                words = self.refusal(Region(name, address, 1))
                if words:
                    yield ("load", name), words

    def refusal(self, file: Region) -> str:
        """Say why a file cannot lie where it is to be loaded; empty where it can."""
        if not self.memory:
            return "expected a memory map to hold the address against, found none; state `memory`"
        home = next((region for region in self.memory if region.address <= file.address < region.end), None)
        if home is None:
            regions = ", ".join(region.words for region in self.memory)
            return f"expected an address in the memory map ({regions}), found 0x{file.address:X}"
        if not home.holds(file):
            return (
                f"expected at most {home.end - file.address} bytes, to the end of {home.words}, found "
                f"{file.size} from 0x{file.address:X} on"
            )
        taken = next((region for region in self.reserved if region.overlaps(file)), None)
        if taken is not None:
            found = f"found 0x{file.address:X} to 0x{file.end - 1:X}"
            return f"expected an address outside of reserved {taken.words}, {found}"
        return ""

    def overlap(self, files: list[Region]) -> tuple[Region, str] | None:
        """Find the first file that lies over another, and say so."""
        ordered = sorted(files, key=lambda file: file.address)
        for before, after in itertools.pairwise(ordered):
            if before.overlaps(after):
                return after, (
                    f"expected an address from 0x{before.end:X} on, behind {before.words}, found 0x{after.address:X}"
                )
        return None


def _regions(parameter: Mapping[str, Any]) -> tuple[Region, ...]:
    regions = (Region(name, given["address"], given["size"]) for name, given in parameter.items())
    return tuple(sorted(regions, key=lambda region: region.address))


def map_table(map_: MemoryMap, linked: list[tuple[str, int]], loaded: list[Region]) -> str:
    """Write the memory map as text: a line for each region and file, by address; then what is linked."""
    rows = [
        *((region.address, 0, region, "memory") for region in map_.memory),
        *((region.address, 1, region, "reserved") for region in map_.reserved),
        *((region.address, 2, region, "loaded") for region in loaded),
    ]
    lines = [("first", "last", "bytes", "what", "name")]
    lines += [
        (f"0x{region.address:016x}", f"0x{region.end - 1:016x}", str(region.size), what, region.name)
        for _, _, region, what in sorted(rows, key=lambda row: (row[0], row[1], row[2].name))
    ]
    lines += [("by the linker", "", str(size), "linked", name) for name, size in linked]
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    text = (
        "  ".join((*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[4]))
        for line in lines
    )
    return "\n".join(text) + "\n"
