"""The exported ImHex patterns: every declared field is there, and every name is declared before its use."""

import re

import pytest

from formats.catalog import BY_NAME
from formats.layout import Placed
from pipeline.schema.imhex import imhex

BUILT_IN = {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "float", "double", "char"}
STRUCT = re.compile(r"^struct (\w+)(?:<[^>]*>)? \{\n(.*?)^\};$", re.MULTILINE | re.DOTALL)
MEMBER = re.compile(r"(?:^|\) )(\w+)(?:<\w+>)? (\w+)(?:\[[^=]*?\])*(?: =| @|;| \[\[)")

by_format = pytest.mark.parametrize("name", BY_NAME)


def members(body):
    """List (type, name) of what a struct declares."""
    lines = [line.strip().removeprefix("else ") for line in body.splitlines()]
    found = [MEMBER.search(line) for line in lines]
    return [match.groups() for match in found if match is not None]


@by_format
def test_every_field_is_a_member(name):
    known = BY_NAME[name]
    structs = dict(STRUCT.findall(imhex(known.layout)))
    for record in (known.layout, *known.records):
        body = structs[f"{name}_file" if record is known.layout else record.name]
        names = [member for _, member in members(body)]
        ordered = [field.name for field in record.fields]
        assert [member for member in dict.fromkeys(names) if member in ordered] == ordered


@by_format
def test_every_type_is_declared_before_its_use(name):
    pattern = imhex(BY_NAME[name].layout)
    assert pattern.count("{") == pattern.count("}")
    declared = set(BUILT_IN)
    for line in pattern.splitlines():
        start = re.match(r"(?:struct|enum) (\w+)", line)
        if start:
            declared.add(start[1])
        elif line.startswith("    ") and "==" not in line.partition(") ")[0][:3]:
            used = [kind for kind, _ in members(line)]
            assert set(used) <= declared, line


@by_format
def test_parts_that_a_directory_places_are_placed(name):
    layout = BY_NAME[name].layout
    placed = [field for field in layout.fields if isinstance(field.subcon, Placed)]
    pattern = imhex(layout)
    assert pattern.count("@ start;") == sum(
        1 + sum(case.__class__.__name__ != "Blob" for case in field.subcon.cases.values()) for field in placed
    )
    assert f"{name}_file {name} @ 0x00;" in pattern


def test_a_worked_example():
    note = "what the token is; one of 1 normal, 2 unknown, 3 control, 4 user_defined, 5 unused, 6 byte"
    assert (
        imhex(BY_NAME["token_types"].layout)
        == f"""\
#pragma description token_types: The type of each token.
#pragma endian little
#pragma array_limit 4194304
#pragma pattern_limit 16777216

import std.core;
import std.mem;

enum token_type_s32 : s32 {{
    NORMAL = 1,
    UNKNOWN = 2,
    CONTROL = 3,
    USER_DEFINED = 4,
    UNUSED = 5,
    BYTE = 6,
}};

struct token_type_record {{
    token_type_s32 token_type [[comment("{note}")]];
}};

struct token_types_file {{
    token_type_record token_types[(std::mem::size() - $) / 4] [[comment("a record for each token, in id order")]];
}};

token_types_file token_types @ 0x00;
"""
    )
