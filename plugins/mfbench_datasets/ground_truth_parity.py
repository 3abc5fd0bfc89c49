"""Exclusive or and parity in noise: features that say nothing alone and everything together."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from mfbench.models import Dataset
from mfbench_datasets.ground_truth_common import (
    BITS,
    assemble,
    check_flag,
    check_real,
    check_whole,
    numbered,
    streams,
)


def xor(n_samples: int = 300, n_noise: int = 18, flip: float = 0.0, shuffle: bool = True, seed: int = 0) -> Dataset:
    r"""Return the continuous exclusive or: class 1 if :math:`x_1 x_2 > 0`, among features of the same distribution.

    All features are independent and uniform on [-1, 1]. Each label is inverted with probability `flip`. Alone neither
    of the two relevant features says anything about the class. Time and memory are of order
    :math:`n\,(2 + n_{noise})`.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    n_noise : int, default=18
        Number of irrelevant features.
    flip : float, default=0.0
        Probability that a label is inverted, from 0 to 0.5.
    shuffle : bool, default=True
        Whether the columns come in random order; the names tell which is which.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> dataset = xor(n_samples=100, n_noise=3)
    >>> dataset.X.shape, sorted(dataset.feature_names[j] for j in dataset.relevant)
    ((100, 5), ['x-1', 'x-2'])
    """
    n, p = check_whole("xor", "n_samples", n_samples, 2), check_whole("xor", "n_noise", n_noise, 0)
    flip, shuffle = check_real("xor", "flip", flip, 0, 0.5), check_flag("xor", "shuffle", shuffle)
    signal, noise, labels, order = streams("xor", seed, 4)
    x = 2 * signal.random_sample(size=(n, 2)) - 1
    y = (x[:, 0] * x[:, 1] > 0) ^ (labels.random_sample(size=n) < flip)
    X = np.hstack([x, 2 * noise.random_sample(size=(n, p)) - 1])
    names = (*numbered("x", 2), *numbered("noise", p))
    return assemble("xor", X, y.astype(np.int64), names, (0, 1), ((0, 1),), order=order if shuffle else None)


def parity(
    n_samples: int = 500, k: int = 3, n_noise: int = 17, flip: float = 0.0, shuffle: bool = True, seed: int = 0
) -> Dataset:
    r"""Return parity: class 1 if an odd number of `k` fair bits is 1, among further fair bits.

    Each label is inverted with probability `flip`. No proper subset of the k bits says anything about the class; all of
    their pairs count as interactions. Time and memory are of order :math:`n\,(k + n_{noise})`.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows, drawn at random (a point may come twice).
    k : int, default=3
        Number of relevant bits, from 1 to 30.
    n_noise : int, default=17
        Number of irrelevant bits.
    flip : float, default=0.0
        Probability that a label is inverted, from 0 to 0.5.
    shuffle : bool, default=True
        Whether the columns come in random order; the names tell which is which.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset
        Its columns are categories with the labels 0 and 1.

    Examples
    --------
    >>> dataset = parity(n_samples=60, k=4, n_noise=2, shuffle=False)
    >>> dataset.relevant, len(dataset.interactions)
    ((0, 1, 2, 3), 6)
    >>> bool((dataset.X[:, :4].sum(axis=1) % 2 == dataset.y).all())
    True
    """
    n, k = check_whole("parity", "n_samples", n_samples, 2), check_whole("parity", "k", k, 1, 30)
    p, flip = check_whole("parity", "n_noise", n_noise, 0), check_real("parity", "flip", flip, 0, 0.5)
    shuffle = check_flag("parity", "shuffle", shuffle)
    signal, noise, labels, order = streams("parity", seed, 4)
    bits = (signal.random_sample(size=(n, k)) < 0.5).astype(np.int64)
    y = bits.sum(axis=1) % 2 ^ (labels.random_sample(size=n) < flip)
    X = np.hstack([bits, noise.random_sample(size=(n, p)) < 0.5]).astype(np.float64)
    names = (*numbered("bit", k), *numbered("noise", p))
    pairs = tuple(combinations(range(k), 2))
    return assemble("parity", X, y, names, range(k), pairs, order=order if shuffle else None, categories=BITS)
