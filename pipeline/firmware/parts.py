"""All text parts of a firmware's build, by file name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.firmware.assembly import assembly, linker_fragment
from pipeline.firmware.cmake_package import cmake_package
from pipeline.firmware.header import assets_header, layout_file
from pipeline.firmware.uboot import load_script
from pipeline.schema.c_header import c_header

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.firmware.assets import Asset


def parts_of(name: str, assets: Sequence[Asset], fill: int) -> dict[str, str]:
    """Write every part.

    Args:
        name: what the files are called.
        assets: linked and loaded ones.
        fill: the byte between linked ones.

    Returns:
        texts by file name.

    """
    linked = [asset for asset in assets if asset.address is None]
    loaded = [asset for asset in assets if asset.address is not None]
    layouts = {layout.name: layout for asset in assets for layout in asset.layouts}
    return {
        f"{name}.h": assets_header(name, assets),
        f"{name}.S": assembly(name, linked, fill),
        f"{name}.ld": linker_fragment(name, linked),
        f"{name}-config.cmake": cmake_package(name, linked),
        f"{name}.cmd": load_script(name, loaded),
        **{layout_file(known): c_header(layout) for known, layout in layouts.items()},
    }
