"""Rows of weights without their zeros: a path on wide data has thousands of rows of thousands of weights."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass
class SparseRows:
    """Rows that grow in number; each takes 8 bytes for an entry other than 0, and a bit for each column.

    Column numbers, as in a table of scipy, would take half as much again as the entries.

    Attributes
    ----------
    n_columns : int

    Examples
    --------
    >>> rows = SparseRows(3)
    >>> rows.append([0.0, 0.25, 0.75])
    >>> rows[[0]]
    array([[0.  , 0.25, 0.75]])
    """

    n_columns: int
    _entries: list[Floats] = field(default_factory=list, repr=False)
    _columns: list[NDArray[np.uint8]] = field(default_factory=list, repr=False)

    def append(self, row: ArrayLike) -> None:
        """Add a row.

        Parameters
        ----------
        row : array-like of shape (n_columns,)
        """
        values = np.asarray(row, dtype=np.float64)
        other_than_0 = values != 0
        self._entries.append(values[other_than_0])
        self._columns.append(np.packbits(other_than_0))

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, numbers: ArrayLike) -> Floats:
        """Return the rows with these numbers, with their zeros."""
        chosen = np.asarray(numbers, dtype=np.int64)
        rows = np.zeros((len(chosen), self.n_columns))
        for row, number in zip(rows, chosen, strict=True):
            row[np.unpackbits(self._columns[number], count=self.n_columns).view(np.bool_)] = self._entries[number]
        return rows

    @property
    def n_entries(self) -> int:
        """Number of entries other than 0."""
        return sum(map(len, self._entries))

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes."""
        return sum(map(len, self._columns)) + 8 * self.n_entries
