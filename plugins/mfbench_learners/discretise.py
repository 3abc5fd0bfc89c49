"""Numbers sorted into bins: of equal width, of equal frequency, or where the classes change."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint8] | NDArray[np.uint16]


def bin_codes(columns: NDArray[np.float64], bins: int, binning: str) -> NDArray[np.int64]:
    r"""Return the bin of every value, column by column.

    With ``binning="width"`` the range of a column is cut into N intervals of equal width,

    .. math:: \min(N - 1, \lfloor N (x - \min) / (\max - \min) \rfloor),

    so the largest value falls into the last bin. With ``binning="frequency"`` the cuts are the quantiles i / N of the
    column. Equal values always share a bin, so bins of tied data may be empty or of unequal size. A constant column
    falls into bin 0.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_columns)
        Finite numbers.
    bins : int
        N, at least 1.
    binning : {"width", "frequency"}
        Whether bins have equal width or equal frequency.

    Returns
    -------
    ndarray of int64, shape (n_samples, n_columns)
        From 0 to N - 1.

    Notes
    -----
    Time O(n p) for equal width, O(n p log n) for equal frequency.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.0], [1.0], [2.0], [10.0]])
    >>> bin_codes(x, 2, "width").ravel(), bin_codes(x, 2, "frequency").ravel()
    (array([0, 0, 0, 1]), array([0, 0, 1, 1]))
    """
    # Half values: the difference of the extremes could overflow.
    low, high = columns.min(axis=0), columns.max(axis=0)
    width = high / 2 - low / 2
    varies = width > 0
    if binning == "width":
        width = np.where(varies, width, 1.0)
        position = np.floor((columns / 2 - low / 2) / width * bins)
        return np.where(varies, np.minimum(position, bins - 1), 0).astype(np.int64)
    # Sorting rows and comparing them with each cut takes a quarter of the time of np.quantile and np.searchsorted.
    rows = np.ascontiguousarray(columns.T)
    codes = np.zeros(rows.shape, dtype=np.int64 if bins > 256 else np.uint8)
    for cut in quantiles(np.sort(rows, axis=1), np.arange(1, bins) / bins):
        codes += rows >= cut[:, None]
    codes[~varies] = 0
    return codes.T.astype(np.int64)


def quantiles(ordered: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return quantiles of sorted rows, interpolated as by np.quantile."""
    places = shares * (ordered.shape[1] - 1)
    below = np.floor(places).astype(np.int64)
    part = (places - below)[:, None]
    low, high = ordered[:, below].T, ordered[:, np.minimum(below + 1, ordered.shape[1] - 1)].T
    return np.asarray(np.where(part < 0.5, low + (high - low) * part, high - (high - low) * (1.0 - part)))


def compact(codes: NDArray[np.int64]) -> tuple[Codes, NDArray[np.int64]]:
    """Return codes as rows of the smallest type, and the number of bins of each row.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_columns)
        Bins, counted from 0.

    Returns
    -------
    codes : ndarray of uint8 or uint16, shape (n_columns, n_samples)
    sizes : ndarray of int64, shape (n_columns,)
        Largest code plus 1.
    """
    sizes = codes.max(axis=0).astype(np.int64) + 1
    kind: type[np.uint8] | type[np.uint16] = np.uint8 if sizes.max(initial=1) <= 256 else np.uint16
    return np.ascontiguousarray(codes.T.astype(kind)), sizes


def count_table(n: int) -> NDArray[np.float64]:
    """Return c log2 c for every count c from 0 to n."""
    counts = np.arange(n + 1, dtype=np.float64)
    table: NDArray[np.float64] = counts * np.log2(np.maximum(counts, 1.0))
    return table
