"""Step `firmware`: what a firmware's own build takes in, from any artifacts that the manifest names."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pipeline.errors import UsageError
from pipeline.firmware.memory_map import ADDRESS_LIMIT, MemoryMap, Region, map_table
from pipeline.manifest.containers import ListOf, MapOf
from pipeline.manifest.fields import Fields, Identifier
from pipeline.manifest.integers import Integer, Size
from pipeline.manifest.kinds import RelativePath
from pipeline.manifest.parameters import Parameter
from pipeline.steps.runtime_image import IMAGE
from pipeline.steps.step import Artifact, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pipeline.firmware.assets import Asset
    from pipeline.steps.step import Job

_ADDRESS = Size(0, ADDRESS_LIMIT - 1, what="an address")
_REGIONS = MapOf(
    Fields(
        Parameter("address", _ADDRESS, doc="Of the first byte."),
        Parameter("size", Size(1, ADDRESS_LIMIT - 1), doc="How many bytes."),
    )
)
_NOTHING: Mapping[str, object] = MappingProxyType({})


class Firmware(Step):
    """Write what a firmware's build needs to take artifacts in, linked or loaded.

    All in the folder `firmware`, named after `name`: a C header with places, sizes, digests and an
    image's sections; assembly that places the linked files in read-only data, and the linker
    script's part for it; a CMake package; a U-Boot script that loads the others; the memory map as a
    table; and the structs of each file's layout, with proof of their offsets.
    """

    name = "firmware"
    summary = "C header, assembly, linker, CMake and U-Boot parts that take artifacts into a firmware"
    parameters = (
        Parameter(
            "name", Identifier(), "q25_assets", "Name of the files, and what names in them begin with."
        ),
        Parameter("link", ListOf(RelativePath()), (IMAGE,), "Artifacts that the linker takes in, by name."),
        Parameter(
            "load",
            MapOf(_ADDRESS, RelativePath()),
            _NOTHING,
            "Artifacts that a boot loader loads, each with its address.",
        ),
        Parameter(
            "align",
            Size(1, 65536, power_of_two=True),
            64,
            "Alignment of each asset, in bytes: 64 is a cache line, 4096 keeps bursts inside a page. An image "
            "whose sections are aligned to more gets as much.",
        ),
        Parameter("fill", Integer(0, 255), 0, "The byte between linked assets."),
        Parameter(
            "memory", _REGIONS, _NOTHING, "The board's memory: regions with address and size, by name."
        ),
        Parameter("reserved", _REGIONS, _NOTHING, "Parts of it that nothing may be loaded into, by name."),
        Parameter(
            "rom",
            Size(1, ADDRESS_LIMIT - 1),
            None,
            "Bytes of read-only memory for all linked assets together, with the fill; more fails the run.",
        ),
    )
    writes = (Artifact("firmware/*", "firmware part", "1", "a part of a firmware's build"),)

    def inputs(self, parameters: Mapping[str, Any]) -> tuple[str, ...]:
        """Name the artifacts that are linked or loaded."""
        return tuple(dict.fromkeys((*parameters["link"], *parameters["load"])))

    def problems(self, parameters: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
        """Say what contradicts: names twice, places outside the map, regions over each other."""
        from pipeline.firmware.symbols import symbol_clash

        link, load = parameters["link"], parameters["load"]
        for index, name in enumerate(link):
            if name in link[:index]:
                yield ("link", name), f"expected each file once, found {name} again"
        for name in load:
            if name in link:
                yield ("load", name), f"expected a file that is not linked, found {name} in `link` too"
        if not link and not load:
            yield ("link",), "expected a file in `link` or `load`, found none"
        clash = symbol_clash(list(self.inputs(parameters)))
        if clash is not None:
            yield (("link" if clash[0] in link else "load"), clash[0]), clash[1]
        yield from MemoryMap.of(parameters).problems(load, parameters["align"])

    def run(self, job: Job) -> None:
        """Write every part."""
        from pipeline.firmware.assets import measure
        from pipeline.firmware.parts import parts_of

        parameters = job.parameters
        load, align = parameters["load"], parameters["align"]
        assets = [measure(name, job.read(name), align, load.get(name)) for name in self.inputs(parameters)]
        linked = [asset for asset in assets if asset.address is None]
        loaded = [Region(asset.name, load[asset.name], asset.size) for asset in assets if asset.name in load]
        map_ = MemoryMap.of(parameters)
        self._check(map_, linked, loaded, parameters["rom"])
        for name, text in parts_of(parameters["name"], assets, parameters["fill"]).items():
            job.write(f"firmware/{name}", text.encode())
        table = map_table(map_, [(asset.name, asset.padded) for asset in linked], loaded)
        job.write(f"firmware/{parameters['name']}_map.txt", table.encode())
        job.say(
            f"{len(linked)} linked of {sum(asset.padded for asset in linked):,} bytes with fill, "
            f"{len(loaded)} loaded of {sum(region.size for region in loaded):,}"
        )

    @staticmethod
    def _check(map_: MemoryMap, linked: list[Asset], loaded: list[Region], rom: int | None) -> None:
        """Refuse files that do not fit where they are to be."""
        for region in loaded:
            words = map_.refusal(region)
            if words:
                raise UsageError(f"step firmware: load.{region.name}: {words}")
        overlap = map_.overlap(loaded)
        if overlap is not None:
            raise UsageError(f"step firmware: load.{overlap[0].name}: {overlap[1]}")
        total = sum(asset.padded for asset in linked)
        if rom is not None and total > rom:
            most = max(linked, key=lambda asset: asset.padded)
            raise UsageError(
                f"step firmware: rom: expected linked assets of at most {rom} bytes, found {total}, "
                f"{most.padded} of them {most.name}"
            )
