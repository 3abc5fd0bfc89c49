"""Data on which methods are equally good by construction, to check how often a test finds a difference anyway."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mfbench.errors import UsageError
from mfbench.model.specs import Dataset
from mfbench_datasets.arguments import check_real, check_whole
from mfbench_datasets.citations import TWO_VIEWS, TWO_VIEWS_OF_NUMBERS


def two_views(n_samples: int = 100, n_features: int = 5, shift: float = 0.5, seed: int = 0) -> Dataset:
    """Return two views of the same classes: given the class, they are independent and have the same distribution.

    The classes 0 and 1 have ⌈n/2⌉ and ⌊n/2⌋ rows. In each view every feature is Gaussian with standard deviation 1 and
    mean 0 in class 0, `shift` in class 1. A learner that sees only the first half of the columns and the same learner
    on the second half have equal expected scores, whatever the number of training rows.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows, at least 4.
    n_features : int, default=5
        Number of columns of each view; the dataset has twice as many, the first view first.
    shift : float, default=0.5
        Difference between the class means of each column, in standard deviations.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> dataset = two_views(n_samples=20)
    >>> dataset.X.shape, dataset.y.sum().item(), dataset.feature_names[5]
    ((20, 10), 10, 'b1')
    """
    return _views("two-views", ("a", "b"), n_samples, n_features, shift, seed)


def equal_views(
    n_samples: int = 100, n_views: int = 20, n_features: int = 5, shift: float = 0.5, seed: int = 0
) -> Dataset:
    """Return several views of the same classes: given the class, they are independent with the same distribution.

    The views are as those of `two_views`. A learner has equal expected scores on all of them, so a family of equally
    good methods is as large as the number of views.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows, at least 4.
    n_views : int, default=20
        Number of views.
    n_features : int, default=5
        Number of columns of each view; the dataset has `n_views` times as many, view by view.
    shift : float, default=0.5
        Difference between the class means of each column, in standard deviations.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> dataset = equal_views(n_samples=20, n_views=3)
    >>> dataset.X.shape, dataset.feature_names[5]
    ((20, 15), 'v2-1')
    """
    count = check_whole("equal-views", "n_views", n_views, 1)
    return _views("equal-views", [f"v{i}-" for i in range(1, count + 1)], n_samples, n_features, shift, seed)


def clustered_views(n_samples: int = 100, n_groups: int = 20, by: str = "groups", seed: int = 0) -> Dataset:
    """Return two views of the same classes and groups, in which rows of a group are alike and one class prevails.

    Given class and group, the views are independent and have the same distribution: each feature is the sum of a common
    part of the group and one of the row, both Gaussian with variance 1/2, and of 0.4 in class 1. Groups are of equal
    size, and four in five of their rows are of the class that prevails in them. A learner that sees only the first five
    columns and the same learner on the last five have equal expected scores, however the rows are split.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows, at least 4.
    n_groups : int, default=20
        Number of groups, from 2 to `n_samples`.
    by : {"groups", "time", ""}, default="groups"
        What the dataset states of its rows: their group; a time, in which groups follow one another; or nothing.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> dataset = clustered_views(n_samples=40)
    >>> dataset.X.shape, len(set(dataset.groups.tolist())), dataset.time
    ((40, 10), 20, None)
    """
    name = "clustered-views"
    n = check_whole(name, "n_samples", n_samples, 4)
    count = check_whole(name, "n_groups", n_groups, 2, n)
    if by not in ("groups", "time", ""):
        raise UsageError(f"{name}: by is {by!r}: use 'groups', 'time' or ''")
    random = np.random.RandomState(check_whole(name, "seed", seed, 0, 2**32 - 1))
    groups = random.permutation(np.arange(n, dtype=np.int64) % count)
    prevailing = random.permutation(np.arange(count, dtype=np.int64) % 2)
    y = np.where(random.random_sample(n) < 0.8, prevailing[groups], 1 - prevailing[groups])
    common = np.sqrt(0.5) * random.standard_normal(size=(count, 10))
    X = common[groups] + np.sqrt(0.5) * random.standard_normal(size=(n, 10)) + 0.4 * y[:, None]
    views = Dataset(
        name=name,
        X=X,
        y=y,
        class_names=("0", "1"),
        feature_names=tuple(f"{view}{j}" for view in "ab" for j in range(1, 6)),
        categorical=np.zeros(10, dtype=bool),
        relevant=tuple(range(10)),
        **TWO_VIEWS,
    )
    time = groups + random.random_sample(n)
    return replace(views, **({"groups": groups} if by == "groups" else {"time": time} if by else {}))


def two_views_regression(
    n_samples: int = 100, n_features: int = 5, slope: float = 0.5, tail: float | None = None, seed: int = 0
) -> Dataset:
    """Return two views of the same numbers: given the number, they are independent and have the same distribution.

    A standard Gaussian z is drawn for each row. In each view every feature is `slope` times z plus Gaussian noise of
    variance 1, and the target is z plus an error with standard deviation 1/2, Gaussian or with heavy tails. A learner
    that sees only the first half of the columns and the same learner on the second half have equal expected errors.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows, at least 4.
    n_features : int, default=5
        Number of columns of each view; the dataset has twice as many, the first view first.
    slope : float, default=0.5
        Slope of each column in z.
    tail : float or None, default=None
        Degrees of freedom of Student's distribution of the error, above 2 and at most 100; None is Gaussian.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> dataset = two_views_regression(n_samples=20, tail=3.0)
    >>> dataset.X.shape, dataset.task, dataset.feature_names[5]
    ((20, 10), 'regression', 'b1')
    """
    name = "two-views-regression"
    n = check_whole(name, "n_samples", n_samples, 4)
    p = check_whole(name, "n_features", n_features, 1)
    steepness = check_real(name, "slope", slope, -1e6, 1e6)
    df = None if tail is None else check_real(name, "tail", tail, 2.01, 100.0)
    random = np.random.RandomState(check_whole(name, "seed", seed, 0, 2**32 - 1))
    z = random.standard_normal(size=n)
    X = random.standard_normal(size=(n, 2 * p)) + steepness * z[:, None]
    error = random.standard_normal(size=n) if df is None else random.standard_t(df, size=n) / np.sqrt(df / (df - 2))
    return Dataset(
        name=name,
        X=X,
        y=z + 0.5 * error,
        class_names=(),
        feature_names=tuple(f"{view}{j}" for view in "ab" for j in range(1, p + 1)),
        categorical=np.zeros(2 * p, dtype=bool),
        relevant=tuple(range(2 * p)) if steepness else (),
        task="regression",
        **TWO_VIEWS_OF_NUMBERS,
    )


def _views(name: str, views: Sequence[str], n_samples: int, n_features: int, shift: float, seed: int) -> Dataset:
    """Return a dataset with one view for each prefix of column names."""
    n = check_whole(name, "n_samples", n_samples, 4)
    p = check_whole(name, "n_features", n_features, 1)
    distance = check_real(name, "shift", shift, -1e6, 1e6)
    random = np.random.RandomState(check_whole(name, "seed", seed, 0, 2**32 - 1))
    y = np.arange(n, dtype=np.int64) % 2
    width = len(views) * p
    X = random.standard_normal(size=(n, width)) + distance * y[:, None]
    return Dataset(
        name=name,
        X=X,
        y=y,
        class_names=("0", "1"),
        feature_names=tuple(f"{view}{j}" for view in views for j in range(1, p + 1)),
        categorical=np.zeros(width, dtype=bool),
        relevant=tuple(range(width)) if distance else (),
        **TWO_VIEWS,
    )
