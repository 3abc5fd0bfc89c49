"""The splitters: each returns pairs of row numbers, to train and to test, or says in one sentence why it cannot."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import model_selection

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pairs = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


def _pairs(splitter: Any, y: NDArray[np.int64], groups: NDArray[np.int64] | None = None) -> Pairs:
    with warnings.catch_warnings():  # a class with fewer rows than folds is missing from some test parts
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(splitter.split(np.empty((len(y), 0)), y, groups))


def _check_classes(y: NDArray[np.int64], folds: int) -> None:
    largest = int(np.bincount(y).max())
    if largest < folds:
        raise ValueError(
            f"{folds} folds need a class of at least {folds} rows, the largest has {largest}; lower the number"
        )


def _check_groups(groups: NDArray[np.int64], folds: int) -> None:
    count = len(np.unique(groups))
    if count < folds:
        raise ValueError(f"{folds} folds need {folds} groups, there are {count}; lower the number")


class Stratified:
    """Shuffled folds with the class proportions of the whole."""

    def split(self, y: NDArray[np.int64], by: None, folds: int, seed: int) -> Pairs:
        """Return one pair for each fold."""
        _check_classes(y, folds)
        return _pairs(model_selection.StratifiedKFold(folds, shuffle=True, random_state=seed), y)


class Plain:
    """Shuffled folds."""

    def split(self, y: NDArray[np.int64], by: None, folds: int, seed: int) -> Pairs:
        """Return one pair for each fold."""
        if len(y) < folds:
            raise ValueError(f"{folds} folds need {folds} rows, there are {len(y)}; lower the number")
        return _pairs(model_selection.KFold(folds, shuffle=True, random_state=seed), y)


class Grouped:
    """Folds of whole groups."""

    def split(self, y: NDArray[np.int64], by: NDArray[np.int64], folds: int, seed: int) -> Pairs:
        """Return one pair for each fold."""
        _check_groups(by, folds)
        return _pairs(model_selection.GroupKFold(folds, shuffle=True, random_state=seed), y, by)


class StratifiedGrouped:
    """Folds of whole groups whose class proportions are as equal as the groups permit."""

    def split(self, y: NDArray[np.int64], by: NDArray[np.int64], folds: int, seed: int) -> Pairs:
        """Return one pair for each fold."""
        _check_groups(by, folds)
        _check_classes(y, folds)
        return _pairs(model_selection.StratifiedGroupKFold(folds, shuffle=True, random_state=seed), y, by)


class LeaveOneGroupOut:
    """One fold for each group."""

    def split(self, y: NDArray[np.int64], by: NDArray[np.int64], folds: int, seed: int) -> Pairs:
        """Return one pair for each group."""
        _check_groups(by, 2)
        return _pairs(model_selection.LeaveOneGroupOut(), y, by)


class ForwardChaining:
    """Blocks in order of time: each but the first is tested by a fit on all earlier ones."""

    def split(self, y: NDArray[np.int64], by: NDArray[np.float64], folds: int, seed: int) -> Pairs:
        """Return one pair for each block but the first; rows of one time are in one block."""
        order = np.argsort(by, kind="stable")
        times = by[order]
        starts = np.flatnonzero(np.diff(times, prepend=-np.inf))[1:]  # the first row of each time but the first
        if len(starts) < folds:
            raise ValueError(
                f"{folds} folds need {folds + 1} different times, there are {len(starts) + 1}; lower the number"
            )
        size = len(y) // (folds + 1)
        ends, last = [], -1
        for remaining in range(folds, 0, -1):
            # The start of a time that is nearest to equal blocks, among those that leave enough for later blocks.
            possible = np.arange(last + 1, len(starts) - remaining + 1)
            last = int(possible[np.argmin(np.abs(starts[possible] - (len(y) - remaining * size)))])
            ends.append(int(starts[last]))
        return [(order[:begin], order[begin:end]) for begin, end in zip(ends, [*ends[1:], len(y)], strict=True)]


class Predefined:
    """The folds that a column names; rows with a negative number are always trained on."""

    def split(self, y: NDArray[np.int64], by: NDArray[np.int64], folds: int, seed: int) -> Pairs:
        """Return one pair for each fold of the column."""
        by = np.maximum(by, -1)
        if by.max() < 0:
            raise ValueError("its column tests no row; write 'test', or the number of a fold, for some rows")
        if len(np.unique(by)) < 2:
            raise ValueError("its column tests every row in the same fold, so none is left to train on")
        return _pairs(model_selection.PredefinedSplit(by), y)


class Bootstrap:
    """Rows drawn with replacement; the rows that were never drawn, about 37 %, are tested.

    Parameters
    ----------
    draws : int, default=30
        Number of folds.
    """

    def __init__(self, draws: int = 30) -> None:
        if not isinstance(draws, int) or draws < 2:
            raise ValueError(f"draws is {draws!r}: use a whole number from 2")
        self.draws = draws

    def split(self, y: NDArray[np.int64], by: None, folds: int, seed: int) -> Pairs:
        """Return one pair for each draw."""
        rng = np.random.default_rng(seed)
        draws = [rng.integers(len(y), size=len(y)) for _ in range(self.draws)]
        return [(rows, np.setdiff1d(np.arange(len(y)), rows)) for rows in draws]
