"""A script for U-Boot that loads the assets which are not linked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from formats.errors import shown
from pipeline.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.firmware.assets import Asset

_PLAIN = re.compile(r"[A-Za-z0-9_./+,=-]+")


def load_script(name: str, assets: Sequence[Asset]) -> str:
    """Write the script.

    U-Boot reads numbers as hexadecimal, and `filesize` has neither 0x nor leading zeros. `exit` leaves a script of
    some versions and not of others (2023.01 goes on behind the `if`), so a variable tells what went wrong.

    Raises:
        UsageError: a file's name that U-Boot's shell would take apart.

    """
    lines = [
        f"# Loads the assets of {name} from a file system, each at its address. For U-Boot:",
        f"#   mkimage -A arm64 -T script -C none -d {name}.cmd {name}.scr",
        "#   load mmc 0 ${scriptaddr} " + f"{name}.scr && source ${{scriptaddr}}",
        "# devtype, devnum and prefix say where from; mmc 0, no folder, where they are not set.",
        f"# At the end {name}_loaded is 1, or 0 where {name}_failed names a file that was not loaded.",
        'test -n "${devtype}" || setenv devtype mmc',
        'test -n "${devnum}" || setenv devnum 0',
        f"setenv {name}_loaded 0",
        f"setenv {name}_failed",
    ]
    for asset in assets:
        if not _PLAIN.fullmatch(asset.name):
            raise UsageError(
                "step firmware: load: expected a name of letters, digits and _ . / + , = - for U-Boot's shell, "
                f"found {shown(asset.name)}"
            )
        size = f"{asset.size:x}"
        lines += [
            "",
            f"# {asset.size} bytes, CRC-32 {asset.crc32:08x}",
            f'if test -z "${{{name}_failed}}"; then',
            f"    if load ${{devtype}} ${{devnum}} 0x{asset.address:x} ${{prefix}}{asset.name}; then",
            f'        if test "${{filesize}}" = "{size}"; then',
            f"            echo {asset.name}: 0x{size} bytes at 0x{asset.address:x}",
            "        else",
            f"            echo {asset.name}: expected 0x{size} bytes, found 0x${{filesize}}",
            f"            setenv {name}_failed {asset.name}",
            "        fi",
            "    else",
            f"        echo {asset.name}: not loaded",
            f"        setenv {name}_failed {asset.name}",
            "    fi",
            "fi",
        ]
    lines += [
        "",
        f'if test -z "${{{name}_failed}}"; then',
        f"    setenv {name}_loaded 1",
        "fi",
    ]
    return "\n".join(lines) + "\n"
