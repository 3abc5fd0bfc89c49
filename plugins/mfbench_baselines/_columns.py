"""Columns of large tables: in dense blocks, and screened for methods that cannot search thousands of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_COLUMNS_AT_ONCE = 1024


def dense_columns(X: Any) -> Iterator[NDArray[np.float64]]:
    """Yield the columns of a table as dense blocks: a dense table as one, a sparse one in parts."""
    if isinstance(X, np.ndarray):
        yield X
        return
    by_column = X.tocsc()
    for first in range(0, X.shape[1], _COLUMNS_AT_ONCE):
        yield by_column[:, first : first + _COLUMNS_AT_ONCE].toarray(order="C")


def strongest(X: NDArray[np.float64], codes: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return the features with the largest share of variance between the classes.

    This share is the score statistic of a logistic regression on the feature alone, divided by n, and increases with
    the F statistic. A feature that matters only in combination with others may be lost.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite numbers.
    codes : ndarray of shape (n_samples,)
        Class codes.
    count : int
        Maximum number of features to keep.

    Returns
    -------
    indices : ndarray of shape (min(count, n_features),)
        In ascending order. Ties go to the features that come first.
    """
    p = X.shape[1]
    if p <= count:
        return np.arange(p)
    centred = X - X.mean(axis=0)
    totals = (centred**2).sum(axis=0)
    sizes = np.bincount(codes)
    members = (codes == np.arange(len(sizes))[:, None]).astype(np.float64)
    between = ((members @ centred) ** 2 / np.maximum(sizes, 1)[:, None]).sum(axis=0)
    varies = np.ptp(X, axis=0) > 0
    share = np.divide(between, totals, out=np.zeros(p), where=varies & (totals > 0))
    return np.sort(np.argsort(-share, kind="stable")[:count])
