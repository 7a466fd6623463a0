"""How a layout is declared: fields with meaning and constraint, records, tables.

One declaration serves everything: construct parses and builds with it, numpy takes its dtype from
it, and what people read (schema, dump, C header) is derived from it.
"""

from formats.layout.fields import (
    ROW,
    Field,
    Record,
    f32,
    f64,
    fixed_size,
    i8,
    i16,
    i32,
    i64,
    magic,
    reserved,
    u8,
    u16,
    u32,
    u64,
)
from formats.layout.file_layout import FileLayout
from formats.layout.lines import Key, Lines
from formats.layout.parts import Blob, BytesToEnd, Choice, Counted, ToEnd
from formats.layout.place import Place
from formats.layout.placed import Blocks, KeyedNumber, Placed, Stated
from formats.layout.rules import Rule, at_least, at_most, between, exactly, member_of, odd, power_of_two

__all__ = [
    "ROW",
    "Blob",
    "Blocks",
    "BytesToEnd",
    "Choice",
    "Counted",
    "Field",
    "FileLayout",
    "Key",
    "KeyedNumber",
    "Lines",
    "Place",
    "Placed",
    "Record",
    "Rule",
    "Stated",
    "ToEnd",
    "at_least",
    "at_most",
    "between",
    "exactly",
    "f32",
    "f64",
    "fixed_size",
    "i8",
    "i16",
    "i32",
    "i64",
    "magic",
    "member_of",
    "odd",
    "power_of_two",
    "reserved",
    "u8",
    "u16",
    "u32",
    "u64",
]
