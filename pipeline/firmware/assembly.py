"""Assembly that takes the linked assets in, and the linker script's part that places them.

A compiler needs minutes and gigabytes for a table of 20 MB as a C array; `.incbin` copies the bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.firmware.c_text import comment, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipeline.firmware.assets import Asset


def assembly(name: str, assets: Sequence[Asset], fill: int) -> str:
    """Write the source, for GNU as and Clang behind a C preprocessor.

    A digest stands beside each file, so that the source changes where a file does: a build tool
    that knows nothing of `.incbin` assembles it again then.
    """
    lines = [
        f"/* The linked assets of {name}. The files are looked for with -I, from the folder of the artifacts on. */",
        "",
    ]
    for asset in assets:
        lines += [*_asset(name, asset, fill), ""]
    lines += ["#if defined(__ELF__)", '    .section .note.GNU-stack, "", %progbits', "#endif"]
    return "\n".join(lines) + "\n"


def _asset(name: str, asset: Asset, fill: int) -> Iterator[str]:
    symbol, align = asset.symbol, asset.align
    stems = (symbol, f"_binary_{symbol}")
    yield f"/* {comment(asset.name)}: {asset.size} bytes, SHA-256 {asset.sha256.hex()} */"
    yield f'    .section .rodata.{name}.{symbol}, "a", %progbits'
    yield f"    .balign {align}, 0x{fill:02X}"
    for stem in stems:
        yield f"    .global {stem}_start, {stem}_end, {stem}_size"
        yield f"    .type {stem}_start, %object"
    for stem in stems:
        yield f"{stem}_start:"
    yield f"    .incbin {quoted(asset.name.encode())}"
    for stem in stems:
        yield f"{stem}_end:"
    for stem in stems:
        yield f"    .size {stem}_start, {asset.size}"
        yield f"    .set {stem}_size, {asset.size}"
    yield f"    .balign {align}, 0x{fill:02X}"


def linker_fragment(name: str, assets: Sequence[Asset]) -> str:
    """Write the statements that a linker script includes inside an output section."""
    align = max((asset.align for asset in assets), default=1)
    lines = [
        f"/* The linked assets of {name}. Inside an output section of the linker script, before any *(.rodata.*):",
        " *",
        " *     .rodata : {",
        f" *         INCLUDE {name}.ld",
        " *         *(.rodata .rodata.*)",
        " *     }",
        " */",
        f". = ALIGN({align});",
        f"{name}_start = .;",
        f"KEEP(*(.rodata.{name}.*))",
        f". = ALIGN({align});",
        f"{name}_end = .;",
    ]
    return "\n".join(lines) + "\n"
