"""A layout as a pattern for the hex editor ImHex (.hexpat)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import construct

from formats.layout import Blob, BytesToEnd, Choice, Counted, Field, KeyedNumber, Lines, Record, Stated, ToEnd
from formats.layout.numbers import number_kind
from formats.layout.placed import Placed
from pipeline.schema.names import (
    all_fields,
    element_of,
    enumeration_of,
    identifier,
    note_of,
    outer_names,
    records_inside_out,
    snake,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from formats.layout import FileLayout
    from formats.layout.placed import Blocks

_LIMITS = """\
#pragma array_limit 4194304
#pragma pattern_limit 16777216
"""


def imhex(layout: FileLayout) -> str:
    """Write the pattern of a file's layout."""
    head = [f"#pragma description {layout.name}: {layout.meaning}", "#pragma endian little"]
    if layout.signature:
        head.append(f"#pragma magic [ {layout.signature.hex(' ').upper()} ] @ 0x00")
    parts = ["\n".join(head) + "\n" + _LIMITS, "import std.core;\nimport std.mem;\n", *_enums(layout)]
    numbers = [part.align for part in _placed(layout) if isinstance(part.align, KeyedNumber)]
    parts += [f"u32 {_variable(number)} = {number.default};\n" for number in numbers]
    for record in records_inside_out(layout):
        keyed = [number for number in numbers if _is_pair(layout, record, number)]
        parts += [*_parts_of(layout, record), _struct(layout, record, keyed)]
    parts.append(f"{_name(layout, layout)} {layout.name} @ 0x00;\n")
    return "\n".join(parts)


def _placed(layout: FileLayout) -> list[Placed]:
    return [field.subcon for field in layout.fields if isinstance(field.subcon, Placed)]


def _is_pair(layout: FileLayout, record: Record, number: KeyedNumber) -> bool:
    pairs = next(field for field in layout.fields if field.name == number.pairs)
    return element_of(pairs.subcon) is record


def _enums(layout: FileLayout) -> Iterator[str]:
    seen = set()
    for field in all_fields(layout):
        if field.names is None or _enum_type(field) in seen:
            continue
        seen.add(_enum_type(field))
        members = enumeration_of(field.names).members
        lines = [f"    {identifier(word).upper()} = {value}," for value, word in members]
        yield "\n".join([f"enum {_enum_type(field)} : {_number(field.subcon)} {{", *lines, "};"]) + "\n"


def _enum_type(field: Field) -> str:
    """Name an enumeration as wide as the field: the pattern language ties the two."""
    names = field.names
    return f"{snake(names.__name__)}_{_number(field.subcon)}" if names is not None else ""


def _struct(layout: FileLayout, record: Record, keyed: list[KeyedNumber]) -> str:
    outer = outer_names(record)
    parameters = f"<{', '.join(f'auto {name}' for name in outer)}>" if outer else ""
    lines = [f"struct {_name(layout, record)}{parameters} {{"]
    for field in record.fields:
        lines += [f"    {line}" for line in _member(layout, field)]
    for number in keyed:
        lines.append(f"    if (key.text == {json.dumps(number.key)}) {_variable(number)} = value;")
    return "\n".join([*lines, "};"]) + "\n"


def _member(layout: FileLayout, field: Field) -> Iterator[str]:
    subcon = field.subcon
    note = f" [[comment({json.dumps(note_of(field))})]];"
    if isinstance(subcon, Placed):
        if subcon.from_aligned:
            align = _variable(subcon.align) if isinstance(subcon.align, KeyedNumber) else subcon.align
            yield f"u64 {field.name}_base = ($ + {align} - 1) / {align} * {align};"
        entries = next(known for known in layout.fields if known.name == subcon.entries)
        yield f"{field.name}_part {field.name}[{_count(entries.subcon)}]{note}"
        return
    element = element_of(subcon)
    if isinstance(element, Choice):
        yield from _choice(layout, element, f"{field.name}{_brackets(subcon)}{note}")
    else:
        yield f"{_type(layout, field)} {field.name}{_brackets(subcon)}{note}"


def _choice(layout: FileLayout, choice: Choice, rest: str) -> Iterator[str]:
    for number, (value, case) in enumerate(choice.cases.items()):
        kind = _type(layout, case)
        word = "if" if number == 0 else "else if"
        yield f"{word} (u64({choice.type_field}) == {int(value)}) {kind} {rest}"


def _parts_of(layout: FileLayout, record: Record) -> Iterator[str]:
    """Declare the parts that a directory places, one struct for each list of them."""
    for field in record.fields:
        placed = field.subcon
        if not isinstance(placed, Placed):
            continue
        entry = f"parent.{placed.entries}[index]"
        base = f"parent.{field.name}_base + " if placed.from_aligned else ""
        lines = [f"struct {field.name}_part {{", "    u64 index = std::core::array_index();"]
        lines.append(f"    u64 start = {base}{entry}.{placed.offset_field};")
        if isinstance(placed.size, Stated):
            lines.append(f"    u64 size = {entry}.{placed.size.field};")
        else:
            entries = next(known for known in record.fields if known.name == placed.entries)
            lines += [f"    {line}" for line in _block_sizes(placed.size, element_of(entries.subcon), entry)]
        outer = {name for case in placed.cases.values() for name in _case_names(case)}
        lines += [f"    u64 {name} = {entry}.{name};" for name in sorted(outer)]
        word = "if"
        for value, case in placed.cases.items():
            if not isinstance(case, Blob):
                test = f"{word} (u64({entry}.{placed.kind_field}) == {int(value)})"
                lines.append(f"    {test} {_body(layout, case)} @ start;")
                word = "else if"
        lines.append(f"    {'else ' if word != 'if' else ''}u8 body[size] @ start;")
        yield "\n".join([*lines, "};"]) + "\n"


def _case_names(case: construct.Construct) -> list[str]:
    """List the entry's fields that a part counts by; plain bytes have their size."""
    if isinstance(case, Record):
        return outer_names(case)
    return [case.count_field] if isinstance(case, Counted) and case.count_field else []


def _body(layout: FileLayout, case: construct.Construct) -> str:
    """Declare what lies at a place, counted by names of the part's struct."""
    if isinstance(case, Counted):
        return f"{_type(layout, case.subcon)} body[{_count(case)}]"
    names = ", ".join(_case_names(case))
    return f"{_type(layout, case)}{f'<{names}>' if names else ''} body"


def _block_sizes(size: Blocks, entry_record: Record, entry: str) -> Iterator[str]:
    shape = next(field.subcon for field in entry_record.fields if field.name == size.shape_field)
    kind = f"u64({entry}.{size.type_field})"
    yield "u64 size = 1;"
    for axis in range(size.max_dims):
        item = f"{entry}.{size.shape_field}[{axis}]"
        yield f"if ({entry}.{_count(shape)} > {axis}) size = size * {item};"
    for number, (value, (elements, block)) in enumerate(size.block_sizes.items()):
        yield f"{'else ' if number else ''}if ({kind} == {int(value)}) size = size / {elements} * {block};"
    yield "else size = 0;"


def _type(layout: FileLayout, part: construct.Construct) -> str:
    if isinstance(part, Field):
        if part.names is not None:
            return _enum_type(part)
        element = element_of(part.subcon)
        is_bytes = isinstance(element, (construct.Bytes, BytesToEnd, Lines))
        return "char" if is_bytes and part.form == "text" else _type(layout, element)
    if isinstance(part, Record):
        return _name(layout, part)
    return "u8" if isinstance(part, (construct.Bytes, BytesToEnd, Lines)) else _number(part)


def _brackets(part: construct.Construct) -> str:
    if isinstance(part, Counted):
        return f"[{_count(part)}]"
    if isinstance(part, ToEnd):
        return f"[(std::mem::size() - $) / {part.subcon.sizeof()}]"
    if isinstance(part, (BytesToEnd, Lines)):
        return "[std::mem::size() - $]"
    if isinstance(part, Blob):
        return f"[{part.length_field}]"
    return f"[{part.length}]" if isinstance(part, construct.Bytes) else ""


def _count(part: Counted) -> str:
    return str(part.count_field or part.count)


def _number(part: construct.FormatField) -> str:
    kind = number_kind(part)
    if kind == "f":
        return "float" if part.length == 4 else "double"
    return f"{'s' if kind == 'i' else 'u'}{part.length * 8}"


def _name(layout: FileLayout, record: Record) -> str:
    return f"{layout.name}_file" if record is layout else str(record.name)


def _variable(number: KeyedNumber) -> str:
    return identifier(number.key)
