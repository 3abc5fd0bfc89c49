"""Ways to split rows; each is a function of its arguments alone."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from mfbench.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Pair = tuple["NDArray[np.intp]", "NDArray[np.intp]"]


def stratified_splits(y: NDArray[np.int64], folds: int, seed: int) -> list[Pair]:
    """Return shuffled stratified (train, test) index pairs."""
    # A class with fewer members than folds is missing from some test parts, which is allowed without a warning; fewer
    # rows than folds is an error.
    largest = int(np.bincount(y).max())
    if largest < folds:
        raise DataError(
            f"{folds} folds need a class of at least {folds} rows, the largest has {largest}; lower the number"
        )
    splitter = StratifiedKFold(n_splits=folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(splitter.split(np.empty((len(y), 0)), y))


def cross_validation(y: NDArray[np.int64], folds: int, seed: int, *, stratified: bool) -> list[Pair]:
    """Return shuffled (train, test) index pairs, stratified or not."""
    if stratified:
        return stratified_splits(y, folds, seed)
    if len(y) < folds:
        raise DataError(f"{folds} folds need {folds} rows, there are {len(y)}; lower the number")
    return list(KFold(n_splits=folds, shuffle=True, random_state=seed).split(np.empty((len(y), 0))))


def parted(
    rows: NDArray[np.intp], y: NDArray[np.int64], sizes: Sequence[int], seed: int, stratified: bool
) -> list[NDArray[np.intp]]:
    """Split rows into disjoint random parts of the given sizes, each in ascending order."""
    if min(sizes) < 1:
        raise DataError(f"{len(rows)} rows are too few for parts of {', '.join(map(str, sizes))} rows")
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(rows)
    if stratified:
        shuffled = shuffled[np.argsort(_spread(y[shuffled], rng), kind="stable")]
    return [np.sort(part) for part in np.split(shuffled, np.cumsum(sizes)[:-1])]


def sampled(rows: NDArray[np.intp], strata: NDArray[np.int64], size: int, seed: int) -> NDArray[np.intp]:
    """Return some of the rows in ascending order: of each stratum its share, but at least two if it has as many."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(rows))
    position = _spread(strata[order], rng)
    firsts = np.concatenate([np.flatnonzero(strata[order] == code)[:2] for code in np.unique(strata)])
    if len(firsts) > size:
        raise DataError(f"max_rows = {size} keeps no two rows of each class; use at least {len(firsts)}")
    position[firsts] = -1.0
    return np.sort(rows[order[np.argsort(position, kind="stable")[:size]]])


def _spread(codes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return positions that spread each class evenly over the unit interval, from a random start."""
    # A part of the interval then has its share of every class, up to one row at either end.
    position = np.empty(len(codes))
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        position[members] = (np.arange(len(members)) + rng.random()) / len(members)
    return position


def shares(n_rows: int, share: float, *, up: bool = False) -> int:
    """Return a share of a number of rows, rounded to the nearest number or up."""
    exact = n_rows * share
    return int(np.ceil(exact - 1e-9)) if up else int(np.floor(exact + 0.5))
