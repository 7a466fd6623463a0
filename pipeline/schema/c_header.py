"""A layout as a C header: structs of fixed size, enumerations, limits, and proof that the offsets hold.

The structs lie over the bytes of a file as they are. What follows a part of varying size has no
fixed offset and is named in a comment.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import construct

from formats.layout import Field, Record, fixed_size
from formats.layout.describe import count_words, type_words
from formats.layout.numbers import number_kind
from formats.layout.parts import Counted
from pipeline.schema.names import element_of, enumerations, identifier, note_of, prefixed, records_inside_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from formats.layout import FileLayout
    from pipeline.schema.names import Enumeration

_WIDTH = 100
_PRELUDE = """\
#include <stddef.h>
#include <stdint.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the structs lie over little-endian bytes"
#endif

#ifndef LAYOUT_ASSERT
#ifdef __cplusplus
#define LAYOUT_ASSERT(holds, words) static_assert(holds, words)
#else
#define LAYOUT_ASSERT(holds, words) _Static_assert(holds, words)
#endif
#endif
#ifndef LAYOUT_PACKED
#define LAYOUT_PACKED __attribute__((packed))
#endif
"""


def c_header(layout: FileLayout) -> str:
    """Write the header of a file's layout, for C11, C++11 and the GNU dialects of C99."""
    guard = f"{layout.name}_layout_h".upper()
    title = _comment(f"{layout.file_name}: {layout.meaning} Little-endian, packed.")
    parts = [f"{title}\n#ifndef {guard}\n#define {guard}\n", _PRELUDE]
    if layout.signature:
        parts.append(f'#define {layout.name.upper()}_SIGNATURE "{layout.signature.decode("ascii")}"\n')
    parts += [_enumeration(layout, known) for known in enumerations(layout)]
    parts += [part for record in records_inside_out(layout) for part in _record(layout, record)]
    return "\n".join([*parts, f"#endif /* {guard} */\n"])


def struct_name(layout: FileLayout, record: Record) -> str:
    """Name the struct of a record, or of its leading fields of fixed size where that is not all."""
    name = prefixed(layout, record.name)
    return name if fixed_size(record) is not None else f"{name}_head"


def _enumeration(layout: FileLayout, known: Enumeration) -> str:
    name = f"{prefixed(layout, known.name)}_{'bit' if known.is_flags else 'value'}"
    stem = prefixed(layout, known.name).upper()
    number = "0x{:X}" if known.is_flags else "{}"
    lines = [
        f"    {stem}_{identifier(word).upper()} = {number.format(value)}," for value, word in known.members
    ]
    return "\n".join([f"enum {name} {{", *lines, "};"]) + "\n"


def _record(layout: FileLayout, record: Record) -> Iterator[str]:
    head = record.head()
    rest = record.fields[len(head.fields) :]
    name = struct_name(layout, record)
    behind = "".join(f"\n{_varying(layout, field)}" for field in rest)
    if not head.fields:
        yield _comment(f"{record.name}: {record.meaning} Nothing of it has a fixed size:{behind}") + "\n"
        return
    more = f" Behind it:{behind}" if rest else ""
    comment = _comment(f"{record.meaning}{more}")
    packed = " LAYOUT_PACKED" if not _is_natural(head) else ""
    members = "\n".join(_member(layout, field) for field in head.fields)
    stem = name.upper()
    asserts = [f'LAYOUT_ASSERT(sizeof(struct {name}) == {head.size}, "size of {name}");']
    asserts += [
        f'LAYOUT_ASSERT(offsetof(struct {name}, {field.name}) == {head.offset_of(field.name)}, "{field.name}");'
        for field in head.fields
    ]
    defines = [f"#define {stem}_BYTES {head.size}u", *_limits(stem, head)]
    yield "\n".join([comment, f"struct {name} {{", members, f"}}{packed};", *asserts, *defines]) + "\n"


def _member(layout: FileLayout, field: Field) -> str:
    subcon = field.subcon
    element = element_of(subcon)
    count = f"[{subcon.length}]" if isinstance(subcon, construct.Bytes) else ""
    if isinstance(subcon, Counted):
        count = f"[{subcon.count}]"
    if isinstance(element, Record):
        kind = f"struct {struct_name(layout, element)}"
    elif isinstance(element, construct.Bytes):
        kind = "char" if field.form == "text" else "uint8_t"
    else:
        kind = _number(element)
    return f"    {kind} {field.name}{count}; /* {_safe(note_of(field))} */"


def _number(layout: construct.FormatField) -> str:
    kind = number_kind(layout)
    if kind == "f":
        return "float" if layout.length == 4 else "double"
    return f"{'u' if kind == 'u' else ''}int{layout.length * 8}_t"


def _limits(stem: str, record: Record) -> Iterator[str]:
    """Write the bounds of each field that has some, and the value that stands for none."""
    for field in record.fields:
        name = f"{stem}_{field.name}".upper()
        rule = field.rule
        if rule is not None:
            only = rule.only if isinstance(rule.only, int) else None
            for suffix, value in (("ONLY", only), ("MIN", rule.low), ("MAX", rule.high)):
                if value is not None:
                    yield f"#define {name}_{suffix} {value}u"
        if field.absent is not None:
            yield f"#define {name}_ABSENT 0x{field.absent:X}u"


def _varying(layout: FileLayout, field: Field) -> str:
    kind = type_words(field.subcon)
    count = count_words(field.subcon)
    element = element_of(field.subcon)
    if isinstance(element, Record):
        kind = prefixed(layout, element.name)
    many = f"[{count}]" if count else ""
    return f"  {kind}{many} {field.name}: {field.docs}"


def _is_natural(record: Record) -> bool:
    """Tell whether a C compiler lays a struct out as declared, without being told to."""
    at, widest = 0, 1
    for field in record.fields:
        alignment = _alignment(field.subcon)
        if at % alignment:
            return False
        at += field.sizeof()
        widest = max(widest, alignment)
    return at % widest == 0


def _alignment(layout: construct.Construct) -> int:
    element = element_of(layout)
    if isinstance(element, Record):
        packed = not _is_natural(element)
        return 1 if packed else max(_alignment(field.subcon) for field in element.fields)
    return 1 if isinstance(element, construct.Bytes) else int(element.sizeof())


def _comment(text: str) -> str:
    lines = [part for line in _safe(text).split("\n") for part in textwrap.wrap(line, _WIDTH) or [""]]
    return "/* " + "\n * ".join(lines) + " */"


def _safe(text: str) -> str:
    return text.replace("*/", "* /").replace("/*", "/ *")
