"""The exported C headers: every compiler agrees with the declared offsets and sizes."""

import re

import pytest
from required_tools import need, run

from formats.catalog import BY_NAME
from pipeline.schema.c_header import c_header

STRICT = ("-Wall", "-Wextra", "-Werror", "-fsyntax-only")
COMPILERS = {
    "gcc, C11": ("gcc", "-std=c11", "-Wpedantic", "-x", "c"),
    "gcc, GNU C99": ("gcc", "-std=gnu99", "-x", "c"),
    "g++, C++11": ("g++", "-std=c++11", "-Wpedantic", "-x", "c++"),
    "clang, C11": ("clang", "-std=c11", "-Wpedantic", "-x", "c"),
    "aarch64": ("aarch64-linux-gnu-gcc", "-std=c11", "-Wpedantic", "-mcpu=cortex-a53", "-x", "c"),
}


def including(folder, **headers):
    """Write headers, and a unit that includes each twice."""
    lines = []
    for name, text in headers.items():
        (folder / f"{name}.h").write_text(text, encoding="utf-8")
        lines += [f'#include "{name}.h"'] * 2
    unit = folder / "unit.c"
    unit.write_text("\n".join([*lines, "int unit;", ""]), encoding="utf-8")
    return unit


@pytest.mark.parametrize("compiler", COMPILERS)
def test_all_headers_compile_together(compiler, tmp_path):
    program, *flags = COMPILERS[compiler]
    headers = {name: c_header(known.layout) for name, known in BY_NAME.items()}
    run(need(program), *STRICT, *flags, including(tmp_path, **headers))


def test_every_field_of_fixed_place_is_proved():
    header = c_header(BY_NAME["q25tokrt"].layout)
    proved = re.findall(r"LAYOUT_ASSERT\(offsetof\(struct (\w+), (\w+)\) == (\d+)", header)
    for record in BY_NAME["q25tokrt"].records:
        for field in record.head().fields:
            at = record.offset_of(field.name)
            assert [row for row in proved if record.name in row[0] and row[1:] == (field.name, str(at))]


@pytest.mark.parametrize(
    ("change", "by"),
    [
        (r"uint32_t flags;", "uint64_t flags;"),
        (r"char pre_name\[32\];", "char pre_name[33];"),
        (r"uint16_t minor;", "uint32_t minor;"),
        (r"== 256,", "== 257,"),
    ],
)
def test_a_wrong_header_does_not_compile(change, by, tmp_path):
    header = c_header(BY_NAME["q25tokrt"].layout)
    wrong, count = re.subn(change, by, header, count=1)
    assert count == 1
    gcc = need("gcc")
    with pytest.raises(AssertionError, match="static assertion failed"):
        run(gcc, "-std=c11", "-fsyntax-only", including(tmp_path, q25tokrt=wrong))


def test_a_record_that_c_would_pad_is_packed():
    header = c_header(BY_NAME["vocab_bin"].layout)
    assert re.search(r"struct vocab_bin_vocab_entry_head \{[^}]*\} LAYOUT_PACKED;", header)
    assert "} LAYOUT_PACKED;" not in c_header(BY_NAME["q25tokrt"].layout)
