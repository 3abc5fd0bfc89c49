"""What the ground-truth generators share: random streams, column names, and the assembly of a `Dataset`.

All random numbers come from `numpy.random.RandomState`, the only generator of NumPy whose stream is frozen, so a seed
gives the same data with every version. Each part of a dataset (informative columns, noise columns, labels, order) has
its own stream: adding noise columns or flipping more labels leaves everything else unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbench.model.specs import CLASSIFICATION, Dataset
from mfbench_datasets.arguments import check_whole
from mfbench_datasets.ground_truth.specs import attribution

Pairs = tuple[tuple[int, int], ...]
BITS = ("0", "1")


class Regression(NamedTuple):
    """A simulated regression problem, before its response is cut at the median into two classes.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The features, in the order of their names.
    y : ndarray of shape (n_samples,)
        The response.
    relevant : tuple of int
        Indices of the columns that the response depends on.
    interactions : tuple of (int, int)
        Pairs of columns that interact; empty for an additive response.
    feature_names : tuple of str
        One name per column.
    """

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    relevant: tuple[int, ...]
    interactions: Pairs
    feature_names: tuple[str, ...]


def streams(name: str, seed: object, count: int) -> list[np.random.RandomState]:
    """Check the seed and return `count` independent sources of random numbers.

    Examples
    --------
    >>> a, b = streams("xor", 0, 2)
    >>> int(a.randint(1000)), int(b.randint(1000))
    (757, 471)
    """
    start = check_whole(name, "seed", seed, 0, 2**32 - 1)
    return [np.random.RandomState([start, part]) for part in range(count)]


def normal(random: np.random.RandomState, *shape: int) -> NDArray[np.float64]:
    """Return standard normal numbers rounded to nine decimals: machines may differ in the last bits of a logarithm."""
    rounded: NDArray[np.float64] = np.round(random.standard_normal(size=shape), 9)
    return rounded


def numbered(word: str, count: int) -> tuple[str, ...]:
    """Return names numbered from 1.

    Examples
    --------
    >>> numbered("noise", 2)
    ('noise-1', 'noise-2')
    """
    return tuple(f"{word}-{number}" for number in range(1, count + 1))


def assemble(
    name: str,
    X: NDArray[np.float64],
    y: NDArray[Any],
    feature_names: tuple[str, ...],
    relevant: Sequence[int],
    interactions: Pairs,
    *,
    order: np.random.RandomState | None = None,
    categories: tuple[str, ...] | None = None,
    response: NDArray[np.float64] | None = None,
    task: str = CLASSIFICATION,
) -> Dataset:
    """Build the dataset; with `order`, permute the columns and the truth with them.

    Among features of equal weight the first one wins, so a fixed position would favour or harm the relevant ones.

    Parameters
    ----------
    name : str
        The registered name.
    X, y : ndarray
        Features, and class codes 0 and 1 or numbers.
    feature_names, relevant, interactions : tuple
        In the order before the permutation.
    order : RandomState or None, default=None
        Source of the permutation; None keeps the order.
    categories : tuple of str or None, default=None
        The labels of every column if the columns hold codes; None for numbers.
    response : ndarray of shape (n_samples,) or None, default=None
        The numbers that were cut into classes.
    task : str, default="classification"
        The task; for every other one, y holds numbers.

    Returns
    -------
    Dataset
    """
    n_features = X.shape[1]
    columns = np.arange(n_features) if order is None else order.permutation(n_features)
    position = np.argsort(columns)
    names = tuple(feature_names[column] for column in columns)
    pairs = {(int(min(position[i], position[j])), int(max(position[i], position[j]))) for i, j in interactions}
    return Dataset(
        name=name,
        X=np.ascontiguousarray(X[:, columns], dtype=np.float64) + 0.0,  # no -0.0
        y=y.astype(np.int64) if task == CLASSIFICATION else y + 0.0,
        class_names=BITS if task == CLASSIFICATION else (),
        task=task,
        feature_names=names,
        categorical=np.full(n_features, categories is not None),
        categories={} if categories is None else dict.fromkeys(names, categories),
        relevant=tuple(sorted(int(position[j]) for j in relevant)),
        interactions=tuple(sorted(pairs)),
        response=response,
        **attribution(name),
    )


def classify(name: str, regression: Regression, order: np.random.RandomState | None) -> Dataset:
    """Return a regression problem as classification: class 1 where the response is above its sample median.

    Each class has half of the rows (if their number is odd, class 0 has one more). The dataset keeps the response.
    """
    y = (regression.y > np.median(regression.y)).astype(np.int64)
    return assemble(
        name,
        regression.X,
        y,
        regression.feature_names,
        regression.relevant,
        regression.interactions,
        order=order,
        response=regression.y + 0.0,
    )
