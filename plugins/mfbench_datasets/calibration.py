"""Data on which two methods are equally good by construction, to check how often a test finds a difference anyway."""

from __future__ import annotations

import numpy as np

from mfbench.models import Dataset
from mfbench_datasets.arguments import check_real, check_whole
from mfbench_datasets.citations import TWO_VIEWS


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
    name = "two-views"
    n = check_whole(name, "n_samples", n_samples, 4)
    p = check_whole(name, "n_features", n_features, 1)
    distance = check_real(name, "shift", shift, -1e6, 1e6)
    random = np.random.RandomState(check_whole(name, "seed", seed, 0, 2**32 - 1))
    y = np.arange(n, dtype=np.int64) % 2
    X = random.standard_normal(size=(n, 2 * p)) + distance * y[:, None]
    return Dataset(
        name=name,
        X=X,
        y=y,
        class_names=("0", "1"),
        feature_names=(*(f"a{j}" for j in range(1, p + 1)), *(f"b{j}" for j in range(1, p + 1))),
        categorical=np.zeros(2 * p, dtype=bool),
        relevant=tuple(range(2 * p)) if distance else (),
        **TWO_VIEWS,
    )
