"""The exported C headers: every compiler agrees with the declared offsets and sizes."""

import re

import pytest
from format_files import small_files
from header_programs import BODIES, program
from required_tools import need, run

from formats.catalog import BY_NAME
from formats.layout.walk import walk
from pipeline.dump.paths import Selection
from pipeline.dump.rows import Row, RowMaker
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
    image = c_header(BY_NAME["q25tokrt"].layout)
    assert re.findall(r"struct (\w+) \{[^}]*\} LAYOUT_PACKED;", image) == ["q25tokrt_pair_row"]


@pytest.mark.parametrize("compiler", ["gcc", "aarch64"])
@pytest.mark.parametrize("name", BODIES)
def test_a_program_prints_the_fields_that_dump_prints(name, compiler, tmp_path):
    source, made, file = tmp_path / "print.c", tmp_path / "print", tmp_path / "file"
    source.write_text(program(BY_NAME[name]), encoding="utf-8")
    file.write_bytes(small_files(tmp_path)[name])
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", source, "-o", made]
    if compiler == "gcc":
        printed = run(need("gcc"), *flags) + run(made, file)
    else:
        run(need("aarch64-linux-gnu-gcc"), "-static", *flags)
        printed = run(need("qemu-aarch64"), made, file)
    lines = dict(line.split(" ", 1) for line in printed.splitlines())
    rows, zeros = fields_of(name, file.read_bytes())
    assert len(lines) > 3
    assert {path: value for path, value in lines.items() if path in rows} == {
        path: rows[path] for path in lines if path in rows
    }
    # A run of zero rows is one line of the dump; parts of varying size are in no struct.
    folded = {path: value for path, value in lines.items() if path not in rows}
    assert set(folded.values()) <= {"0"}
    assert len(folded) == zeros
    left = [path for path in rows if path not in lines]
    assert all(
        path.startswith(("sections.token_bytes", "sections.special", "key_values", "tensor")) for path in left
    )


def fields_of(name, data):
    """Give the fields of a file as `dump` has them, and how many zero rows it folds."""
    found = walk(BY_NAME[name].layout, data)
    rows = RowMaker(found, memoryview(data), whole=True).rows(Selection(found.root))
    rows = [row for row in rows if isinstance(row, Row)]
    zeros = sum(int(row.value.split()[0].replace(",", "")) for row in rows if row.value.endswith("zero rows"))
    return {row.path: words(row, data) for row in rows if row.plain is not None}, zeros


def words(row, data):
    is_number = isinstance(row.plain, int)
    return str(row.plain) if is_number else data[row.offset : row.offset + min(row.size, 32)].hex()
