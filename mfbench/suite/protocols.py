"""Evaluation protocols: which rows train and which rows test, equal for every method on a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from sklearn.model_selection import StratifiedKFold

from mfbench.errors import DataError
from mfbench.suite.seeds import derive_seed

if TYPE_CHECKING:
    from numpy.typing import NDArray

Split = tuple["NDArray[np.intp]", "NDArray[np.intp]"]


def stratified_splits(y: NDArray[np.int64], folds: int, seed: int) -> list[Split]:
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
    import warnings

    largest = int(np.bincount(y).max())
    if largest < folds:
        raise DataError(
            f"{folds} folds need a class of at least {folds} rows, the largest has {largest}; lower the number"
        )
    splitter = StratifiedKFold(n_splits=folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(splitter.split(np.empty((len(y), 0)), y))


class RepeatedCV:
    """``repeated-cv``: stratified k-fold cross-validation, repeated with new shuffles.

    The shuffle of a repeat is a function of the suite's seed, the dataset's name and the repeat, so every method meets
    the same folds and tests of differences are paired.

    Parameters
    ----------
    folds, repeats : int
        Size of the protocol.
    seed : int
        The suite's seed.
    """

    def __init__(self, folds: int, repeats: int, seed: int) -> None:
        self.folds = folds
        self.repeats = repeats
        self.seed = seed

    def coordinates(self) -> Iterator[tuple[int, int]]:
        """Yield every (repeat, fold), in order."""
        for repeat in range(self.repeats):
            for fold in range(self.folds):
                yield repeat, fold

    def splits(self, dataset: str, y: NDArray[np.int64], repeat: int) -> list[Split]:
        """Return the (train, test) row indices of one repeat."""
        return stratified_splits(y, self.folds, derive_seed(self.seed, dataset, "folds", repeat))

    @property
    def test_train_ratio(self) -> float:
        """Rows tested over rows trained, the correlation term of the corrected resampled t-test."""
        return 1.0 / (self.folds - 1)
