"""The C header: where each asset is, how long it is, its digests, and an image's sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.q25tokrt.layout import MAGIC
from pipeline.firmware.c_text import comment, quoted, sha256_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from formats.q25tokrt.image import Image
    from pipeline.firmware.assets import Asset


def layout_file(layout_name: str) -> str:
    """Name the header of a layout's structs."""
    return f"{layout_name}_layout.h"


def assets_header(name: str, assets: Sequence[Asset]) -> str:
    """Write the header, for C99 and C++11.

    Args:
        name: of the whole, a C identifier.
        assets: linked and loaded ones.

    """
    upper = name.upper()
    layouts = dict.fromkeys(layout.name for asset in assets for layout in asset.layouts)
    lines = [
        f"/* The assets of {name}: where each is, how long, its digests. */",
        f"#ifndef {upper}_H",
        f"#define {upper}_H",
        "",
        "#include <stdint.h>",
        "",
        *(f'#include "{layout_file(layout)}"' for layout in layouts),
    ]
    for asset in assets:
        lines += ["", *_asset(asset)]
    lines += [
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        *(
            f"extern const unsigned char {asset.symbol}_{end}[];"
            for asset in assets
            if asset.address is None
            for end in ("start", "end")
        ),
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        f"/* An asset as it lies in memory; {upper}_ENTRIES is a list of all of them, for an initialiser. */",
        f"struct {name}_entry {{",
        "    const char *name;",
        "    const unsigned char *start;",
        "    uint64_t size;",
        "    uint32_t crc32; /* zlib's */",
        "};",
        f"#define {upper}_COUNT {len(assets)}u",
        f"#define {upper}_ENTRIES \\",
        "    { \\",
        *(
            f"        {{{quoted(asset.name.encode())}, {_start(asset)}, {asset.symbol.upper()}_SIZE, "
            f"{asset.symbol.upper()}_CRC32}}, \\"
            for asset in assets
        ),
        "    }",
        "",
        f"#endif /* {upper}_H */",
    ]
    return "\n".join(lines) + "\n"


def _start(asset: Asset) -> str:
    if asset.address is None:
        return f"{asset.symbol}_start"
    return f"(const unsigned char *)(uintptr_t){asset.symbol.upper()}_ADDRESS"


def _asset(asset: Asset) -> Iterator[str]:
    stem = asset.symbol.upper()
    how = "linked" if asset.address is None else "loaded by the boot loader"
    yield f"/* {comment(asset.name)}: {how}. */"
    yield f"#define {stem}_FILE {quoted(asset.name.encode())}"
    yield f"#define {stem}_SIZE UINT64_C({asset.size})"
    yield f"#define {stem}_ALIGN {asset.align}u"
    if asset.address is not None:
        yield f"#define {stem}_ADDRESS UINT64_C(0x{asset.address:X})"
    yield f"#define {stem}_CRC32 0x{asset.crc32:08X}u"
    yield f'#define {stem}_SHA256 "{asset.sha256.hex()}"'
    yield f"#define {stem}_SHA256_BYTES {sha256_bytes(asset.sha256)}"
    if asset.image is not None:
        yield from _image(stem, asset.image)


def _image(stem: str, image: Image) -> Iterator[str]:
    header = image.header
    yield f'#define {stem}_MAGIC "{MAGIC.decode("ascii")}"'
    for name in ("major", "minor", "total_bytes", "section_count", "section_align"):
        yield f"#define {stem}_{name.upper()} {header[name]}u"
    yield f'#define {stem}_SOURCE_SHA256 "{image.source_sha256}"'
    for kind, section in image.sections.items():
        name = f"{stem}_{kind.name}"
        yield f"#define {name}_OFFSET 0x{section.place.offset:X}u"
        yield f"#define {name}_LENGTH {len(section.data)}u"
        yield f"#define {name}_COUNT {section.count}u"
        yield f"#define {name}_ALIGN {header.section_align}u"
        yield f"#define {name}_CRC32 0x{section.crc32:08X}u"
