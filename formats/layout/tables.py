"""Bulk tables: a numpy column for each declared field, so that no loop runs over records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.errors import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from formats.layout.fields import Record
    from formats.layout.place import Place


@dataclass(frozen=True)
class Table:
    """Rows of one record, as numpy columns, with their place for messages.

    Attributes:
        record: the layout of one row.
        rows: structured array of shape (rows,) and the record's dtype.
        place: where the table starts.

    """

    record: Record
    rows: NDArray[Any]
    place: Place

    @classmethod
    def read(cls, record: Record, data: Any, place: Place) -> Table:
        """View bytes as a table and check every field's rule; nothing is copied.

        Raises:
            FormatError: bytes left over, or the first row that breaks a rule.

        """
        size = len(data)
        over = size % record.size
        if over:
            end = place.index(size // record.size, size - over)
            raise end.error(f"a whole record of {record.size} bytes", f"{over} bytes before the end")
        table = cls(record, np.frombuffer(data, dtype=record.dtype), place)
        table._check_rules()
        return table

    @classmethod
    def build(cls, record: Record, columns: dict[str, ArrayLike], place: Place) -> Table:
        """Pack columns of shape (rows,) into records, one column for every field.

        Raises:
            FormatError: a value that does not fit its field or breaks its rule, with row and field.
            ValueError: columns of different lengths.

        """
        arrays = {field.name: np.asarray(columns[field.name]) for field in record.fields}
        count = len(next(iter(arrays.values())))
        for name, column in arrays.items():
            # numpy would repeat a single value for every row.
            if column.shape != (count,):
                raise ValueError(f"{record.name}.{name}: shape {column.shape}, not ({count},)")
        table = cls(record, np.zeros(count, dtype=record.dtype), place)
        for name, column in arrays.items():
            limits = np.iinfo(table.rows[name].dtype)
            low, high = int(limits.min), int(limits.max)
            fits = (column >= low) & (column <= high)
            if not fits.all():
                row = int(np.argmin(fits))
                raise table.cell(row, name).error(f"{low} to {high}", shown(column[row]))
            table.rows[name] = column
        table._check_rules()
        return table

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, field: str) -> NDArray[Any]:
        return self.rows[field]

    def tobytes(self) -> bytes:
        """Return the packed records."""
        return self.rows.tobytes()

    def cell(self, row: int, field: str) -> Place:
        """Return the place of one field of one row."""
        record = self.record
        return record.member(self.place.index(row, row * record.size), field)

    def require(
        self, field: str, holds: NDArray[np.bool_], expected: str | Sequence[Any] | NDArray[Any]
    ) -> None:
        """Refuse the table at the first row for which a check failed.

        Args:
            field: the column the check is about.
            holds: shape (rows,), true where the check holds.
            expected: words, or a column of the values that were expected.

        Raises:
            FormatError: naming row, field and offset.

        """
        if holds.all():
            return
        row = int(np.argmin(holds))
        words = expected if isinstance(expected, str) else shown(expected[row])
        raise self.cell(row, field).error(words, shown(self.rows[field][row]))

    def _check_rules(self) -> None:
        for field in self.record.fields:
            if field.rule is not None:
                self.require(field.name, field.rule.holds(self.rows[field.name]), field.rule.words)
