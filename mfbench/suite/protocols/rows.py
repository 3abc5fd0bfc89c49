"""Ways to part rows, each a function of its arguments alone."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.model_selection import StratifiedKFold

from mfbench.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Pair = tuple["NDArray[np.intp]", "NDArray[np.intp]"]


def stratified_splits(y: NDArray[np.int64], folds: int, seed: int) -> list[Pair]:
    """Return shuffled stratified (train, test) index pairs.

    A class with fewer members than folds is missing from some test parts (that is allowed and silent); fewer rows than
    folds is an error.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Class codes.
    folds : int
        Number of parts.
    seed : int
        Seed of the shuffle.

    Returns
    -------
    list of (ndarray, ndarray)

    Raises
    ------
    DataError
        If no class has as many members as there are folds.

    Examples
    --------
    >>> import numpy as np
    >>> [test.tolist() for _, test in stratified_splits(np.array([0, 0, 1, 1]), 2, seed=1)]
    [[0, 2], [1, 3]]
    """
    largest = int(np.bincount(y).max())
    if largest < folds:
        raise DataError(
            f"{folds} folds need a class of at least {folds} rows, the largest has {largest}; lower the number"
        )
    splitter = StratifiedKFold(n_splits=folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(splitter.split(np.empty((len(y), 0)), y))
