"""A selector of a fixed range of columns: a control, and a way to restrict a method to part of the data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfbench_baselines._selector import ImportanceSelector


class FixedColumns(ImportanceSelector):
    """Select a fixed range of columns, regardless of the data: their importance is 1, that of all others is 0.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps those of positive importance.
    first : int, default=0
        Position of the first column.
    count : int or None, default=None
        Number of columns; None selects all from `first` on.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Ones and zeros.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If the range is empty or extends beyond the last column.

    Notes
    -----
    Takes O(n_features) time. Labels are ignored.

    Examples
    --------
    >>> from mfbench_baselines.columns import FixedColumns
    >>> FixedColumns(first=1, count=2).fit([[1, 2, 3, 4], [5, 6, 7, 8]]).feature_importances_.tolist()
    [0.0, 1.0, 1.0, 0.0]
    """

    def __init__(self, *, n_features_to_select: int | None = None, first: int = 0, count: int | None = None) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.first = first
        self.count = count

    def _importances(self, X: NDArray[np.float64], y: NDArray[np.intp] | None) -> NDArray[np.float64]:
        n_features = X.shape[1]
        end = n_features if self.count is None else self.first + self.count
        if not 0 <= self.first < end <= n_features:
            raise ValueError(
                f"first={self.first!r} and count={self.count!r} are not a range of the {n_features} features of X"
            )
        importances = np.zeros(n_features)
        importances[self.first : end] = 1.0
        return importances
