"""The README's example compiles without a warning and gives the reference's ids."""

from __future__ import annotations

import re

import pytest
from c_programs import WARNINGS
from firmware_build import LIBRARY, SOURCE
from required_tools import run

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
@EXAMPLE@
int main(int argc, char **argv)
{
    FILE *file = fopen(argv[1], "rb");
    size_t size = (size_t)strtoul(argv[2], NULL, 10), count, at;
    uint32_t ids[64];
    void *image = NULL;
    if (argc != 4 || file == NULL || posix_memalign(&image, 64, size) != 0
        || fread(image, 1, size, file) != size) {
        return 2;
    }
    count = encode_line(image, size, argv[3], strlen(argv[3]), ids, 64);
    for (at = 0; at < count; at++) {
        printf("%u ", (unsigned)ids[at]);
    }
    fclose(file);
    free(image);
    return 0;
}
"""


@pytest.fixture(scope="module")
def readme():
    return (LIBRARY / "README.md").read_text(encoding="ascii")


def test_the_example(workshop, readme, qwen3_image, oracles, tmp_path):
    (example,) = re.findall(r"```c\n(.*?)```", readme, re.DOTALL)
    source = tmp_path / "example.c"
    source.write_text(MAIN.replace("@EXAMPLE@", example), encoding="ascii")
    flags = ("-std=c99", "-D_POSIX_C_SOURCE=200112L", *WARNINGS, "-O2")
    program = workshop.program("gcc", *flags, sources=(source, SOURCE))
    text = "Hello e\u0301 <|im_end|>, world: " + "=" * 60
    printed = run(program, qwen3_image, qwen3_image.stat().st_size, text)
    assert [int(word) for word in printed.split()] == oracles["none"].encode(text)


def test_the_files_that_are_named(readme):
    named = set(re.findall(r"^\| `(q25_\S+)`", readme, re.MULTILINE))
    assert named == {path.name for path in LIBRARY.glob("q25_*")}
