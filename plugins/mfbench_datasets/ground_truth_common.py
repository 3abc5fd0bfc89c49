"""What the ground-truth generators share: argument checks, random streams and the way to a `Dataset`.

Everything random comes from `numpy.random.RandomState`, the one generator of NumPy whose stream is frozen, so that a
seed means the same data with every version. Each part of a dataset (informative columns, noise columns, labels, order)
has a stream of its own: more noise columns or more noisy labels leave everything else as it was.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbench.errors import UsageError
from mfbench.models import Dataset
from mfbench_datasets.ground_truth_specs import provenance

Pairs = tuple[tuple[int, int], ...]
BITS = ("0", "1")


class Regression(NamedTuple):
    """A simulated regression problem: the raw form of a dataset whose classes are made by a cut at the median.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The features, in the order of their names.
    y : ndarray of shape (n_samples,)
        The response.
    relevant : tuple of int
        Indices of the columns that the response depends on.
    interactions : tuple of (int, int)
        Pairs of columns that act together; empty for an additive response.
    feature_names : tuple of str
        One name per column.
    """

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    relevant: tuple[int, ...]
    interactions: Pairs
    feature_names: tuple[str, ...]


def check_whole(name: str, parameter: str, value: object, low: int, high: int | None = None) -> int:
    """Return a whole number as int, or raise `UsageError` if it is none or out of range.

    Examples
    --------
    >>> check_whole("xor", "n_noise", 3, 0)
    3
    >>> check_whole("xor", "n_noise", 2.5, 0)
    Traceback (most recent call last):
    ...
    mfbench.errors.UsageError: 'n_noise' of dataset 'xor' must be a whole number at least 0, got 2.5
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):  # type: ignore[operator]
        limits = f"at least {low}" if high is None else f"from {low} to {high}"
        raise UsageError(f"{parameter!r} of dataset {name!r} must be a whole number {limits}, got {value!r}")
    return int(value)  # type: ignore[call-overload, no-any-return]


def check_real(
    name: str, parameter: str, value: object, low: float, high: float = math.inf, *, without: Sequence[float] = ()
) -> float:
    """Return a number as float, or raise `UsageError` if it is none, not finite, out of range or an excluded end.

    Examples
    --------
    >>> check_real("xor", "flip", 0.1, 0, 0.5)
    0.1
    >>> check_real("gametes-like", "maf", 0, 0, 0.5, without=[0])
    Traceback (most recent call last):
    ...
    mfbench.errors.UsageError: 'maf' of dataset 'gametes-like' must be a number from 0 to 0.5 (0 excluded), got 0
    """
    number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not low <= value <= high or value in without:  # type: ignore[operator]
        limits = f"at least {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
        ends = f" ({' and '.join(f'{end:g}' for end in without)} excluded)" if without else ""
        raise UsageError(f"{parameter!r} of dataset {name!r} must be a number {limits}{ends}, got {value!r}")
    return float(value)  # type: ignore[arg-type]


def check_flag(name: str, parameter: str, value: object) -> bool:
    """Return True or False, or raise `UsageError` if `value` is neither.

    Examples
    --------
    >>> check_flag("xor", "shuffle", True)
    True
    """
    if not isinstance(value, bool | np.bool_):
        raise UsageError(f"{parameter!r} of dataset {name!r} must be True or False, got {value!r}")
    return bool(value)


def streams(name: str, seed: object, count: int) -> list[np.random.RandomState]:
    """Return independent sources of random numbers, after a check of the seed.

    Examples
    --------
    >>> a, b = streams("xor", 0, 2)
    >>> int(a.randint(1000)), int(b.randint(1000))
    (757, 471)
    """
    start = check_whole(name, "seed", seed, 0, 2**32 - 1)
    return [np.random.RandomState([start, part]) for part in range(count)]


def normal(random: np.random.RandomState, *shape: int) -> NDArray[np.float64]:
    """Return standard normal numbers with nine decimals: machines may differ in the last bits of a logarithm."""
    rounded: NDArray[np.float64] = np.round(random.standard_normal(size=shape), 9)
    return rounded


def numbered(word: str, count: int) -> tuple[str, ...]:
    """Return names that count from 1.

    Examples
    --------
    >>> numbered("noise", 2)
    ('noise-1', 'noise-2')
    """
    return tuple(f"{word}-{number}" for number in range(1, count + 1))


def assemble(
    name: str,
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    feature_names: tuple[str, ...],
    relevant: Sequence[int],
    interactions: Pairs,
    *,
    order: np.random.RandomState | None = None,
    categories: tuple[str, ...] | None = None,
    response: NDArray[np.float64] | None = None,
) -> Dataset:
    """Build the dataset; with `order` the columns are permuted, and the truth with them.

    Among equal weights the feature that comes first wins, so that a fixed place would favour or harm the relevant ones.

    Parameters
    ----------
    name : str
        As registered.
    X, y : ndarray
        Features, class codes 0 and 1.
    feature_names, relevant, interactions : tuple
        Before the permutation.
    order : RandomState or None, default=None
        Where the permutation is drawn from; None keeps the order.
    categories : tuple of str or None, default=None
        The labels of every column, if the columns hold codes; None for numbers.
    response : ndarray of shape (n_samples,) or None, default=None
        The numbers that the classes were cut from.

    Returns
    -------
    Dataset
    """
    n_features = X.shape[1]
    columns = np.arange(n_features) if order is None else order.permutation(n_features)
    place = np.argsort(columns)
    names = tuple(feature_names[column] for column in columns)
    pairs = {(int(min(place[i], place[j])), int(max(place[i], place[j]))) for i, j in interactions}
    return Dataset(
        name=name,
        X=np.ascontiguousarray(X[:, columns], dtype=np.float64) + 0.0,  # no -0.0
        y=y.astype(np.int64),
        class_names=BITS,
        feature_names=names,
        categorical=np.full(n_features, categories is not None),
        categories={} if categories is None else dict.fromkeys(names, categories),
        relevant=tuple(sorted(int(place[j]) for j in relevant)),
        interactions=tuple(sorted(pairs)),
        response=response,
        **provenance(name),
    )


def classify(name: str, regression: Regression, order: np.random.RandomState | None) -> Dataset:
    """Return the classification form of a regression problem: class 1 where the response is above its sample median.

    Half of the rows are in each class (of an odd number of rows class 0 has one more). The response stands beside the
    classes.
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
