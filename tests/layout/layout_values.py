"""Values that a declared record can hold, drawn from its declaration alone."""

import copy

import construct
from hypothesis import strategies as st

from formats.layout import Blob, BytesToEnd, Choice, Counted, Field, Lines, Placed, Record, ToEnd, u16

FEW = 3
"""Elements of a list and bytes of a text, at the most."""
NUMBERS = sorted({0, 1, 2, 3, 5, 6, 7, 64, 100, 255, 256, 2**16 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1})


def self_contained(record):
    """Put a record that counts by a field of the record around it behind such a field."""
    names = {field.name for field in record.fields}
    sizes = {size_field(field.subcon) for field in record.fields} - {None}
    outside = {name for name in sizes if name.partition(".")[0] not in names}
    fields = [Field(name, u16, "stands outside") for name in sorted(outside)]
    return Record(record.name, record.meaning, *fields, *record.fields) if fields else record


def without_placed(layout):
    """Leave out the parts of a file whose places must fit their directory."""
    fields = [field for field in layout.fields if not isinstance(field.subcon, Placed)]
    return Record(layout.name, layout.meaning, *fields)


def size_field(layout):
    """Name the earlier field that decides a part's size, if there is one."""
    if isinstance(layout, Counted):
        return layout.count_field
    return layout.length_field if isinstance(layout, Blob) else None


@st.composite
def values_of(draw, record, few=frozenset()):
    """Draw a mapping that the record builds; fields named in `few` count elements of lists around it."""
    sizes = {size_field(field.subcon) for field in record.fields} - {None} | few
    values = {}
    for field in record.fields:
        if field.rule is not None and field.rule.only is not None:
            values[field.name] = field.rule.only
        elif field.name in sizes:
            values[field.name] = draw(
                st.sampled_from(
                    [n for n in range(FEW + 1) if field.rule is None or fits(field, n)] or [least(field)]
                )
            )
        elif isinstance(field.subcon, Record):
            inside = {name.partition(".")[2] for name in sizes if name.startswith(f"{field.name}.")}
            values[field.name] = draw(values_of(field.subcon, frozenset(inside)))
        else:
            values[field.name] = draw(value_of(field, values))
    return values


def least(field):
    """Give the least number of elements that a field's rule allows."""
    return field.rule.low


def count_of(layout, values):
    """Give the number of a list's elements, from the fields before it."""
    if layout.count_field is None:
        return layout.count
    for step in layout.count_field.split("."):
        values = values[step]
    return values


@st.composite
def value_of(draw, layout, values):
    """Draw a value of one part; `values` holds the fields before it."""
    if isinstance(layout, Field):
        if layout.rule is None:
            return draw(value_of(layout.subcon, values))
        assert isinstance(layout.subcon, construct.FormatField)
        known = [] if layout.names is None else [int(member) for member in layout.names]
        return draw(st.sampled_from([number for number in NUMBERS + known if fits(layout, number)]))
    if isinstance(layout, Record):
        return draw(values_of(layout))
    if isinstance(layout, Counted):
        count = count_of(layout, values)
        few = [draw(value_of(layout.subcon, values)) for _ in range(min(count, FEW))]
        return [*few, *[copy.deepcopy(few[-1]) for _ in range(len(few), count)]]
    if isinstance(layout, ToEnd):
        return [draw(value_of(layout.subcon, values)) for _ in range(draw(st.integers(1, FEW)))]
    if isinstance(layout, Choice):
        return draw(value_of(layout.cases[values[layout.type_field]], values))
    if isinstance(layout, (construct.Bytes, BytesToEnd)):
        return draw(bytes_of(layout, values))
    if isinstance(layout, Lines):
        return [
            line.replace(b"\n", b"") + b"\n" for line in draw(st.lists(st.binary(), min_size=1, max_size=FEW))
        ]
    assert isinstance(layout, construct.FormatField)
    if layout.fmtstr[-1] in "fd":
        return draw(st.floats(width=8 * layout.length))
    low, high = limits(layout)
    near = [number for number in NUMBERS if low <= number <= high]
    return draw(st.sampled_from(near) | st.integers(low, high))


def bytes_of(layout, values):
    """Give a strategy for a run of bytes."""
    if isinstance(layout, BytesToEnd):
        return st.binary(min_size=1, max_size=FEW)
    size = values[layout.length_field] if isinstance(layout, Blob) else layout.length
    return st.binary(min_size=size, max_size=size)


def limits(layout):
    """Give the lowest and highest number of an integer's layout."""
    bits = 8 * layout.length
    signed = layout.fmtstr[-1].islower()
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)


def fits(field, number):
    """Tell whether a number is one that a field with a rule holds."""
    low, high = limits(field.subcon)
    return low <= number <= high and field.rule.passes(number)
