"""The regularisation path of SQP-FW as data: breakpoints, events, and the weights in between."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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


@dataclass(frozen=True)
class Event:
    """What happened at a breakpoint.

    Attributes
    ----------
    theta : float
    kind : str
        "weight vanishes", "weight returns", "tie forms" or "tie breaks"; "restart" if ties stalled the path and
        Algorithm 1 continued from a slightly larger theta; "step limit" or "end".
    feature : int
        The feature whose weight vanishes or returns, or -1.
    sample, member : int
        The target, and the hit or miss whose tie with it forms or breaks, or -1.
    of_hits : bool
        Whether the member is a hit.
    jump : bool
        Whether w changed at this theta.
    objective_before, objective_after : float
        The objective for this theta before and after the sets changed; equal up to rounding unless w jumps.
    changes : int
        Number of changes of the active set at this theta, including that of ``kind``.
    """

    theta: float
    kind: str
    feature: int
    sample: int
    member: int
    of_hits: bool
    jump: bool
    objective_before: float
    objective_after: float
    changes: int


@dataclass(frozen=True)
class WeightPath:
    """Weights as a function of theta: linear between breakpoints, with jumps at some of them.

    Attributes
    ----------
    thetas : ndarray of shape (n_breakpoints + 1,)
        0 and the breakpoints, in ascending order; the last is the end.
    stored : SparseRows
        n_breakpoints + 1 + n_jumps rows of weights, each stored once and without zeros, since thousands of breakpoints
        with thousands of features need much memory.
    reached, left : ndarray of int64, shape (n_breakpoints + 1,)
        Indices of the rows with the weights on reaching and on leaving each theta; they differ at jumps.
    events : list of Event
        One for each theta except the first.
    rows : ndarray of shape (n_breakpoints + 1 + n_jumps, n_features)
        The stored weights with their zeros; built on access.
    before, after : ndarray of shape (n_breakpoints + 1, n_features)
        The weights on reaching and on leaving each theta; built on access.
    """

    thetas: Floats
    stored: SparseRows
    reached: Ints
    left: Ints
    events: list[Event]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Read a pickled path, also one of an earlier version, which stored its rows in an array or a sparse table."""
        state = dict(state)
        table = state.pop("rows", state.get("stored"))
        if not isinstance(table, SparseRows):
            former: Any = csr_array(table)
            state["stored"] = SparseRows(former.shape[1])
            for number in range(former.shape[0]):
                state["stored"].append(former[[number]].toarray()[0])
        self.__dict__.update(state)

    @property
    def rows(self) -> Floats:
        """The stored weights with their zeros."""
        return self._rows(np.arange(len(self.stored)))

    @property
    def before(self) -> Floats:
        """The weights on reaching each theta."""
        return self._rows(self.reached)

    @property
    def after(self) -> Floats:
        """The weights on leaving each theta."""
        return self._rows(self.left)

    def weights_at(self, theta: ArrayLike) -> Floats:
        """Return the weights at theta, after the jump if there is one.

        Parameters
        ----------
        theta : float or array-like of float
            Between 0 and the end of the path.

        Returns
        -------
        ndarray of shape (n_features,) or (n_thetas, n_features)

        Raises
        ------
        ValueError
            If theta is not a number or a sequence of numbers, or lies outside the path.
        """
        try:
            values = np.asarray(theta, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError("theta must be a number or a sequence of numbers") from None
        if values.ndim > 1:
            raise ValueError(f"theta must be a number or a sequence of numbers, not a table of shape {values.shape}")
        if not ((values >= 0) & (values <= self.thetas[-1])).all():
            why = "ends" if self.complete else "was cut short; increase max_iter"
            raise ValueError(f"theta must lie between 0 and {self.thetas[-1]:g}, where the path {why}")
        flat = np.atleast_1d(values)
        left = np.searchsorted(self.thetas, flat, side="right") - 1
        right = np.minimum(left + 1, len(self.thetas) - 1)
        width = self.thetas[right] - self.thetas[left]
        share = np.divide(flat - self.thetas[left], width, out=np.zeros_like(flat), where=width > 0)[:, None]
        weights: Floats = (1.0 - share) * self._rows(self.left[left]) + share * self._rows(self.reached[right])
        weights[share[:, 0] == 0] = self._rows(self.left[left[share[:, 0] == 0]])
        return weights[0] if values.ndim == 0 else weights

    def after_last(self) -> Floats:
        """Return the weights at the end of the path."""
        weights: Floats = self._rows(self.left[-1:])[0]
        return weights

    def _rows(self, numbers: Ints) -> Floats:
        """Return stored rows with their zeros."""
        return self.stored[numbers]

    @property
    def jumps(self) -> Ints:
        """Positions in ``thetas`` where the weights jump."""
        return np.array([k + 1 for k, event in enumerate(self.events) if event.jump], dtype=np.int64)

    @property
    def complete(self) -> bool:
        """Whether the path reached its end."""
        # A breakpoint can coincide with the end, so the last event need not be "end".
        return not self.events or self.events[-1].kind != "step limit"
