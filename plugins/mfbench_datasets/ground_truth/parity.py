"""Rules of a few bits or signs among noise features, most of which are uninformative alone."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from mfbench.model.specs import Dataset
from mfbench_datasets.arguments import check_flag, check_real, check_whole
from mfbench_datasets.ground_truth.assembly import BITS, assemble, numbered, streams


def xor(n_samples: int = 300, n_noise: int = 18, flip: float = 0.0, shuffle: bool = True, seed: int = 0) -> Dataset:
    r"""Return the continuous exclusive or: class 1 if :math:`x_1 x_2 > 0`; all features have the same distribution.

    All features are independent and uniform on [-1, 1]. Each label is inverted with probability `flip`. Neither of the
    two relevant features is informative on its own. Time and memory are proportional to :math:`n\,(2 + n_{noise})`.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    n_noise : int, default=18
        Number of irrelevant features.
    flip : float, default=0.0
        Probability that a label is inverted, from 0 to 0.5.
    shuffle : bool, default=True
        Whether the columns are in random order; their names identify them.
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
    n_samples: int = 500,
    k: int = 3,
    n_noise: int = 17,
    flip: float = 0.0,
    shuffle: bool = True,
    seed: int = 0,
    copies: int = 0,
) -> Dataset:
    r"""Return parity: class 1 if an odd number of `k` fair bits are 1; further fair bits are noise.

    Each label is inverted with probability `flip`. No proper subset of the k bits carries information about the class;
    all of their pairs are interactions. Time and memory are proportional to :math:`n\,(k + n_{noise})`.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows, drawn at random; points may repeat.
    k : int, default=3
        Number of relevant bits, from 1 to 30.
    n_noise : int, default=17
        Number of irrelevant bits.
    flip : float, default=0.0
        Probability that a label is inverted, from 0 to 0.5.
    shuffle : bool, default=True
        Whether the columns are in random order; their names identify them.
    seed : int, default=0
        Seed of the random numbers.
    copies : int, default=0
        Number of the relevant bits, from the first, that occur a second time. Copies are not called relevant.

    Returns
    -------
    Dataset
        The columns are categories with the labels 0 and 1.

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
    shuffle, again = check_flag("parity", "shuffle", shuffle), check_whole("parity", "copies", copies, 0, k)
    signal, noise, labels, order = streams("parity", seed, 4)
    bits = (signal.random_sample(size=(n, k)) < 0.5).astype(np.int64)
    y = bits.sum(axis=1) % 2 ^ (labels.random_sample(size=n) < flip)
    X = np.hstack([bits, noise.random_sample(size=(n, p)) < 0.5, bits[:, :again]]).astype(np.float64)
    names = (*numbered("bit", k), *numbered("noise", p), *numbered("copy", again))
    pairs = tuple(combinations(range(k), 2))
    return assemble("parity", X, y, names, range(k), pairs, order=order if shuffle else None, categories=BITS)


def corral_noise(n_samples: int = 32, n_noise: int = 93, shuffle: bool = True, seed: int = 0) -> Dataset:
    r"""Return CorrAL-100: random points of `corral`, the rule of four bits, among many irrelevant bits.

    The class is 1 if :math:`(A_0 \wedge A_1) \vee (B_0 \wedge B_1)`. A fifth bit equals the class with probability
    0.75 without being part of the rule, so it is more informative than any relevant bit alone.

    Parameters
    ----------
    n_samples : int, default=32
        Number of rows, drawn at random; points may repeat.
    n_noise : int, default=93
        Number of irrelevant bits beside the one of CorrAL.
    shuffle : bool, default=True
        Whether the columns are in random order; their names identify them.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset
        The columns are categories with the labels 0 and 1.

    References
    ----------
    G. Kim, Y. Kim, H. Lim, H. Kim: An MLP-based feature subset selection for HIV-1 protease cleavage site analysis.
    Artificial Intelligence in Medicine 48(2-3):83-89, 2010 (with 93 more irrelevant bits).

    Examples
    --------
    >>> dataset = corral_noise(shuffle=False)
    >>> dataset.X.shape, dataset.relevant, dataset.feature_names[4:6]
    ((32, 99), (0, 1, 2, 3), ('Correlated', 'noise-1'))
    """
    n, p = check_whole("corral-100", "n_samples", n_samples, 2), check_whole("corral-100", "n_noise", n_noise, 0)
    shuffle = check_flag("corral-100", "shuffle", shuffle)
    signal, noise, agreement, order = streams("corral-100", seed, 4)
    bits = (signal.random_sample(size=(n, 4)) < 0.5).astype(np.int64)
    y = (bits[:, 0] & bits[:, 1]) | (bits[:, 2] & bits[:, 3])
    correlated = y ^ (agreement.random_sample(size=n) < 0.25)
    X = np.column_stack([bits, correlated, noise.random_sample(size=(n, p + 1)) < 0.5]).astype(np.float64)
    names = ("A0", "A1", "B0", "B1", "Correlated", *numbered("noise", p + 1))
    pairs = ((0, 1), (2, 3))
    return assemble("corral-100", X, y, names, range(4), pairs, order=order if shuffle else None, categories=BITS)
