"""A layout as plain values, for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from formats.layout import fixed_size
from formats.layout.describe import field_rows

if TYPE_CHECKING:
    from formats.catalog import Format
    from formats.layout import Record
    from formats.layout.describe import FieldRow


def describe_format(known: Format) -> dict[str, Any]:
    """Describe a format: the file first, then the records it is made of."""
    layout = known.layout
    return {
        "format": known.name,
        "file": layout.file_name,
        "signature": layout.signature.hex(),
        "meaning": layout.meaning,
        "is_text": known.is_text,
        "byte_order": "little",
        "records": [_record(record) for record in (layout, *known.records)],
        "keys": [
            {"key": key.path, "type": key.type, "unit": key.unit, "meaning": key.meaning}
            for key in known.keys
        ],
    }


def _record(record: Record) -> dict[str, Any]:
    fields = [_field(row) for row in field_rows(record)]
    return {"name": record.name, "meaning": record.meaning, "size": fixed_size(record), "fields": fields}


def _field(row: FieldRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "offset": row.offset,
        "size": row.size,
        "type": row.type,
        "count": int(row.count) if row.count.isdigit() else row.count or 1,
        "unit": row.unit,
        "meaning": row.meaning,
        "constraint": row.rule,
        "values": {str(value): word for value, word in row.values},
        "cases": dict(row.cases),
        "place": row.place,
    }
